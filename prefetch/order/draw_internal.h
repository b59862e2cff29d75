/* Shared by draw.c and pieces.c. */
#pragma once
#include "base/random.h"
#include "prefetch/order/draw.h"

struct stratum {
	uint32_t begin, end;           /* samples */
	uint32_t pieces;               /* equal parts of it */
	uint32_t first;                /* its pieces' places in tables of all pieces */
	uint32_t given;                /* pieces that have come */
	uint32_t left;                 /* samples in its pool */
};

/* `purpose` tells apart what one epoch draws for several ends. */
static inline struct random random_of(uint64_t seed, uint64_t epoch, uint64_t purpose)
{
	uint64_t state = random_mix(seed + RANDOM_STEP);

	return (struct random){ random_mix(random_mix(state + epoch) + purpose) };
}

/* In which order the pieces of each stratum come in the epoch: ret[first + i] is the number of
 * the piece that comes as the i-th.  `total` pieces in all strata. */
int pieces_order(const struct draw *d, const struct stratum *strata, uint32_t count,
		 uint32_t total, uint32_t *ret) DL_MUST_CHECK;
