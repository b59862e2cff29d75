/* Where the tracker stands: enough to go on from there, for whoever comes after one that is gone.
 *
 * A value without pointers; copy freely.  The list is named by what it is made of, since another
 * tracker has lists of its own.
 */
#pragma once
#include "prefetch/manifest/list.h"
#include "prefetch/order/order.h"

struct standing_job {
	struct epoch epoch;
	enum list_kind kind;           /* the list's, with ... */
	uint32_t count, front, reach;  /* ... so many samples; positions in the epoch */
	node_id root;
	bool beside;                   /* a validation set */
	uint64_t last_open;            /* as in struct course */
	uint32_t pid;
};

#define STANDING_JOBS 4
struct standing {
	/* Sum of the order's text, which is kept elsewhere and may be another by now; 0: there was
	 * none, and the rest is empty. */
	uint64_t spec;
	uint64_t next_epoch;           /* that the spec begins with, or was told to */
	/* Followed since the order was told; the main one first.  0 of EPOCH_DRAWN, whose readers
	 * say where they are; but jobs[0] is where they were. */
	uint32_t job_count;
	struct standing_job jobs[STANDING_JOBS];
	bool rests;                    /* not the tracker's, but the plan's: see plan_rest() */
};

/* Kept where others find it when its one writer is gone, in the midst of writing perhaps: the half
 * that is read is never written.  Zeroes are a standing, too. */
struct standing_kept {
	_Atomic uint32_t turn;
	struct standing at[2];
};
void standing_keep(struct standing_kept *k, const struct standing *s);
struct standing standing_kept(const struct standing_kept *k);
