/* The seeds of successive epochs, when torch's default generator makes them: each is one output
 * of MT19937(G), a few words after the one before.  An unseeded script has any G; many scripts
 * seed it with a number that everybody likes.  Two epochs' seeds tell which, and where in its
 * stream they are: building a model takes millions of words.
 *
 * Pure: no threads, no I/O, but for what chain_go_on does.
 */
#pragma once
#include "base/dl.h"
#include "prefetch/order/seeds.h"

struct chain {
	uint32_t seed;                 /* G */
	uint64_t word;                 /* the first epoch's seed is this output, from 0 */
	uint32_t stride;               /* from one epoch's to the next's */
};

/* An iterator takes two words, and a shuffle two: strides are small and even, but for scripts
 * that draw for themselves.  Looking so far costs nothing: few words are `first` by chance. */
#define CHAIN_STRIDE_MAX 1024u

/* Called before each bit of work, of half a millisecond at most; false: it is to end. */
typedef bool chain_go_on(void *context);

/* The generator of these that has `first` among its first `words` outputs, and `second` not more
 * than CHAIN_STRIDE_MAX later; 0.1 to 0.3 ns a word.  By chance there is one when words × count
 * is 2^54.  false: none, or go_on() said so.  Where the first stride differs (persistent workers
 * with a second loader: once 4, then 2), find again, in the one seed, with the second and third. */
bool chain_find(enum seeds_kernel kernel, uint32_t first, uint32_t second, const uint32_t *seeds,
		size_t count, uint64_t words, chain_go_on *go_on, void *context,
		struct chain *ret);

/* What scripts like to seed with, the most popular first, none twice; returns how many. */
#define CHAIN_POPULAR_MAX 1152u
size_t chain_popular(uint32_t ret[CHAIN_POPULAR_MAX]);

/* The seeds of `count` epochs, the first one's first.  Takes the time of word + count × stride
 * words. */
void chain_seeds(const struct chain *c, uint32_t *ret, size_t count);
