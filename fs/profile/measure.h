/* The two halves of profile_measure(); see profile.h.
 * Thread-safety: measure_read() on any thread, the others on that of profile_measure().
 */
#pragma once
#include "fs/profile/profile.h"
#include "prefetch/source/source.h"

#define MEASURE_WHOLE (8 * MiB)        /* of a larger file only so much is fetched */

/* What both halves go by. */
struct measure {
	const struct profile_options *options;
	struct manifest *manifest;
	struct source *source;
	const sample_id *pool;         /* a uniform sample in random order, larger than the other */
	size_t pool_size;
};

int measure_source(const struct measure *m, struct profile *p) DL_MUST_CHECK;
int measure_images(const struct measure *m, struct profile *p) DL_MUST_CHECK;

/* -ECANCELED if the user wants no more. */
int measure_tell(const struct measure *m, const char *what, uint64_t done, uint64_t all)
	DL_MUST_CHECK;
/* The whole sample, at most MEASURE_WHOLE of it; waits for it.  -errno of the source. */
int measure_read(const struct measure *m, sample_id id, struct buf *ret) DL_MUST_CHECK;
