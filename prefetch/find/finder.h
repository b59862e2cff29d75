/* Finds the order that nobody told: tries every seed that the first opens of an epoch allow.
 *
 *   constants     seeds that frameworks have built in, or add the user's to; DALI's std::shuffle
 *   small seeds   below 2^20, as one process reads them, or as one of up to 64 ranks
 *   numpy's       a list that Keras shuffled by one of 10^6, if a single process reads
 *   all seeds     of RandomSampler's private generator, and of one given to a DataLoader
 *
 * One thread waits and decides; as many as there are processors search, at SCHED_IDLE, on
 * processors that stay idle (spare.h), and without holding any lock, so that training never waits
 * for them.  What was found must explain the opens so well that it is wrong with a chance below
 * 1e-6; then found() is asked to follow it, again for a while if it will not yet.  For a job of
 * which nothing is found there are pauses (vain.h).
 *
 * Thread-safety: every call on any thread, except start and stop.
 */
#pragma once
#include "prefetch/find/forecast.h"
#include "prefetch/order/tracker.h"

struct finder;

struct finder_options {
	unsigned threads;              /* 0: one for each processor */
	bool hasty;                    /* search at once, on processors that others want as well */
	/* On the finder's thread, with no lock held; true: it is followed from now on. */
	bool (*found)(void *context, const struct found *f);
	/* On the finder's thread: what two lessons let expect. */
	void (*foretold)(void *context, const struct forecast *f);
	/* On the finder's thread, while a search goes on as well: lessons that are new.  NULL:
	 * nowhere to keep them. */
	void (*save)(void *context, const struct lessons *l);
	void *context;
	/* On the finder's thread, before a search: who started this process; 0: not known.  NULL:
	 * process_parent(). */
	uint32_t (*parent)(uint32_t pid);
	/* Likewise, before a search, or NULL: which lists may these opens be of?  Those that are
	 * better than what is searched are given with finder_instead(). */
	void (*look)(void *context, const sample_id *opened, size_t count);
};

int finder_start(const struct finder_options *options, struct finder **ret) DL_MUST_CHECK;
/* Within 100 ms, if found() does not take longer. */
void finder_stop(struct finder *f);

/* From now on these lists (refs are taken) are searched; none: rest. */
void finder_lists(struct finder *f, struct list *const *lists, size_t count);
/* The same, but for the opens that were seen already. */
void finder_instead(struct finder *f, struct list *const *lists, size_t count);
/* What is known of earlier epochs and runs is tried first. */
void finder_lessons(struct finder *f, const struct lessons *lessons, bool save);
/* What these processes read is over: their opens say nothing of those to come.  known: what comes
 * next seems to be, so that a search for what others read need not make way. */
void finder_turn(struct finder *f, const uint32_t *pids, size_t count, bool known);
/* A sample was opened; fits: as it was foreseen.  now: ns. */
void finder_open(struct finder *f, sample_id id, uint32_t pid, bool fits, uint64_t now);
