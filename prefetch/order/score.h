/* How well opens agree with a sequence: evidence in bits, gathered one open at a time.
 *
 * Readers go through a sequence in runs: each worker reads its batches from front to end.  So
 * an open right after one of the last few (the tail of a lane) is evidence for the sequence:
 * by chance it comes with probability lanes / n, so it is worth log2(n / lanes) bits.  One
 * close to a tail is worth less, and nothing where samples are few.  Any
 * other open starts a lane of its own and costs SCORE_MISS bits.  The sum never falls below
 * zero (a CUSUM, Page 1954), so what came before does not hold a change back.
 */
#pragma once
#include "base/dl.h"

#define SCORE_LANES 16
#define SCORE_MISS 2.0f
/* Enough to believe: 2^-26 for each time that one may be wrong by chance. */
#define SCORE_BELIEVED 26.0f

struct score {
	uint32_t tails[SCORE_LANES];   /* most recent first */
	unsigned lanes;
	float bits;
};

/* position: where the sequence has what was opened; POSITION_NONE: nowhere.  n: of how many. */
void score_open(struct score *s, uint32_t position, uint32_t n);
/* Would this position continue a lane? */
bool score_continues(const struct score *s, uint32_t position, uint32_t n);
uint32_t score_lowest(const struct score *s);  /* tail; lanes > 0 */
