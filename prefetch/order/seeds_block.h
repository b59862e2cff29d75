/* The kernel, for vectors of LANES words; a file for each instruction set includes it, compiled
 * with its flags.  Seeding steps wait for each other, so GROUP vectors take turns: as many as
 * measured fastest (bench-seeds speed), also where not all of them have a register. */
#include <string.h>

#include "prefetch/order/seeds_kernel.h"

#ifndef LANES                          /* for the least of processors */
#define LANES 4
#define GROUP 16
#define BLOCK seeds_block_portable
#endif
#define BATCH (LANES * GROUP)

typedef uint32_t words __attribute__((vector_size(LANES * 4)));

static inline words seeded(words x, uint32_t j)
{
	return 1812433253u * (x ^ x >> 30) + j;
}

static inline words output(words upper, words lower, words far)
{
	words y = (upper & 0x80000000u) | (lower & 0x7fffffffu);

	y = far ^ y >> 1 ^ (-(lower & 1u) & 0x9908b0dfu);
	y ^= y >> 11;
	y ^= y << 7 & 0x9d2c5680u;
	y ^= y << 15 & 0xefc60000u;
	return y ^ y >> 18;
}

/* Seeds, one a lane. */
static inline words from(uint32_t base)
{
	static const uint32_t lanes[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	words x;

	_Static_assert(LANES <= 16, "a number for each lane");
	memcpy(&x, lanes, sizeof(x));
	return x + base;
}

/* The words with number 0 and 2 of BATCH seeds. */
static void first_words(uint32_t base, words early[GROUP], words late[GROUP])
{
	words x[GROUP], s[4];

	for (unsigned g = 0; g < GROUP; g++)
		x[g] = from(base + g * LANES);
	for (uint32_t j = 1; j <= 397; j++)
		for (unsigned g = 0; g < GROUP; g++)
			x[g] = seeded(x[g], j);
	for (unsigned g = 0; g < GROUP; g++) {
		s[0] = from(base + g * LANES);
		for (uint32_t j = 1; j < 4; j++)
			s[j] = seeded(s[j - 1], j);
		early[g] = output(s[0], s[1], x[g]);
		late[g] = output(s[2], s[3], seeded(seeded(x[g], 398), 399));
	}
}

static bool passes(const struct seeds_test *t, const words product[GROUP], uint32_t at,
		   uint64_t *ret)
{
	words pass[GROUP], any = { 0 };
	uint64_t halves[LANES / 2], sum = 0;

	for (unsigned g = 0; g < GROUP; g++) {
		words d = product[g] - t->less;

		d = d >> t->turn | d << ((32 - t->turn) & 31);
		pass[g] = (words)(d <= t->limit);
		any |= pass[g];
	}
	memcpy(halves, &any, sizeof(halves));
	for (unsigned i = 0; i < LANES / 2; i++)
		sum |= halves[i];
	if (!sum)
		return false;
	for (unsigned i = 0; i < BATCH; i++)
		if (pass[i / LANES][i % LANES])
			ret[(at + i) / 64] |= UINT64_C(1) << ((at + i) % 64);
	return true;
}

static bool set_passes(const struct seeds_test *t, const words of[GROUP], uint32_t at,
		       uint64_t *ret)
{
	uint32_t word[BATCH];
	uint64_t any = 0;

	memcpy(word, of, sizeof(word));
	for (uint32_t i = 0; i < BATCH; i++) {
		uint64_t part = t->reciprocal * word[i];
		uint64_t low = (part & UINT32_MAX) * t->n >> 32;
		uint32_t index = (uint32_t)(((part >> 32) * t->n + low) >> 32);
		uint64_t in = t->set->bits[index % SEEDS_SET_BITS / 64] >> (index % 64) & 1;

		ret[(at + i) / 64] |= in << ((at + i) % 64);
		any |= in;
	}
	return any;
}

bool BLOCK(uint32_t base, const struct seeds_test *tests, size_t count,
	   uint64_t (*ret)[SEEDS_STRIDE / 64], uint32_t first[SEEDS_STRIDE])
{
	words early[GROUP], late[GROUP], product[GROUP] = { 0 };
	bool any = false;

	memset(ret, 0, count * sizeof(*ret));
	for (uint32_t at = 0; at < SEEDS_STRIDE; at += BATCH) {
		first_words(base + at, early, late);
		memcpy(first + at, early, sizeof(early));
		for (size_t i = 0; i < count; i++) {
			const words *word = tests[i].late ? late : early;

			if (tests[i].set) {
				any |= set_passes(&tests[i], word, at, ret[i]);
				continue;
			}
			for (unsigned g = 0; !tests[i].again && g < GROUP; g++)
				product[g] = word[g] * tests[i].inverse;
			any |= passes(&tests[i], product, at, ret[i]);
		}
	}
	return any;
}
