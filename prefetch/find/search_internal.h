/* How a search is divided; private to search*.c, and for tests. */
#pragma once
#include "prefetch/order/chain.h"
#include "prefetch/find/search.h"
#include "prefetch/find/spare.h"

#define SEARCH_HEAD 4096u               /* of what was found, positions that are looked at */

#define SMALL_SEEDS (1u << 20)
#define SMALL_PIECE (1u << 12)
#define SMALL_BREATH (1u << 6)
#define SMALL_PIECES (SMALL_SEEDS / SMALL_PIECE)
#define POPULAR_PIECE 32u
#define POPULAR_PIECES (CHAIN_POPULAR_MAX / POPULAR_PIECE)
#define SMALL_PIECES_FROM (2 + POPULAR_PIECES)
#define NUMPY_SEEDS 1000000u             /* Keras: np.random.randint(1e6) */
#define NUMPY_PIECE (1u << 12)
#define NUMPY_BREATH (1u << 8)
#define NUMPY_PIECES ((NUMPY_SEEDS + NUMPY_PIECE - 1) / NUMPY_PIECE)
#define LIKELY_PIECES (SMALL_PIECES_FROM + SMALL_PIECES + NUMPY_PIECES)
#define SEEDS_PIECE (UINT64_C(1) << 20)
#define SEEDS_BREATH (UINT64_C(1) << 15)

/* Between two bits of work, of half a millisecond each, on any of the threads: see spare.h. */
void search_breathe(struct search *s, struct spare *spare);

/* search_likely.c: what is tried before all seeds are, by piece: what is known of other epochs and
 * constants; seeds added to a constant; numbers that many use; small seeds; numpy's. */
void search_likely(struct search *s, uint32_t number, struct spare *spare);
/* search_numpy.c */
void search_numpy(struct search *s, uint32_t piece, struct spare *spare);
/* One piece of all seeds: from number * SEEDS_PIECE on. */
void search_seeds(struct search *s, uint32_t number, struct spare *spare);

/* In bits; step: of so many ranks. */
float search_explains(const struct evidence *e, const struct found *f, uint32_t step);
/* One of these worlds, if it explains the opens; of several the one that does so best. */
void search_consider(struct search *s, struct found f, uint32_t from, uint32_t to);
struct found search_plain(const struct search *s, size_t list, uint32_t seed, uint32_t skip);
