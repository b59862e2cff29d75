#include "prefetch/order/chain.h"

#include <assert.h>
#include <string.h>

#include "prefetch/order/chain_kernel.h"
#include "prefetch/order/mt19937.h"

#define BREATH (512 * CHAIN_BLOCK_WORDS)        /* words, of 0.1 to 0.3 ns each */

static chain_block *const blocks[SEEDS_KERNELS] = {
	[SEEDS_PORTABLE] = chain_block_portable,
#ifdef __x86_64__
	[SEEDS_AVX2] = chain_block_avx2,
	[SEEDS_AVX512] = chain_block_avx512,
#endif
};

/* How far behind the word with this place does `second` come?  0: not near. */
static uint32_t distance_to(uint32_t second, const struct chain_words *w, unsigned place)
{
	struct mt19937 g = { .next = CHAIN_STATE };    /* any 624 words in a row are a state */

	memcpy(g.state, w->at + place + 1 - CHAIN_STATE, sizeof(g.state));
	for (uint32_t d = 1; d <= CHAIN_STRIDE_MAX; d++)
		if (mt19937_word(&g) == second)
			return d;
	return 0;
}

static bool find_in(chain_block *next, uint32_t wanted, uint32_t second, uint64_t words,
		    chain_go_on *go_on, void *context, struct chain *c)
{
	struct chain_words w;
	struct mt19937 g;

	mt19937_seed(&g, c->seed);
	memcpy(w.at + CHAIN_BLOCK_WORDS, g.state, sizeof(g.state));
	for (uint64_t from = 0; from < words; from += CHAIN_BLOCK_WORDS) {
		uint64_t count = DL_MIN(words - from, (uint64_t)CHAIN_BLOCK_WORDS);

		if (from % BREATH == 0 && !go_on(context))
			return false;
		if (!next(&w, wanted))
			continue;
		for (unsigned i = 0; i < count; i++) {
			if (w.at[CHAIN_STATE + i] != wanted)
				continue;
			c->word = from + i;
			c->stride = distance_to(second, &w, CHAIN_STATE + i);
			if (c->stride > 0)
				return true;
		}
	}
	return false;
}

bool chain_find(enum seeds_kernel kernel, uint32_t first, uint32_t second, const uint32_t *seeds,
		size_t count, uint64_t words, chain_go_on *go_on, void *context, struct chain *ret)
{
	uint32_t wanted = mt19937_untempered(first);

	assert(seeds_can(kernel));
	for (size_t i = 0; i < count; i++) {
		struct chain c = { .seed = seeds[i] };

		if (find_in(blocks[kernel], wanted, second, words, go_on, context, &c)) {
			*ret = c;
			return true;
		}
	}
	return false;
}

static bool among(uint32_t seed, const uint32_t *seeds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (seeds[i] == seed)
			return true;
	return false;
}

size_t chain_popular(uint32_t ret[CHAIN_POPULAR_MAX])
{
	static const uint32_t favourites[] = {
		42, 0, 1, 1234, 123, 1337, 2, 3, 3407, 12345, 10, 100, 7, 2023, 2022, 2021, 2024,
		2020, 2025, 2019, 2026, 1024, 123456, 4, 5, 666, 777, 888, 999, 3141, 31415, 314159,
		31337, 1111, 2222, 3333, 4444, 5555, 6666, 7777, 8888, 9999, 4321, 54321, 1000,
		10000, 100000, 1000000, 2018, 2017, 2016, 2015, 2027, 2028, 2029, 2030, 2000, 1999,
		2718, 27182, 271828, 3141592, 31415926, 1618, 4242, 424242, 42424242, 1234567,
		12345678, 123456789, 1234567890, 987654321, 87654321, 654321, 114514, 1919810,
		19260817, 10086, 1313, 5489, 65535, 65536, 65537, 2048, 4096, 3000, 5000, 11111,
		22222, 33333, 55555, 66666, 88888, 99999, 111111, 666666, 888888, 12321, 1729,
		8675309, 998244353, 1000000007, 2147483647, 0x7ffffffe, 0xdeadbeef, 0xcafebabe,
		0xffffffff,
	};
	size_t count = DL_COUNT(favourites);

	static_assert(DL_COUNT(favourites) + 1024 <= CHAIN_POPULAR_MAX, "there is room for all");
	memcpy(ret, favourites, sizeof(favourites));
	for (uint32_t seed = 0; seed < 1024; seed++)
		if (!among(seed, favourites, DL_COUNT(favourites)))
			ret[count++] = seed;
	return count;
}

void chain_seeds(const struct chain *c, uint32_t *ret, size_t count)
{
	struct mt19937 g;

	assert(c->stride > 0);
	mt19937_seed(&g, c->seed);
	mt19937_skip(&g, c->word);
	for (size_t i = 0; i < count; i++) {
		ret[i] = mt19937_word(&g);
		mt19937_skip(&g, c->stride - 1);
	}
}
