/* One job's way through one sequence: a course, and how it is kept up to date.
 * Thread-safety: none; one owner, the tracker.
 */
#pragma once
#include "prefetch/order/positions.h"
#include "prefetch/order/score.h"
#include "prefetch/order/tracker.h"

#define FOLLOW_PIDS TRACKER_READERS
#define FOLLOW_WINDOW 64               /* opens over which agreement is judged */
#define BUFFER_BEHIND 8u               /* buffers */

struct rank {
	uint64_t opened;               /* when it opened something last; 0: it has not */
	uint64_t taken;                /* follow.taken then */
};

struct follow {
	struct course course;          /* what others see; the rest is the tracker's */
	struct epoch rule;
	struct positions positions;
	uint64_t *opened;              /* a bit a position */
	uint64_t *lost, *absent;       /* see struct course */
	struct rank *ranks;            /* as many; NULL: there are no ranks */
	struct rank since;             /* the first that did */
	uint64_t taken;                /* opens that agreed */
	uint32_t opened_count, lost_count;
	bool begun;                    /* some open agreed, or it is known where it began */
	uint64_t *asked;               /* of what is drawn, see follow_ask(); a bit a position */
	bool is_asked;                 /* ... for anything */
	uint32_t perhaps_asked;        /* positions below may have been, before we heard; ... */
	uint32_t unheard;              /* ... or were, and opened, if nobody has asked since */
	struct score score;            /* of opens since it began */
	uint64_t agreed;               /* the last 64 opens of its list, newest in bit 0: continued
	                                * a lane */
	unsigned judged;               /* how many of these bits are meant, at most 64 */
	uint32_t pids[FOLLOW_PIDS];    /* its readers, newest first; 0: none */
	/* How far behind the reach readers went on at most, lately and before; opens that did, and
	 * since when; 0: in the beginning. */
	uint32_t behind, behind_before, went_on;
	uint64_t behind_since;
	uint64_t moved;                /* when the front moved last; 0: it has not */
	bool hasty;                    /* nobody comes for what is left behind, as far as known */
	bool again;                    /* it is the order of the epoch before it */
	bool over;                     /* the tracker has seen an open of what comes after it */
	bool beside;                   /* a validation set: its readers come again and again */
	uint32_t counted, paused;      /* beside.c: opened_count, and opens since it changed */
};

/* What an open of an index would be. */
enum follow_verdict {
	FOLLOW_SUCCEEDS,               /* right after one of the last: certainly this job's */
	FOLLOW_CONTINUES,              /* close to one of the last */
	FOLLOW_WITHIN,                 /* in the window, not opened yet */
	FOLLOW_AGAIN,                  /* opened a moment ago: a program that opens twice */
	FOLLOW_ELSEWHERE,              /* of the sequence, but not expected now */
	FOLLOW_FOREIGN,                /* not in the sequence */
};

static inline struct scale scale_of(const struct sequence *q)
{
	return (struct scale){ q->n, q->step, q->buffer };
}

/* How far behind the foremost position of a buffer's reader others may be. */
static inline uint32_t buffer_behind(const struct sequence *q)
{
	return BUFFER_BEHIND * q->buffer;
}

/* Takes over the ref of sequence. */
int follow_new(struct list *list, struct sequence *sequence, const struct epoch *rule,
	       struct follow **ret) DL_MUST_CHECK;
void follow_free(struct follow *f);
/* The same files at the same indices of another list: those that are gone are not waited for. */
int follow_over(struct follow *f, struct list *list) DL_MUST_CHECK;
static inline void follow_freep(struct follow **f) { follow_free(*f); }

/* *ret_position is set for SUCCEEDS, CONTINUES and WITHIN. */
enum follow_verdict follow_judge(const struct follow *f, uint32_t index, uint32_t *ret_position);
void follow_take(struct follow *f, uint32_t position, uint32_t pid, uint64_t now);
/* It is WITHIN, but in another job's window as well: who goes on from there has had it, too. */
void follow_perhaps(struct follow *f, uint32_t position);
/* Of what is drawn, readers ask for a position before they open what is there.  Those up to the
 * first of which we hear, and some more, may have been asked for before; what of them nobody has
 * asked for when the end is near was also opened before. */
void follow_ask(struct follow *f, uint32_t position);
/* This one as well: nobody knows whether it was opened since. */
void follow_asked_before(struct follow *f, uint32_t position);
/* The position of this index was asked for and not opened since. */
bool follow_awaits(const struct follow *f, uint32_t index, uint32_t *ret_position);
/* It is known otherwise that this is read: what did not agree so far was somebody else's. */
void follow_trust(struct follow *f);
/* It is what the readers of that one go on with: how far apart they are, is known. */
void follow_after(struct follow *f, const struct follow *before);
void follow_miss(struct follow *f);    /* an open of its list that was not for it */
void follow_elsewhere(struct follow *f, uint32_t position);     /* one of its sequence */
/* Somebody goes on there, outside of the window, where nobody has read yet.  true: it may be a
 * worker of this job, whose batches are large, or who waited for long; the window has him now. */
bool follow_stretch(struct follow *f, uint32_t position);
bool follow_knows(const struct follow *f, uint32_t pid);
/* Go on from here: everything before counts as given up. */
void follow_jump(struct follow *f, uint32_t position);
/* The same, but all before it was opened by its readers, who go on: others that come for it are
 * another job's. */
void follow_resume(struct follow *f, uint32_t position);
void follow_end(struct follow *f);     /* all of it was read, by whomever */
/* Fewer than a quarter of the last opens continued a lane: this is not what is read. */
bool follow_refuted(const struct follow *f);
/* Nearly none of the last 16 opens continued a lane: that one lies in the window means little. */
bool follow_doubtful(const struct follow *f);
/* Its readers are at work: at least a quarter of what was judged agreed. */
bool follow_alive(const struct follow *f);
/* The foremost reader is so far beyond the end that nobody is waited for any more. */
bool follow_is_left(const struct follow *f, uint32_t beyond);
bool follow_nearly_done(const struct follow *f);
bool follow_finished(const struct follow *f);
/* Most of what was judged agreed. */
bool follow_confirmed(const struct follow *f);
/* Nine tenths; another job's opens may have moved its reach, but not this. */
bool follow_mostly_read(const struct follow *f);
