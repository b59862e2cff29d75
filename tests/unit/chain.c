#include <criterion/criterion.h>
#include <limits.h>

#include "prefetch/order/chain.h"
#include "prefetch/order/mt19937.h"

#define FOREVER (UINT64_C(1) << 50)

static bool always(void *context)
{
	(void)context;
	return true;
}

#define EACH_KERNEL(k) \
	for (enum seeds_kernel k = 0; k < SEEDS_KERNELS; k++) \
		if (seeds_can(k))

static uint32_t output(uint32_t seed, uint64_t number)
{
	struct mt19937 g;

	mt19937_seed(&g, seed);
	mt19937_skip(&g, number);
	return mt19937_word(&g);
}

static void is_found(enum seeds_kernel k, const struct chain *c)
{
	const uint32_t seeds[] = { 42, c->seed, 7 };
	uint32_t first = output(c->seed, c->word), second = output(c->seed, c->word + c->stride);
	struct chain found;

	cr_assert(chain_find(k, first, second, seeds, DL_COUNT(seeds), c->word + 1, always, NULL,
			     &found), "kernel %d, word %ju + %u", k, (uintmax_t)c->word, c->stride);
	cr_assert_eq(found.seed, c->seed);
	cr_assert_eq(found.word, c->word);
	cr_assert_eq(found.stride, c->stride);
}

/* The borders of a generator's state, of a search's blocks, and one within. */
Test(chain, is_found_wherever_it_begins)
{
	static const uint64_t words[] = {
		0, 1, 3, 5, 622, 623, 624, 625, 1247, 1248, 2494, 2495, 2496, 2497, 4991, 4992,
		4993, 7487, 7488, 31337,
	};
	static const uint32_t strides[] = {
		1, 2, 3, 4, 6, 8, 10, 12, 623, 624, 625, CHAIN_STRIDE_MAX,
	};

	EACH_KERNEL(k)
		for (size_t w = 0; w < DL_COUNT(words); w++)
			for (size_t s = 0; s < DL_COUNT(strides); s++)
				is_found(k, &(struct chain){ 1337, words[w], strides[s] });
}

/* A script with resnet18, which takes 22846824 words. */
Test(chain, is_found_after_a_model_was_built)
{
	is_found(seeds_fastest(), &(struct chain){ 1337, 22846827, 4 });
}

Test(chain, is_not_found_where_it_is_not)
{
	const uint64_t word = 5000;
	const uint32_t first = output(1337, word), second = output(1337, word + 4);
	const uint32_t far = output(1337, word + CHAIN_STRIDE_MAX + 1), seeds[] = { 42, 1337 };
	const struct chain before = { 1, 2, 3 };

	EACH_KERNEL(k) {
		struct chain c = before;

		cr_assert_not(chain_find(k, first, second, seeds, 2, word, always, NULL, &c));
		cr_assert_not(chain_find(k, first, second, seeds, 1, word + 1, always, NULL, &c));
		cr_assert_not(chain_find(k, first, second, seeds, 0, word + 1, always, NULL, &c));
		cr_assert_not(chain_find(k, second, first, seeds, 2, word + 5, always, NULL, &c));
		cr_assert_not(chain_find(k, first, far, seeds, 2, word + 1, always, NULL, &c));
		cr_assert_eq(c.seed, before.seed);
		cr_assert_eq(c.word, before.word);
		cr_assert_eq(c.stride, before.stride);
		cr_assert(chain_find(k, first, second, seeds, 2, word + 1, always, NULL, &c));
	}
}

/* These were drawn by torch after manual_seed(1337) and a Linear(1000, 1000), an epoch each. */
Test(chain, is_that_of_a_script)
{
	static const struct { const char *what; uint32_t seeds[4], strides[2]; } scripts[] = {
		{ "one loader",
		  { 949085878, 1294541860, 3759364722, 489475624 }, { 4, 4 } },
		{ "and one that validates",
		  { 949085878, 4116326030, 489475624, 2639261992 }, { 6, 6 } },
		{ "persistent workers",
		  { 949085878, 4002853566, 1294541860, 4116326030 }, { 2, 2 } },
		{ "persistent workers, two loaders",
		  { 949085878, 1294541860, 4116326030, 3759364722 }, { 4, 2 } },
	};

	for (size_t i = 0; i < DL_COUNT(scripts); i++) {
		const uint32_t *s = scripts[i].seeds, seeds[] = { 42, 1337 };
		uint32_t later[3];
		struct chain c;

		cr_assert(chain_find(seeds_fastest(), s[0], s[1], seeds, 2, 1 << 20, always,
				     NULL, &c));
		cr_assert_eq(c.seed, 1337);
		cr_assert_eq(c.word, 1001003);
		cr_assert_eq(c.stride, scripts[i].strides[0], "%s", scripts[i].what);
		cr_assert(chain_find(seeds_fastest(), s[1], s[2], &c.seed, 1, 1 << 20, always,
				     NULL, &c));
		cr_assert_eq(c.stride, scripts[i].strides[1], "%s", scripts[i].what);
		chain_seeds(&c, later, DL_COUNT(later));
		cr_assert_arr_eq(later, s + 1, sizeof(later), "%s", scripts[i].what);
	}
}

/* A word that comes twice, in one block and in two: only the later one has the second behind it. */
Test(chain, passes_over_a_first_that_is_there_by_chance)
{
	static const struct { uint32_t seed; uint64_t by_chance, word; } twice[] = {
		{ 731, 489, 1047 }, { 42, 9977, 10226 }, { 62, 3100, 9707 },
	};

	for (size_t i = 0; i < DL_COUNT(twice); i++) {
		uint32_t seed = twice[i].seed;

		cr_assert_eq(output(seed, twice[i].by_chance), output(seed, twice[i].word));
		EACH_KERNEL(k)
			is_found(k, &(struct chain){ seed, twice[i].word, CHAIN_STRIDE_MAX });
	}
}

static bool count_down(void *context)
{
	return (*(unsigned *)context)-- > 0;
}

/* It asks before each bit of work, and ends with a no. */
Test(chain, is_looked_for_while_it_may_go_on)
{
	const uint32_t seeds[] = { 1337 };

	EACH_KERNEL(k)
		for (unsigned bits = 0; bits < 4; bits++) {
			unsigned left = bits;
			struct chain c;

			cr_assert_not(chain_find(k, 1, 1, seeds, 1, FOREVER, count_down, &left,
						 &c));
			cr_assert_eq(left, UINT_MAX);
			left = bits;
			cr_assert_eq(chain_find(k, output(1337, 3), output(1337, 7), seeds, 1,
						FOREVER, count_down, &left, &c), bits > 0);
		}
}

Test(chain, tells_the_seeds_to_come)
{
	static const struct chain chains[] = {
		{ 1337, 3, 4 }, { 42, 622, 2 }, { 0, 623, 1 }, { 0xffffffff, 100000, 700 },
	};

	for (size_t i = 0; i < DL_COUNT(chains); i++) {
		const struct chain *c = &chains[i];
		uint32_t seeds[400];

		chain_seeds(c, seeds, DL_COUNT(seeds));
		for (size_t e = 0; e < DL_COUNT(seeds); e++)
			cr_assert_eq(seeds[e], output(c->seed, c->word + e * c->stride));
	}
}

static size_t times(uint32_t seed, const uint32_t *seeds, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += seeds[i] == seed;
	return n;
}

Test(chain, knows_each_popular_seed_once)
{
	static const uint32_t some[] = { 1234, 1337, 2020, 2030, 3407, 31415, 123456, 42424242 };
	uint32_t seeds[CHAIN_POPULAR_MAX];
	size_t count = chain_popular(seeds);

	cr_assert_leq(count, CHAIN_POPULAR_MAX);
	cr_assert_eq(seeds[0], 42);
	for (uint32_t seed = 0; seed < 1024; seed++)
		cr_assert_eq(times(seed, seeds, count), 1, "%u", seed);
	for (size_t i = 0; i < DL_COUNT(some); i++)
		cr_assert_eq(times(some[i], seeds, count), 1, "%u", some[i]);
	for (size_t i = 0; i < count; i++)
		cr_assert_eq(times(seeds[i], seeds, count), 1, "%u", seeds[i]);
}
