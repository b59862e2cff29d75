/* Private to chain.c and its kernels. */
#pragma once
#include "base/dl.h"

#define CHAIN_STATE 624u               /* MT19937's, in words */
#define CHAIN_BLOCK_WORDS 2496u

/* The words of a generator, untempered: those that the new ones are made of, then a block. */
struct chain_words {
	uint32_t at[CHAIN_STATE + CHAIN_BLOCK_WORDS];
};

/* The next block takes the place of the last.  Is one of its words `wanted`? */
typedef bool chain_block(struct chain_words *w, uint32_t wanted);
chain_block chain_block_portable, chain_block_avx2, chain_block_avx512;
