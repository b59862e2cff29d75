/* Inside the engine; private to ask.c, bring.c, engine.c, fetch.c, late.c, learn.c, orders.c,
 * planner.c and status.c. */
#pragma once
#include <assert.h>
#include <pthread.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/mailbox.h"
#include "prefetch/engine.h"
#include "prefetch/find/finder.h"
#include "prefetch/flags.h"
#include "prefetch/judge.h"
#include "prefetch/looks.h"
#include "prefetch/plan/ahead.h"
#include "prefetch/plan/share.h"

#define FACTS_MAX (1u << 20)
#define FACTS_SURE (FACTS_MAX / 8)     /* room for those that must not be lost */
#define LOOSE_NS CLOCK_S               /* a late block is held so long; see settle_loose(); */
#define HASTE_NS (100 * CLOCK_MS)      /* a small one only so long while others wait for room */

enum fact_kind {
	FACT_OPEN, FACT_OVERFLOW, FACT_KNOWN, FACT_LATE, FACT_ASKED, FACT_LOST, FACT_SPENT,
	FACT_PRESSED, FACT_RESOLVED, FACT_SHORT,
	FACT_HELD, FACT_DONE, FACT_PUSHED, FACT_DROPPED, FACT_GROWN, FACT_EXPECT, FACT_ASK,
};

struct fact {                          /* what others tell the planner */
	enum fact_kind kind;
	sample_id id;
	uint32_t number;               /* of the block; OPEN: the pid; GROWN: entries */
	int result;
	bool kept, stored;             /* DONE: as in struct fetch */
	/* ns: when; DONE: how long it took.  HELD: bytes reserved.  RESOLVED: the epoch.  GROWN:
	 * bytes of all, in whole pages.  ASK: the number of the question. */
	uint64_t time;
};

struct ask {                           /* a question that only the planner can answer */
	void (*run)(struct engine *e, struct ask *a);
	/* guarded by engine.asking: */
	bool answered;
	uint64_t number;
	struct ask *next;              /* in engine.asks, until the planner comes to it */
};

struct loose {                         /* a late block in the store that is not the plan's */
	struct block block;
	uint64_t len, until;
	bool spent;                    /* somebody has had all of it; others may still be at it */
};

struct late_job;

struct engine {
	struct engine_options options;
	struct store *store;
	struct mailbox *facts;
	struct flags flags;            /* of each sample; see flags.h */
	uint64_t room, reserve, whole, block_size;
	struct finder *finder;
	struct epochs *epochs;
	_Atomic bool drawn;            /* the epoch view's order is followed */
	_Atomic bool view_read;        /* it is not, but its entries are opened */
	pthread_t thread;
	_Atomic uint32_t in_flight;    /* fetches that the source has */
	_Atomic uint32_t bringing;     /* of them for the disk's sake */
	_Atomic uint32_t pushing;      /* sink jobs out */
	_Atomic bool stopping;
	_Atomic uint64_t direct;       /* when somebody read past the page cache last; 0: never */
	_Atomic bool opens_lost;       /* since the planner looked last */
	struct kept_order *_Atomic to_keep;    /* for the finder's thread to write; learn.c */

	/* the planner's alone */
	struct looks looks;            /* at the epoch view */
	struct tracker *tracker;
	struct plan *plan;
	struct share share;            /* of room */
	bool pressed;                  /* it is not all of it */
	uint64_t measured, measure;     /* when options.fits() was asked, and will be again */
	bool reduced;                  /* the share was, for want of memory */
	struct judge own_judge, *judge;        /* options.judge, or its own */
	struct lessons lessons;        /* what order=auto has learned; learn.c */
	bool order_kept;               /* ... and the first order that nothing explains */
	struct buf loose;              /* struct loose */
	uint64_t aged;
	uint64_t turn;                 /* counts changes of the next three: the main course */
	struct sequence *told, *told_next;     /* owned refs, so that an address says who it is */
	uint64_t told_epoch;
	uint64_t mispredicted;         /* of the tracker's, in the stats by now */
	char spec[256];
	node_id looked;                /* the folder whose lists order=auto goes by; 0: none */

	struct dl_lock late_lock;      /* guards the next three */
	uint64_t reserve_used;
	struct late_job *late_first, **late_last;      /* wait for a part of the reserve */
	struct ahead ahead;            /* the readers of big files */

	struct dl_lock asking;         /* guards the next two */
	struct ask *asks;
	uint64_t asked;                /* the last one's number */
	pthread_cond_t answered;
};

/* engine.c */
void tell(struct engine *e, struct fact fact);
uint64_t block_len(const struct engine *e, struct block b);
bool is_big(const struct engine *e, sample_id id);      /* read in blocks, not whole */
/* What it takes of the room: the page cache has whole pages only. */
uint64_t planned_size(const struct engine *e, sample_id id);

/* ask.c */
/* Have run() called by the planner.  Waits until it has returned, for ... patience at most: then,
 * -ETIMEDOUT, it was not called and will not be.  So also -ESHUTDOWN, -ENOMEM.
 */
int ask(struct engine *e, struct ask *a) DL_MUST_CHECK;
void ask_until_answered(struct engine *e, struct ask *a);      /* the mailbox is open */
void answer(struct engine *e, uint64_t number);                /* the planner's */

/* planner.c */
void *planner_main(void *engine);
struct loose *loose_find(struct engine *e, struct block b);    /* or NULL */
void loose_forget(struct engine *e, struct loose *l);  /* it is no late block any more */
void planner_order(struct engine *e);  /* the tracker was changed: the plan must know */

/* orders.c: the finder's */
bool order_found(void *engine, const struct found *f);
void order_look(void *engine, const sample_id *opened, size_t count);

/* learn.c */
void learn_start(struct engine *e);    /* before the threads */
void learn_look(struct engine *e);     /* the planner: is there a new lesson? */
void learn_fini(struct engine *e);     /* after the threads */
/* The order that an earlier run kept, if its list is there and as long as it was; the caller's
 * refs.  Reads a file, and makes a list.  -ENOENT, -EINVAL and others: there is none. */
int learn_recall(struct engine *e, struct list **ret_list, struct sequence **ret) DL_MUST_CHECK;
void learn_foretold(void *engine, const struct forecast *f);   /* the finder's thread, as ... */
void learn_save(void *engine, const struct lessons *l);        /* ... here */

/* fetch.c: planned samples and what becomes of them; on the planner's thread */
void fetch_planned(struct engine *e, const struct plan_step *step);
void drop_planned(struct engine *e, sample_id id);
void fetch_held(struct engine *e, const struct fact *f);
void fetch_done(struct engine *e, const struct fact *f);
void push_done(struct engine *e, const struct fact *f);
void push_known(struct engine *e, sample_id id);
/* Start reading a block that we are the filler of.  reserved: bytes, for a late one. */
struct urgency {
	uint64_t due;                  /* as these two in struct fetch */
	bool in_turn;
	bool late;                     /* it has a part of the reserve */
};
void fetch_start(struct engine *e, struct entry *entry, struct urgency urgency, uint64_t reserved);

/* Of a fetch that has ended well: what came from the source, which is not what is served. */
uint64_t fetch_source_bytes(const struct engine *e, const struct fetch *f);
/* A fetch is over: it counts as finished, as failed, or as one of a file that had changed. */
void fetch_count(struct stats *s, int result);

/* late.c: blocks that a reader waits for, within the reserve */
void late_start(struct engine *e, struct entry *entry);
void late_release(struct engine *e, uint64_t len);
bool late_spare(struct engine *e, uint64_t len);       /* takes it, if nobody will miss it */
bool late_short(struct engine *e);     /* somebody waits for a part of the reserve */
bool late_wanted(struct engine *e, struct block b, bool in_run);       /* as ahead_wanted() */
bool late_stays(struct engine *e, struct block b);     /* its reader comes back; there is room */
void late_give_up(struct engine *e);
/* got: what the reader had of the store. */
void late_read_ahead(struct engine *e, struct block b, uint32_t pid, int got);
