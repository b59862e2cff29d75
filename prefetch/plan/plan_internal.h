/* Shared by the files of this folder: what the plan remembers.
 *
 *   held   one sample that is not absent, or that is wanted; found by id in a table that
 *          is as large as what is held
 *   want   one position of one course that a held sample is for
 *   slot   one course: its wants in order of position, and a cursor, up to where they
 *          were made.  Of a sequence that is read in pieces the wants of a piece are made
 *          together; those beyond the cursor are `ahead`, in no order
 *
 * Positions here count on over epochs: base + position in the running sequence, and
 * base + length + position in the next.
 */
#pragma once
#include <assert.h>
#include "prefetch/plan/plan.h"

#define PLAN_SIZES 64                  /* classes of size, see keep_class() */
#define PLAN_PINNED (2 * PLAN_SIZES)   /* after those on a local disk: what the user wants kept */
#define PLAN_CLASSES (PLAN_PINNED + 1)
#define PLAN_WORDS (TRACKER_WIDEST / 64 + 2)
#define PLAN_WARM 1024                 /* ids that are asked for at once */
#define PLAN_BATCH 16                  /* positions whose fetches are sorted by id */
#define PLAN_READERS 256               /* what each of these opened last is known */

struct link { struct link *prev, *next; };

static inline void link_init(struct link *l) { l->prev = l->next = l; }
static inline bool link_empty(const struct link *l) { return l->next == l; }
static inline void link_remove(struct link *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	link_init(l);
}
static inline void link_before(struct link *place, struct link *l)
{
	l->prev = place->prev;
	l->next = place;
	place->prev->next = l;
	place->prev = l;
}
static inline void link_append(struct link *list, struct link *l) { link_before(list, l); }
static inline void link_push(struct link *list, struct link *l) { link_before(list->next, l); }

enum held_state {
	HELD_WAIT,                     /* wanted; has no bytes yet, or none any more */
	HELD_FETCHING,
	HELD_READY,
	HELD_DROPPING,
};

/* What it is held for.  Anything that has wants is LEAD, unless it is DOOMED. */
enum held_role {
	ROLE_LEAD,
	ROLE_KEPT,
	ROLE_SPENT,                    /* used: goes when its reader is done with it */
	ROLE_STALE,                    /* was wanted once: goes first when room is short */
	ROLE_DOOMED,                   /* goes now, whoever wants it */
};

struct held {
	struct link in;                /* READY: its role's; WAIT: slot.todo, retry, hopeless */
	struct want *wants;
	uint64_t size;
	uint64_t stamp;                /* SPENT: when it was used; WAIT: not before */
	uint64_t opens;                /* SPENT: plan.opens when it was used */
	uint32_t reader;               /* the process that opened it last; 0: not known */
	sample_id id;
	enum held_state state;
	enum held_role role;
	uint8_t failures;              /* fetches in a row */
	uint8_t want_count;
	bool pinned;                   /* kept before any others */
	bool used;                     /* since it was fetched */
	bool local, was_local;         /* on a local disk; before it was fetched */
};

struct want {
	struct link in;                /* slot.wants or slot.ahead */
	struct want *next;             /* of the same sample */
	struct held *held;
	struct slot *slot;
	uint64_t at;                   /* position */
	uint64_t due_at;               /* before it when it is fetched with the rest of its piece,
	                                * or its reader is far ahead of the front */
	bool ahead;                    /* in slot.ahead */
};

struct slot {
	struct list *list;             /* NULL: the slot is free */
	struct sequence *sequence, *next;
	uint64_t epoch;
	uint64_t base;
	uint64_t front, reach, cursor; /* positions */
	uint64_t start;                /* the first front */
	uint64_t words[PLAN_WORDS];    /* what was opened: word_count, from number `word` on */
	uint32_t word, word_count;
	uint64_t absent[ORDER_RANKS_MAX / 64]; /* a bit a rank, as in struct course, and ... */
	uint32_t present;              /* ... how many are there */
	uint32_t pid;
	bool provisional, sequential;
	bool in_order, next_in_order;  /* as the samples are stored, nearly */
	bool matched;
	bool full;                     /* nothing may go for what it needs next */
	struct link wants, ahead;
	struct link todo;              /* WAIT samples, in the order in which they are fetched */
};

struct plan {
	struct plan_limits limits;
	struct plan_sizes sizes;
	uint64_t total_bytes;

	struct want *spare_wants;      /* to be used again, by their `next` */
	unsigned spare_count;

	struct held **table;           /* 1 << table_bits places, at most half in use */
	unsigned table_bits;
	size_t table_used;

	uint64_t held, ceiling;        /* bytes; ceiling: limits.room, but after a shrink */
	uint64_t kept, spent, dropping;        /* parts of held, in bytes */
	uint32_t fetching, ready_ahead;

	struct link spent_list, stale, doomed, retry, hopeless;
	struct link kept_list[PLAN_CLASSES];   /* most recently used last */
	uint64_t dear[PLAN_CLASSES];   /* ns per KiB of a fetch, smoothed; 0: not known */

	struct slot slots[TRACKER_COURSES];
	uint32_t turn;                 /* the slot that was served last */

	uint32_t full_courses;         /* not provisional */
	uint64_t mean;                 /* bytes of a sample, smoothed */
	uint32_t target;               /* samples of lead a course */
	uint64_t opens;                /* opens seen; and their number when the target last moved */
	uint64_t opens_grown, opens_shrunk;
	struct { uint32_t pid; sample_id last; } readers[PLAN_READERS];        /* by pid */
	uint64_t now, asked;           /* times of the last fact that had one, and of plan_next() */
	bool source_idle, blocked;     /* blocked: a fetch waits for room */

	bool may_fill;
	uint64_t quiet_at;             /* when it may go on: readers go first */
	uint32_t fill;                 /* ids below were considered */
	bool fill_full;                /* the next one has no room */
	sample_id warm[PLAN_WARM];     /* asked for; those below warm_at were considered */
	uint32_t warm_at, warm_count;
	bool warm_full;                /* and the rest was given up */
};

/* held.c */
struct held *held_find(const struct plan *p, sample_id id);
struct held *held_new(struct plan *p, sample_id id, uint64_t size);    /* WAIT; NULL: no memory */
void held_delete(struct plan *p, struct held *h);                      /* it has no wants */
/* Every change of state and role goes through these, which keep lists and sums right. */
void held_change(struct plan *p, struct held *h, enum held_state state, enum held_role role);
/* It has no bytes, but is wanted: fetch it again, not before a time; or never, after failures. */
void held_await(struct plan *p, struct held *h, uint64_t not_before);
void held_resize(struct plan *p, struct held *h, uint64_t size);       /* FETCHING */
bool held_counts(const struct held *h);
unsigned held_class(const struct held *h);

/* want.c */
/* 0; -ENOMEM; -EAGAIN: it has so many already that this one must wait until some are gone. */
int want_add(struct plan *p, struct slot *s, struct held *h, uint64_t at, uint64_t due_at)
	DL_MUST_CHECK;
/* The same beyond the cursor, where it is fetched together with what is due at due_at. */
int want_ahead(struct plan *p, struct slot *s, struct held *h, uint64_t at, uint64_t due_at)
	DL_MUST_CHECK;
/* `after`: its role if this was the last one. */
void want_remove(struct plan *p, struct want *w, enum held_role after);
struct want *want_find(const struct held *h, const struct slot *s, uint64_t at);
uint64_t held_due(const struct held *h);
void want_fini(struct plan *p);        /* after the last want is gone */

/* slot.c */
void slot_open(struct plan *p, struct slot *s, const struct course *c);
void slot_close(struct plan *p, struct slot *s);
void slot_update(struct plan *p, struct slot *s, const struct course *c);
/* Make wants from the cursor on, until something must be fetched.  false: nothing must, as far
 * as was looked: what is far ahead and there already is gone through bit by bit. */
bool slot_advance(struct plan *p, struct slot *s);
/* What is fetched at this position comes in its turn, though somebody waits for it: a source that
 * seeks would go there and back again. */
bool slot_in_turn(const struct slot *s, uint64_t at);
/* Samples of it that the source may be asked for at once; 0: not more than of others. */
uint64_t slot_at_once(const struct plan *p, const struct slot *s);

/* lead.c */
/* Some course's samples are fetched in pieces. */
bool plan_in_pieces(const struct plan *p);
uint64_t lead_share(const struct plan *p);     /* samples a course, at most */
/* Where the lead of a slot ends, and whether it may go on into room that nobody needs. */
uint64_t lead_end(const struct plan *p, const struct slot *s);
bool lead_deeper(const struct plan *p, const struct slot *s);
uint64_t lead_free(const struct plan *p);      /* bytes */
uint64_t lead_kept_share(const struct plan *p);
void lead_start(struct plan *p);
void lead_grow(struct plan *p);
void lead_shrink(struct plan *p);

/* victim.c */
enum victim_reach {
	VICTIM_SPENT,                  /* only what nobody needs */
	VICTIM_KEPT,                   /* kept ones too, and leads due later than `due` */
	VICTIM_ANY,
};
struct held *victim_pick(struct plan *p, enum victim_reach reach, uint64_t due, uint64_t now);
uint64_t victim_ready_at(const struct plan *p);        /* when the oldest spent one may go */
/* A sample was used and nobody wants it before the next epoch. */
void victim_settle(struct plan *p, struct held *h);

/* fill.c */
struct held *fill_next(struct plan *p);
bool fill_goes_on(const struct plan *p);       /* as soon as nobody reads */
struct held *warm_next(struct plan *p);        /* what was asked for with plan_warm() */
void warm_give_up(struct plan *p);     /* there is no room for the rest of it */
