/* MT19937 of several seeds side by side, since the steps of one wait for each other, and all of a
 * block at once: for who needs hundreds of words of each of very many seeds.
 * Thread-safety: pure.
 */
#pragma once
#include "base/dl.h"

#define MT19937_ABREAST 8u
#define MT19937_WORDS 624u

/* The states of first, first + 1, ... as mt19937_seed() makes them. */
void mt19937_abreast(uint32_t first, uint32_t ret[MT19937_ABREAST][MT19937_WORDS]);
/* The next words of one of them. */
void mt19937_block(uint32_t state[MT19937_WORDS], uint32_t ret[MT19937_WORDS]);
