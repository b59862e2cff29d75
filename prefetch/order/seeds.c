#include "prefetch/order/seeds.h"

#include <assert.h>
#include <string.h>

#include "prefetch/order/mt19937.h"
#include "prefetch/order/seeds_kernel.h"
#include "prefetch/order/sparse.h"

static seeds_block *const blocks[SEEDS_KERNELS] = {
	[SEEDS_PORTABLE] = seeds_block_portable,
#ifdef __x86_64__
	[SEEDS_AVX2] = seeds_block_avx2,
	[SEEDS_AVX512] = seeds_block_avx512,
#endif
};

bool seeds_can(enum seeds_kernel kernel)
{
#ifdef __x86_64__
	if (kernel == SEEDS_AVX2)
		return __builtin_cpu_supports("avx2");
	if (kernel == SEEDS_AVX512)
		return __builtin_cpu_supports("avx512f");
#endif
	return kernel == SEEDS_PORTABLE;
}

enum seeds_kernel seeds_fastest(void)
{
	return seeds_can(SEEDS_AVX512) ? SEEDS_AVX512
				       : seeds_can(SEEDS_AVX2) ? SEEDS_AVX2 : SEEDS_PORTABLE;
}

/* The inverse of an odd number modulo 2^32, by Newton's iteration. */
static uint32_t inverse_of(uint32_t odd)
{
	uint32_t x = odd;

	for (unsigned i = 0; i < 4; i++)
		x *= 2 - odd * x;
	return x;
}

static struct seeds_test test_of(const struct seeds_start *s, const struct seeds_start *before)
{
	unsigned turn = (unsigned)__builtin_ctz(s->n);
	uint32_t inverse = inverse_of(s->n >> turn);

	assert(s->count + s->set_depth >= 1 && s->count + s->set_depth <= SEEDS_SET_DEPTH);
	assert(s->n >= SEEDS_SET_DEPTH && (s->skip == 0 || s->skip == 2));
	if (s->count == 0)
		return (struct seeds_test){
			.set = s->set, .late = s->skip == 2,
			.n = s->n, .reciprocal = UINT64_MAX / s->n + 1,
		};
	return (struct seeds_test){
		.inverse = inverse, .turn = turn, .limit = UINT32_MAX / s->n,
		.less = s->first[0] * inverse, .late = s->skip == 2,
		.again = before && before->count > 0 && before->n == s->n &&
			before->skip == s->skip,
	};
}

static bool may_come(const struct seeds_start *s, uint32_t i, uint32_t entry)
{
	return i < s->count ? entry == s->first[i]
			    : s->set->bits[entry % SEEDS_SET_BITS / 64] >> (entry % 64) & 1;
}

static bool begins_so(uint32_t seed, uint32_t word, const struct seeds_start *s)
{
	uint32_t place[SEEDS_SET_DEPTH], value[SEEDS_SET_DEPTH];   /* what lies elsewhere by now */
	struct mt19937_head g;

	mt19937_head(&g, seed, word);
	for (uint32_t i = 0; i < s->skip; i++)
		(void)mt19937_head_word(&g);
	for (uint32_t i = 0; i < s->count + s->set_depth; i++) {
		uint32_t z = i + mt19937_head_word(&g) % (s->n - i), here = i, there = z;

		for (uint32_t k = 0; k < i; k++) {
			if (place[k] == i)
				here = value[k];
			if (place[k] == z)
				there = value[k];
		}
		if (!may_come(s, i, there))
			return false;
		place[i] = z;
		value[i] = here;
	}
	return true;
}

void seeds_search(enum seeds_kernel kernel, const struct seeds_start *starts, size_t count,
		  uint64_t from, uint64_t to, const _Atomic bool *stop,
		  void (*hit)(void *context, uint32_t seed, size_t start), void *context)
{
	struct seeds_test tests[SEEDS_STARTS];
	uint64_t pass[SEEDS_STARTS][SEEDS_STRIDE / 64];
	uint32_t words[SEEDS_STRIDE];

	assert(count <= SEEDS_STARTS && seeds_can(kernel));
	assert(from % SEEDS_STRIDE == 0 && to % SEEDS_STRIDE == 0 && to <= SEEDS_ALL);
	for (size_t i = 0; i < count; i++)
		tests[i] = test_of(&starts[i], i > 0 ? &starts[i - 1] : NULL);
	for (; from < to && !atomic_load_explicit(stop, memory_order_relaxed);
	     from += SEEDS_STRIDE) {
		if (!blocks[kernel]((uint32_t)from, tests, count, pass, words))
			continue;
		for (size_t i = 0; i < count * (SEEDS_STRIDE / 64); i++) {
			uint64_t bits = pass[i / (SEEDS_STRIDE / 64)][i % (SEEDS_STRIDE / 64)];
			uint32_t first = (uint32_t)from + i % (SEEDS_STRIDE / 64) * 64;

			for (; bits; bits &= bits - 1) {
				uint32_t seed = first + (uint32_t)__builtin_ctzll(bits);

				if (begins_so(seed, words[seed - (uint32_t)from],
					      &starts[i / (SEEDS_STRIDE / 64)]))
					hit(context, seed, i / (SEEDS_STRIDE / 64));
			}
		}
	}
}

static uint32_t place_of(const uint32_t *head, uint32_t length, uint32_t what)
{
	uint32_t i = 0;

	while (i < length && head[i] != what)
		i++;
	return i;
}

uint32_t seeds_distance(const uint32_t *head, uint32_t length, const uint32_t run[3])
{
	uint32_t a = place_of(head, length, run[0]), b, distance;

	if (a >= SEEDS_WORLD_MAX || a >= length)
		return 0;
	b = place_of(head, length, run[1]);
	if (b == length || b <= a)
		return 0;
	distance = b - a;
	if (distance <= a || b + distance >= length || head[b + distance] != run[2])
		return 0;
	return distance;
}
