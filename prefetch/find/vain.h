/* How much was searched in vain, and for whom: an order that cannot be found must not cost for
 * ever.  After three whole searches in a row, or as many parts as make three, there is a pause, and
 * one after each that follows; but none for another job, whose order may be found.
 *
 * A job is known by its processes, or by who started two of them: workers that are started anew for
 * each epoch have the same parent.  Without pids another one may have begun when nobody read for a
 * while.
 *
 * Pure; guarded by its owner's lock.  Zero at first, and once something was found.
 */
#pragma once
#include "prefetch/find/evidence.h"

struct vain {
	struct vain_reader {
		uint32_t pid;          /* 0: all that this parent has started */
		uint32_t parent;
	} readers[EVIDENCE_READERS];
	size_t reader_count, oldest;
	float searched;                /* 1: all that there is to try */
	uint32_t from;                 /* the piece of all seeds at which the next search begins */
	uint64_t rest_until, opened_at;        /* ns */
};

/* Somebody opened something; pid 0: not known who.  true: perhaps he is another. */
bool vain_open(struct vain *v, uint32_t pid, uint64_t now);
/* These may be others, who have opened a few; with their parents. */
void vain_meet(struct vain *v, const struct evidence *e);
/* A search for what these opened found nothing. */
void vain_searched(struct vain *v, const struct evidence *e, float share, uint64_t now);
/* There is a pause at the time of the last open. */
bool vain_rests(const struct vain *v);
