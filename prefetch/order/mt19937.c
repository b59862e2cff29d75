#include "prefetch/order/mt19937.h"

#include <assert.h>

#define N 624
#define M 397
#define JUMP_LEAST (UINT64_C(1) << 22)  /* words that take as long as a jump */

/* The word i of a seeded state, after the one before it. */
static uint32_t seeded(uint32_t before, uint32_t i)
{
	return 1812433253u * (before ^ (before >> 30)) + i;
}

void mt19937_seed(struct mt19937 *g, uint32_t seed)
{
	g->state[0] = seed;
	for (uint32_t i = 1; i < N; i++)
		g->state[i] = seeded(g->state[i - 1], i);
	g->next = N;
}

static uint32_t twist(uint32_t upper, uint32_t lower)
{
	uint32_t y = (upper & 0x80000000u) | (lower & 0x7fffffffu);

	return (y >> 1) ^ ((lower & 1) ? 0x9908b0dfu : 0);
}

static void next_block(struct mt19937 *g)
{
	uint32_t *s = g->state;

	for (unsigned i = 0; i < N - M; i++)
		s[i] = s[i + M] ^ twist(s[i], s[i + 1]);
	for (unsigned i = N - M; i < N - 1; i++)
		s[i] = s[i + M - N] ^ twist(s[i], s[i + 1]);
	s[N - 1] = s[M - 1] ^ twist(s[N - 1], s[0]);
	g->next = 0;
}

static uint32_t tempered(uint32_t y)
{
	y ^= y >> 11;
	y ^= (y << 7) & 0x9d2c5680u;
	y ^= (y << 15) & 0xefc60000u;
	return y ^ (y >> 18);
}

uint32_t mt19937_word(struct mt19937 *g)
{
	if (g->next == N)
		next_block(g);
	return tempered(g->state[g->next++]);
}

uint32_t mt19937_untempered(uint32_t word)
{
	uint32_t y = word ^ word >> 18, x;

	y ^= y << 15 & 0xefc60000u;
	x = y;
	for (unsigned right = 7; right < 32; right += 7)       /* so many bits of x are right */
		x = y ^ (x << 7 & 0x9d2c5680u);
	y = x;
	for (unsigned right = 11; right < 32; right += 11)
		x = y ^ x >> 11;
	return x;
}

void mt19937_head(struct mt19937_head *g, uint32_t seed, uint32_t first_word)
{
	uint32_t far = mt19937_untempered(first_word) ^ twist(seed, seeded(seed, 1));

	*g = (struct mt19937_head){ .near = seed, .far = far };
}

uint32_t mt19937_head_word(struct mt19937_head *g)
{
	uint32_t after = seeded(g->near, g->next + 1);
	uint32_t word = tempered(g->far ^ twist(g->near, after));

	assert(g->next < N - M);
	g->near = after;
	g->far = seeded(g->far, ++g->next + M);
	return word;
}

void mt19937_skip(struct mt19937 *g, uint64_t words)
{
	if (words >= JUMP_LEAST) {
		mt19937_jump(g, words);
		return;
	}
	while (words > N - g->next) {
		words -= N - g->next;
		next_block(g);
	}
	g->next += (unsigned)words;
}

void torch_randperm(struct mt19937 *g, uint32_t n, uint32_t *ret)
{
	for (uint32_t i = 0; i < n; i++)
		ret[i] = i;
	for (uint32_t i = 0; i + 1 < n; i++) {
		uint32_t z = i + mt19937_word(g) % (n - i), kept = ret[i];

		ret[i] = ret[z];
		ret[z] = kept;
	}
}
