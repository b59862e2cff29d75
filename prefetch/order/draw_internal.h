/* Shared by draw.c and pieces.c. */
#pragma once
#include "prefetch/order/draw.h"

struct stratum {
	uint32_t begin, end;           /* samples */
	uint32_t pieces;               /* equal parts of it */
	uint32_t first;                /* its pieces' places in tables of all pieces */
	uint32_t given;                /* pieces that have come */
	uint32_t left;                 /* samples in its pool */
};

struct random { uint64_t state; };

/* splitmix64 */
static inline uint64_t random_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static inline struct random random_of(uint64_t seed, uint64_t epoch, uint64_t purpose)
{
	uint64_t state = random_mix(seed + UINT64_C(0x9e3779b97f4a7c15));

	return (struct random){ random_mix(random_mix(state + epoch) + purpose) };
}

static inline uint64_t random_next(struct random *r)
{
	r->state += UINT64_C(0x9e3779b97f4a7c15);
	return random_mix(r->state);
}

static inline uint32_t random_below(struct random *r, uint32_t n)
{
	return (uint32_t)(((random_next(r) >> 32) * n) >> 32);
}

static inline void random_shuffle(struct random *r, uint32_t *at, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = random_below(r, i), kept = at[i - 1];

		at[i - 1] = at[j];
		at[j] = kept;
	}
}

/* In which order the pieces of each stratum come in the epoch: ret[first + i] is the number of
 * the piece that comes as the i-th.  `total` pieces in all strata. */
int pieces_order(const struct draw *d, const struct stratum *strata, uint32_t count,
		 uint32_t total, uint32_t *ret) DL_MUST_CHECK;
