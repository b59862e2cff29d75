#include "prefetch/order/mt19937_abreast.h"

#include <string.h>

#define N MT19937_WORDS
#define M 397u
#define ABREAST MT19937_ABREAST

static uint32_t twist(uint32_t upper, uint32_t lower)
{
	uint32_t y = (upper & 0x80000000u) | (lower & 0x7fffffffu);

	return y >> 1 ^ (-(lower & 1u) & 0x9908b0dfu);
}

/* What mt19937.c does in place, in loops that the compiler makes vectors of. */
void mt19937_block(uint32_t state[N], uint32_t ret[N])
{
	uint32_t next[N];

	for (unsigned i = 0; i < N - M; i++)
		next[i] = state[i + M] ^ twist(state[i], state[i + 1]);
	for (unsigned i = N - M; i < 2 * (N - M); i++)
		next[i] = next[i + M - N] ^ twist(state[i], state[i + 1]);
	for (unsigned i = 2 * (N - M); i < N - 1; i++)
		next[i] = next[i + M - N] ^ twist(state[i], state[i + 1]);
	next[N - 1] = next[M - 1] ^ twist(state[N - 1], next[0]);
	for (unsigned i = 0; i < N; i++) {
		uint32_t y = next[i];

		y ^= y >> 11;
		y ^= y << 7 & 0x9d2c5680u;
		y ^= y << 15 & 0xefc60000u;
		ret[i] = y ^ y >> 18;
	}
	memcpy(state, next, sizeof(next));
}

void mt19937_abreast(uint32_t first, uint32_t state[ABREAST][N])
{
	uint32_t x[ABREAST];

	for (unsigned l = 0; l < ABREAST; l++)
		state[l][0] = x[l] = first + l;
	for (uint32_t i = 1; i < N; i++)
		for (unsigned l = 0; l < ABREAST; l++)
			state[l][i] = x[l] = 1812433253u * (x[l] ^ x[l] >> 30) + i;
}
