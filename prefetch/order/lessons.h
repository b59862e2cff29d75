/* What was learned of orders that nobody told: which generators the epochs of each run had.  The
 * next run of the same script is known by its first opens, and each epoch by the one before.
 *
 * As text, one line an epoch: "SAMPLES SEED SKIP WORLD", of what numpy shuffled (Keras) with
 * " BUFFER" behind it; an empty line between runs.  A validation set is in it once a run.
 *
 * A value; one owner at a time.
 */
#pragma once
#include "prefetch/order/order.h"

#define LESSONS_MAX 1024

struct lesson {                        /* an epoch: randperm(n) of MT19937(seed) after skip words */
	uint32_t n;                    /* 0: between two runs */
	uint32_t seed;
	uint64_t skip;
	uint32_t world;                /* ranks that shared it; 0: no such thing */
	uint32_t buffer;               /* not 0: EPOCH_NUMPY, read through such a one */
};

struct lessons {                       /* oldest run first */
	struct lesson at[LESSONS_MAX];
	size_t count;
};

/* The running run gets an epoch; when there is no room the oldest run is forgotten. */
void lessons_add(struct lessons *l, struct lesson epoch);
/* A new run begins.  Runs that a newer one repeats, or goes beyond, are forgotten. */
void lessons_begin(struct lessons *l);
/* A run that was not seen but worked out; it lies before the running one, and after all others. */
void lessons_insert(struct lessons *l, const struct lesson *run, size_t length);
/* The running run has this epoch as the last one of its list. */
bool lessons_has(const struct lessons *l, const struct lesson *epoch);
/* What came after such an epoch, of as many samples, when it was last seen; NULL: not known. */
const struct lesson *lessons_after(const struct lessons *l, const struct lesson *epoch);
/* The epochs of the run that was last, or that is running if it has any; their number. */
size_t lessons_last_run(const struct lessons *l, const struct lesson **ret);

int lessons_print(const struct lessons *l, struct buf *ret) DL_MUST_CHECK;
/* Lines that make no sense are passed over: a damaged text teaches less, nothing wrong. */
void lessons_parse(struct bytes text, struct lessons *ret);
