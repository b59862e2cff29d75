/* Private to seeds.c and the kernels. */
#pragma once
#include "prefetch/order/seeds.h"

/* word % n == first, without a division: (word - first) / n is whole and small enough.  A word
 * below first may pass too: one in 2^32 / n. */
struct seeds_test {
	uint32_t inverse, turn, limit; /* of n */
	uint32_t less;                 /* first × inverse */
	bool late;                     /* after two words */
	bool again;                    /* n and late are those of the test before */
	/* Or NULL: word % n is one of the set.  With the reciprocal of n, 2^64 / n rounded up, the
	 * remainder takes two multiplications (Lemire, Kaser and Kurz 2019). */
	const struct seeds_set *set;
	uint32_t n;
	uint64_t reciprocal;
};

/* Which of the SEEDS_STRIDE seeds from base on pass: a bit a seed for each test; false:
 * none.  first: the first word of each. */
typedef bool seeds_block(uint32_t base, const struct seeds_test *tests, size_t count,
			 uint64_t (*ret)[SEEDS_STRIDE / 64], uint32_t first[SEEDS_STRIDE]);
seeds_block seeds_block_portable, seeds_block_avx2, seeds_block_avx512;
