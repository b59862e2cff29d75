#include <criterion/criterion.h>
#include <string.h>

#include "prefetch/order/mt19937.h"
#include "prefetch/order/seeds.h"
#include "prefetch/order/sparse.h"

#define START(n_, skip_, count_, ...) \
	{ .n = n_, .skip = skip_, .first = { __VA_ARGS__ }, .count = count_ }

static const _Atomic bool never;

struct hits { uint32_t seed[64]; size_t start[64]; size_t count; };

static void note(void *context, uint32_t seed, size_t start)
{
	struct hits *h = context;

	cr_assert(h->count < DL_COUNT(h->seed));
	h->seed[h->count] = seed;
	h->start[h->count++] = start;
}

static struct hits search(enum seeds_kernel k, const struct seeds_start *s, size_t count,
			  uint64_t from, uint64_t length)
{
	struct hits h = { .count = 0 };

	seeds_search(k, s, count, from, from + length, &never, note, &h);
	return h;
}

#define EACH_KERNEL(k) \
	for (enum seeds_kernel k = 0; k < SEEDS_KERNELS; k++) \
		if (seeds_can(k))

/* These were computed with torch. */
Test(seeds, finds_what_torch_was_seeded_with)
{
	static const struct { struct seeds_start start; uint32_t seed; } facts[] = {
		{ START(1000, 0, 3, 88, 494, 773), 75011697u },
		{ START(1000, 0, 3, 88, 494, 773), 3386900802u },
		{ START(1281167, 0, 2, 772957, 412848), 42u },
		{ START(2000, 0, 4, 1385, 1542, 1257, 396), 772699760u },
		{ START(2000, 0, 4, 51, 1479, 119, 175), 1890281479u },
		{ START(1000, 2, 4, 876, 50, 408, 807), 42u },
	};

	EACH_KERNEL(k) for (size_t i = 0; i < DL_COUNT(facts); i++) {
		uint64_t from = facts[i].seed / SEEDS_STRIDE * SEEDS_STRIDE;
		struct hits h;

		from = from < 64 * SEEDS_STRIDE ? 0 : from - 64 * SEEDS_STRIDE;
		h = search(k, &facts[i].start, 1, from, 128 * SEEDS_STRIDE);
		cr_assert_eq(h.count, 1, "kernel %d, fact %zu: %zu hits", k, i, h.count);
		cr_assert_eq(h.seed[0], facts[i].seed);
	}
}

static uint32_t begin(uint32_t seed, uint32_t n, uint32_t skip)
{
	struct mt19937 g;

	mt19937_seed(&g, seed);
	mt19937_skip(&g, skip);
	return mt19937_word(&g) % n;
}

/* Every seed, lane and power of two; also the last seed there is. */
Test(seeds, agrees_with_one_seed_after_the_other)
{
	static const uint32_t sizes[] = { 8, 64, 96, 1000, 65536, 3 << 20 };
	const uint64_t from = SEEDS_ALL - 4 * SEEDS_STRIDE;

	EACH_KERNEL(k) for (size_t i = 0; i < DL_COUNT(sizes); i++) {
		for (uint32_t skip = 0; skip <= 2; skip += 2) {
			uint32_t n = sizes[i];
			struct seeds_start s = START(n, skip, 1, begin(UINT32_MAX, n, skip));
			size_t expected = 0;
			struct hits h = { .count = 0 };

			if (n < 64)     /* more than fit: fewer seeds */
				seeds_search(k, &s, 1, SEEDS_ALL - SEEDS_STRIDE, SEEDS_ALL,
					     &never, note, &h);
			else
				h = search(k, &s, 1, from, SEEDS_ALL - from);
			for (uint64_t seed = n < 64 ? SEEDS_ALL - SEEDS_STRIDE : from;
			     seed < SEEDS_ALL; seed++) {
				if (begin((uint32_t)seed, n, skip) != s.first[0])
					continue;
				cr_assert_lt(expected, h.count);
				cr_assert_eq(h.seed[expected++], (uint32_t)seed);
			}
			cr_assert_geq(expected, 1);
			cr_assert_eq(h.count, expected);
		}
	}
}

Test(seeds, tells_which_start_it_was)
{
	struct seeds_start s[2] = {
		START(1000, 0, 3, 1, 2, 3), START(2000, 0, 4, 1385, 1542, 1257, 396),
	};

	EACH_KERNEL(k) {
		struct hits h = search(k, s, 2, 772699760u / SEEDS_STRIDE * SEEDS_STRIDE,
				       SEEDS_STRIDE);

		cr_assert_eq(h.count, 1);
		cr_assert_eq(h.start[0], 1);
	}
}

/* Whose opens they were is not known: its first entries are some of those that were opened, in
 * whatever order; of one it may be known that it is the first. */
Test(seeds, finds_one_among_mixed_opens)
{
	static const uint32_t opened[] = { 17, 738, 5, 396, 1257, 1999, 1385, 1542 };

	EACH_KERNEL(k) for (unsigned exact = 0; exact <= 1; exact++) {
		struct seeds_set set = { 0 };
		struct seeds_start s[2] = {
			START(1000, 0, 1, 1001), /* another's product is not this one's */
			START(2000, 0, exact, 1385),
		};
		const uint64_t from = 772699760u / SEEDS_STRIDE * SEEDS_STRIDE;
		struct hits h;

		for (size_t i = 0; i < DL_COUNT(opened); i++)
			seeds_set_add(&set, opened[i]);
		s[1].set = &set;
		s[1].set_depth = 6 - exact;
		h = search(k, s, 2, from, SEEDS_STRIDE);
		cr_assert_eq(h.count, 0, "the sixth entry, 625, is missing");
		seeds_set_add(&set, 625);
		h = search(k, s, 2, from, SEEDS_STRIDE);
		cr_assert_eq(h.count, 1);
		cr_assert_eq(h.seed[0], 772699760u);
		cr_assert_eq(h.start[0], 1);
	}
}

/* Also after two words, of a list that is larger than the set has bits, and of any size. */
Test(seeds, finds_each_seed_that_begins_in_a_set)
{
	static const uint32_t sizes[] = { 64, 1000, 65537, 3 << 20, 1281167 };
	const uint64_t from = SEEDS_ALL - 4 * SEEDS_STRIDE;

	EACH_KERNEL(k) for (size_t i = 0; i < 2 * DL_COUNT(sizes); i++) {
		uint32_t n = sizes[i / 2], skip = i % 2 * 2;
		struct seeds_set set = { 0 };
		struct seeds_start s = {
			.n = n, .skip = skip, .set = &set, .set_depth = SEEDS_SET_DEPTH,
		};

		for (uint64_t seed = from; seed < SEEDS_ALL; seed += 100) {
			struct mt19937 g;
			uint32_t head[SEEDS_SET_DEPTH];
			struct hits h;

			mt19937_seed(&g, (uint32_t)seed);
			mt19937_skip(&g, skip);
			cr_assert_eq(sparse_randperm(&g, n, SEEDS_SET_DEPTH, head), 0);
			memset(&set, 0, sizeof(set));
			for (unsigned e = 0; e < SEEDS_SET_DEPTH; e++)
				seeds_set_add(&set, head[e]);
			h = search(k, &s, 1, from, SEEDS_ALL - from);
			cr_assert_eq(h.count, 1, "n %u, seed %u: %zu", n, (uint32_t)seed, h.count);
			cr_assert_eq(h.seed[0], (uint32_t)seed);
		}
	}
}

Test(seeds, stops_when_it_is_told)
{
	static const _Atomic bool now = true;
	struct seeds_start s = START(1000, 0, 3, 88, 494, 773);
	struct hits h = { .count = 0 };

	seeds_search(seeds_fastest(), &s, 1, 75011697u / SEEDS_STRIDE * SEEDS_STRIDE, SEEDS_ALL,
		     &now, note, &h);
	cr_assert_eq(h.count, 0);
}

Test(seeds, knows_the_distance_of_ranks)
{
	static const uint32_t head[] = { 9, 4, 7, 1, 8, 2, 6, 3, 5, 0 };

	cr_assert_eq(seeds_distance(head, 10, (const uint32_t[]){ 9, 4, 7 }), 1);
	cr_assert_eq(seeds_distance(head, 10, (const uint32_t[]){ 4, 8, 3 }), 3);
	cr_assert_eq(seeds_distance(head, 10, (const uint32_t[]){ 4, 8, 5 }), 0);
	cr_assert_eq(seeds_distance(head, 10, (const uint32_t[]){ 3, 5, 0 }), 0);
	cr_assert_eq(seeds_distance(head, 10, (const uint32_t[]){ 7, 4, 9 }), 0);
	cr_assert_eq(seeds_distance(head, 4, (const uint32_t[]){ 9, 7, 8 }), 0);
	cr_assert_eq(seeds_distance(head, 10, (const uint32_t[]){ 77, 4, 7 }), 0);
}
