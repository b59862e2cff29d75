/* splitmix64 (Steele, Lea and Flood 2014): numbers that look random, and are the same ones in each
 * run.  Not for secrets.  Thread-safety: pure; a state has one owner.
 */
#pragma once
#include "base/dl.h"

#define RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)       /* 2^64 divided by the golden ratio */

struct random { uint64_t state; };

/* Spreads what is near each other; no two have the same result. */
static inline uint64_t random_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static inline uint64_t random_next(struct random *r)
{
	r->state += RANDOM_STEP;
	return random_mix(r->state);
}

/* 0 to n - 1; n > 0. */
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
