/* MT19937 as torch's CPU generator uses it: only the low 32 bits of a seed count; the same
 * stream as std::mt19937 and numpy's RandomState(low32).  Matsumoto and Nishimura 1998.
 * Thread-safety: pure; a generator has one owner.
 */
#pragma once
#include "base/dl.h"

struct mt19937 {
	uint32_t state[624];
	unsigned next;
};

void mt19937_seed(struct mt19937 *g, uint32_t seed);
uint32_t mt19937_word(struct mt19937 *g);
uint32_t mt19937_untempered(uint32_t word);            /* the word of the state behind it */
void mt19937_skip(struct mt19937 *g, uint64_t words);  /* milliseconds, however many */
void mt19937_jump(struct mt19937 *g, uint64_t words);  /* the same for many: see mt19937_jump.c */

/* The first 227 words of a generator of which the very first is known: a few steps each, where the
 * seeding of the whole takes 623. */
struct mt19937_head {
	uint32_t near, far, next;      /* words next and next + 397 of the seeded state */
};
void mt19937_head(struct mt19937_head *g, uint32_t seed, uint32_t first_word);
uint32_t mt19937_head_word(struct mt19937_head *g);

/* torch.randperm(n) for n < 214748364, all versions: front-first Fisher-Yates, n-1 words. */
void torch_randperm(struct mt19937 *g, uint32_t n, uint32_t *ret);
