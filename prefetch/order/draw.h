/* An epoch in an order that dlfs itself chooses, for sources that are slow at random reads: each
 * sample once, in an order that looks like a uniform shuffle, while the source is read in pieces
 * of consecutive samples and no more than a reservoir of them is held.
 *
 * The dataset is cut into strata, as many as the reservoir has pieces, none over a border (a
 * folder) if that can be helped.  Of each stratum one piece is in the reservoir; when all of it
 * was given out, the next one of that stratum takes its place.  Whose turn it is a uniform
 * shuffle of all samples decides, so that the mix of strata (and so of folders, which are
 * classes) in any part of the epoch is exactly that of a uniform shuffle; which of its samples
 * a stratum gives, is drawn uniformly from its piece.
 *
 * The pieces of a stratum come in random order, chosen so that two epochs are correlated no more
 * than two shuffles of all samples would be (pieces.c).
 *
 * What the reservoir holds as a whole is shuffled uniformly, and read in pieces all the same.
 *
 * A function of its arguments and of nothing else: whoever computes it has the same order.
 * Thread-safety: pure.
 */
#pragma once
#include "base/dl.h"

struct draw {
	uint64_t seed;
	uint64_t epoch;
	uint32_t n;                    /* samples, in storage order */
	uint32_t piece;                /* samples that are read in one go; at least 1 */
	uint32_t reservoir;            /* samples that may be held and not be given out yet */
	const uint32_t *borders;       /* ascending; where storage begins anew; may be NULL */
	size_t border_count;
};

/* ret: n indices.  *ret_pieces: where each of *ret_count pieces begins, ascending, and then n; the
 * caller's.  About 50 ns a sample; beside it 4 bytes for each in the reservoir.  -ENOMEM */
int draw_epoch(const struct draw *d, uint32_t *ret, uint32_t **ret_pieces, uint32_t *ret_count)
	DL_MUST_CHECK;
