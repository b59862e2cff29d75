/* Compiled once for each instruction set, as CHAIN_BLOCK.  A word is made of three that came at
 * least 227 before it: in one straight line, without MT19937's usual turn in its state, compilers
 * make vectors of this. */
#include <string.h>

#include "prefetch/order/chain_kernel.h"

#define N CHAIN_STATE
#define M 397

bool CHAIN_BLOCK(struct chain_words *w, uint32_t wanted)
{
	uint32_t *x = w->at, any = 0;

	memcpy(x, x + CHAIN_BLOCK_WORDS, N * sizeof(*x));
	for (unsigned i = 0; i < CHAIN_BLOCK_WORDS; i++) {
		uint32_t y = (x[i] & 0x80000000u) | (x[i + 1] & 0x7fffffffu);

		y = x[i + M] ^ y >> 1 ^ (-(x[i + 1] & 1) & 0x9908b0dfu);
		x[i + N] = y;
		any |= y == wanted;
	}
	return any;
}
