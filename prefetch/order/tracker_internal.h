/* How the tracker makes up its mind; private to this folder. */
#pragma once
#include <assert.h>

#include "prefetch/order/follow.h"
#include "prefetch/order/replay.h"

#define HEAD 4096u                     /* positions of a sequence that a hypothesis has */
#define HYPOTHESES 32
#define NEXTS (2 * ORDER_BRANCHES)     /* after the epoch; and first, once the dataset changed */
#define JOBS STANDING_JOBS
#define WALKS 4
#define LISTS 20                       /* those that are searched, and those of jobs */
#define RECENT 256                     /* opens that are remembered, to be judged anew */
#define BEFORE 128u                    /* opens looked at before the first evidence */
#define RECALL_OPENS 128u               /* unlike an order of an earlier run: it is another */
#define MARGIN 10.0f                   /* bits that the best must have more than the second */
#define PROMISING (SCORE_BELIEVED / 2)  /* bits */

struct hypothesis {                    /* that this epoch of this list is being read */
	struct list *list;             /* borrowed from the tracker */
	struct epoch rule;
	struct sequence *head;
	struct positions positions;
	struct score score;
	uint64_t since;                /* the open at which the score began to rise */
};

struct seen {                          /* an open */
	sample_id id;
	uint32_t pid;
	uint64_t time;
	bool taken;                    /* some job or walk had it */
	bool sure;                     /* ... and went on with it */
	enum tracker_verdict verdict;  /* as it seems so far */
};

struct drawn {                         /* an EPOCH_DRAWN that was made */
	const struct list *list;       /* only its address */
	uint64_t number;
	struct sequence *sequence;
};

struct outside {                       /* what drawn epochs that are not followed were asked for, */
	unsigned asked;                /* ... since one that is followed was: entries, */
	uint64_t epoch;                /* ... the last one's epoch, */
	uint32_t position;             /* ... and how far in that */
	unsigned opens;                /* since then, in a row, that are of no epoch */
	unsigned awaited;              /* entries whose opens may still come */
};

struct tracker {
	struct order_spec spec;
	struct list *lists[LISTS];
	size_t list_count;
	struct list_epochs listed;             /* told; or with ORDER_AUTO one that was seen, ... */
	struct list *listed_over;              /* ... over this list (a ref), or NULL */
	bool recalled;                         /* ... in an earlier run */
	struct drawn drawn[2];                 /* by the epoch's number */
	struct outside outside;
	struct replay replay;
	bool changed;                          /* the dataset has, since the order was told */
	struct standing stood;                 /* when something was followed last */
	unsigned unlike;                       /* opens unlike the one that was recalled */
	const struct lessons *lessons;         /* or NULL */

	struct hypothesis firsts[HYPOTHESES];  /* while nothing is believed */
	size_t first_count;
	struct hypothesis nexts[NEXTS];        /* that may follow jobs[0] */
	size_t next_count;
	struct follow *jobs[JOBS];             /* of the told order; [0] is the main one */
	size_t job_count;
	const struct list *alone;              /* of what was read last beside jobs[0], since it
	                                        * was; only its address */
	struct score elsewhere;                /* positions anywhere in jobs[0]'s sequence */
	struct follow *walks[WALKS];           /* read in listing order */
	size_t walk_count;
	struct score walking[LISTS];           /* of each list, index = position */

	struct seen recent[RECENT];
	uint64_t opens;                        /* so many so far; the last is recent[opens-1] */
	uint64_t settled, mispredicted;        /* verdict.c: opens judged for good; of all orders */
	uint64_t told_at;                      /* opens before the order, or its epoch, was told */
	uint64_t turn, turn_at;                /* tracker_turn(); the open that it began with */
	uint64_t listed_at;                    /* opens, when the last of what is listed was read */
	uint32_t left[TRACKER_READERS];        /* who read before it; 0: none */
	uint64_t deep_at;                      /* opens at which to search whole sequences, ... */
	uint64_t deep_from;                    /* ... more seldom since this one, as it goes on */
	size_t deep_next;                      /* the next to search so; == first_count: rest */
	uint64_t *nothing;                     /* a bitmap of HEAD zeros */
	uint64_t attended, opened_at;          /* attention.c: the open; the time of the last */
	uint32_t known_pids[1024];
	struct course courses[TRACKER_COURSES];
};

/* They read the same, whichever epoch it is (those of lists and drawn ones apart). */
static inline bool same_rule(const struct epoch *a, const struct epoch *b)
{
	return a->rule == b->rule && a->seed == b->seed && a->skip == b->skip &&
	       a->shuffle == b->shuffle;
}

/* The sequence of an epoch over a list: whole, or only its head. */
int epoch_sequence(struct tracker *t, struct list *list, const struct epoch *e, bool whole,
		   struct sequence **ret) DL_MUST_CHECK;

/* drawn.c */
int drawn_sequence(struct tracker *t, struct list *list, const struct epoch *e,
		   struct sequence **ret) DL_MUST_CHECK;
void drawn_forget(struct tracker *t);
/* Until its readers say where they are, they are where they were. */
void drawn_go_on(struct tracker *t, const struct standing_job *job);
/* true: it was asked for as part of an epoch that is followed. */
bool drawn_open(struct tracker *t, const struct seen *s);
/* An open that is of no epoch that is followed: may it be of one that is not?  Then it says nothing
 * of walks, though it is of a piece that is read nearly as it is stored. */
bool drawn_is_outside(struct tracker *t);
/* begins.c: does an open say that the epoch after jobs[0] is read, or jobs[0]'s at another place,
 * or a list in its order?  Then that is followed.  true: it was expected there. */
bool score_nexts(struct tracker *t, const struct seen *s);
bool score_elsewhere(struct tracker *t, const struct seen *s);
bool score_walks(struct tracker *t, const struct seen *s);
/* The same of what may come first; without jobs. */
void score_firsts(struct tracker *t, const struct seen *s);

/* tracker.c: another epoch is the main one from now on, before those that there are. */
void start_main(struct tracker *t, struct follow *f);
struct follow *take_job(struct tracker *t, size_t i);   /* out of jobs; the caller's */
/* Nothing to find out: one list, one epoch. */
void believe_the_only_one(struct tracker *t);
/* What the main job followed is over; this open was the first of what comes. */
void begin_turn(struct tracker *t, uint64_t first);

void hypotheses_first(struct tracker *t);       /* fill firsts from the spec */
/* An epoch of this list that nothing explains was read so (takes the ref): perhaps the next will
 * be, too. */
void hypotheses_again(struct tracker *t, struct list *list, struct sequence *epoch);
/* The same, after an epoch was believed in vain: it again, and what may follow it, come first. */
void hypotheses_around(struct tracker *t, struct list *list, const struct epoch *rule);
void hypotheses_next(struct tracker *t);        /* fill nexts for jobs[0] */
struct lesson hypotheses_lesson(const struct tracker *t, const struct list *list,
				const struct epoch *e);
void hypotheses_clear(struct hypothesis *at, size_t *count);
/* true: the open continued a lane of one of them.  anywhere: they may be read from their
 * middle on; else the first evidence is their beginning. */
bool hypotheses_open(struct tracker *t, struct hypothesis *at, size_t count, bool anywhere,
		     sample_id id);
/* The one that is believed now, or NULL. */
struct hypothesis *hypotheses_best(struct hypothesis *at, size_t count);

/* attention.c: something new begins: all opens are looked at for a while. */
void attend(struct tracker *t);
/* Samples that are gone through when whole sequences of what may come first are searched. */
uint64_t deep_cost(const struct tracker *t);
/* Each open comes by here once, before it is counted.  false: if nothing that is followed
 * explains it, it is not worth the time to find out what does. */
bool is_looked_at(struct tracker *t, const struct seen *s);

/* verdict.c: an open while nothing is followed; and after each: those that are old enough. */
enum tracker_verdict verdict_without_jobs(const struct tracker *t, sample_id id);
void verdicts_settle(struct tracker *t);

/* give.c */
enum given {
	GIVEN_NOT,
	GIVEN_AGAIN,                   /* had it a moment ago; or the next epoch begins with it */
	GIVEN_PERHAPS, GIVEN_SURELY,
};
/* Give the open to the one whose last opens it succeeds, if there is one. */
bool give_successor(struct follow **at, size_t count, const struct seen *s);
/* Give the open to the job or walk that it fits best: one that it continues, before those in whose
 * window it merely lies (unless it shall fit surely).  ret_listed: becomes true if it is in the
 * list of one. */
enum given give(struct follow **at, size_t count, const struct seen *s, bool surely,
		bool *ret_listed);

/* beside.c: true: this is a validation set's order, and followed beside the main one.  Of several
 * worlds there is but one. */
bool follow_beside(struct tracker *t, struct follow *f, uint32_t world) DL_MUST_CHECK;
/* After each open: what comes again after its end begins anew. */
void restart_finished(struct tracker *t);

/* found.c: an open that nothing explains; perhaps its epoch comes again. */
void write_down(struct tracker *t, const struct seen *s);

/* A follow of this epoch that has had the opens from `since` on, and those shortly before that
 * nobody had: of several workers one may have been seen long before there was evidence. */
int follow_from(struct tracker *t, struct list *list, const struct epoch *rule, uint64_t since,
		uint32_t from, struct follow **ret) DL_MUST_CHECK;
/* The same where others' opens may be among them: only those that go on with others are its own,
 * and the others say nothing against it. */
int follow_among(struct tracker *t, struct list *list, const struct epoch *rule, uint64_t since,
		 uint32_t from, struct follow **ret) DL_MUST_CHECK;
/* How the opens from `from` on, if they are remembered, agree with a whole sequence at most, for
 * others' may have come since, in whose midst no lane says where this one is read; since: from
 * which open on.  unclaimed: but for those that a job went on with. */
struct score score_recent(const struct tracker *t, struct list *list, const struct sequence *q,
			  const struct positions *positions, uint64_t from, bool unclaimed,
			  uint64_t *ret_since);
/* Look for the opens of late anywhere in the next hypothesis's whole sequence; true: found,
 * and jobs[0] follows it. */
bool search_deep(struct tracker *t);
