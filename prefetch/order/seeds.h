/* Which seeds begin a permutation like this?  Every seed of a range is tried: torch's randperm
 * is a front-first shuffle, so its first entry is word % n of the generator, and MT19937's
 * first words depend on three words of the seeded state only (Matsumoto and Nishimura 1998):
 * 399 of the 624 seeding steps and nothing of the rest.  Many seeds go side by side, because
 * the steps of one depend on each other.
 *
 * Pure: no threads, no I/O.  A kernel is chosen by what the processor has.
 */
#pragma once
#include <stdatomic.h>

#include "base/dl.h"

#define SEEDS_DEPTH 6
#define SEEDS_SET_DEPTH 8
#define SEEDS_STARTS 128               /* that can be tried in one pass */
#define SEEDS_ALL (UINT64_C(1) << 32)
#define SEEDS_WORLD_MAX 64u

/* What was opened, in whatever order: a bit for each index, by remainder.  Of all n samples a part
 * of count / n seems to be in it, or count / SEEDS_SET_BITS if that is more. */
#define SEEDS_SET_BITS (1u << 15)
struct seeds_set {
	uint32_t count;
	uint64_t bits[SEEDS_SET_BITS / 64];
};
static inline void seeds_set_add(struct seeds_set *s, uint32_t index)
{
	s->bits[index % SEEDS_SET_BITS / 64] |= UINT64_C(1) << (index % 64);
	s->count++;
}

struct seeds_start {                   /* a permutation that is looked for */
	uint32_t n;                    /* of so many; at least SEEDS_SET_DEPTH */
	uint32_t skip;                 /* words drawn before it: 0 or 2 */
	uint32_t first[SEEDS_DEPTH];   /* its first entries ... */
	unsigned count;                /* ... so many, at least 1 without a set */
	const struct seeds_set *set;   /* or NULL: those that follow are among these, ... */
	unsigned set_depth;            /* ... so many, at least 1 and with those before it at
	                                * most SEEDS_SET_DEPTH */
};

enum seeds_kernel { SEEDS_PORTABLE, SEEDS_AVX2, SEEDS_AVX512, SEEDS_KERNELS };
bool seeds_can(enum seeds_kernel kernel);
enum seeds_kernel seeds_fastest(void);

/* hit() for each seed in [from, to) and start that it has; about 20 ns a seed, least when starts
 * of the same n and skip come one after the other.  One that is nothing but a set takes as long
 * however many are in it.  Returns early when *stop becomes true.  from and to are multiples of
 * SEEDS_STRIDE. */
#define SEEDS_STRIDE 128u
void seeds_search(enum seeds_kernel kernel, const struct seeds_start *starts, size_t count,
		  uint64_t from, uint64_t to, const _Atomic bool *stop,
		  void (*hit)(void *context, uint32_t seed, size_t start), void *context);

/* Of the first `length` entries of a permutation: are the run's three at equal distances, as
 * for one of several ranks?  The distance (1: a single process), or 0. */
uint32_t seeds_distance(const uint32_t *head, uint32_t length, const uint32_t run[3]);
