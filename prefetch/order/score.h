/* How well opens agree with a sequence: evidence in bits, gathered one open at a time.
 *
 * Readers go through a sequence in runs: each worker reads its batches from front to end.  So
 * an open right after one of the last few (the tail of a lane) is evidence for the sequence:
 * by chance it comes with probability lanes / n, so it is worth log2(n / lanes) bits.  One
 * close to a tail is worth less, and nothing where samples are few.  Any
 * other open starts a lane of its own and costs SCORE_MISS bits.  The sum never falls below
 * zero (a CUSUM, Page 1954), so what came before does not hold a change back.
 * Thread-safety: pure; a score has one owner.
 */
#pragma once
#include "base/dl.h"

#define SCORE_LANES 16                  /* and as many as workers seem to need, up to ... */
#define SCORE_LANES_MOST 128
#define SCORE_MISS 2.0f
/* Enough to believe: 2^-26 for each time that one may be wrong by chance. */
#define SCORE_BELIEVED 26.0f

struct score {
	uint32_t tails[SCORE_LANES_MOST];      /* most recent first */
	uint32_t moved[SCORE_LANES_MOST];      /* the open that moved the lane last */
	uint32_t runs[SCORE_LANES_MOST];       /* how often the lane went on */
	uint32_t opens;
	unsigned lanes;
	float bits;
};

/* n: of how many samples; step: from one position of a reader to its next.  buffer, if not 0: a
 * reader takes any of so many samples and fills up with the next.  There is one lane then, and what
 * lies about its tail, which is the foremost position, continues it. */
struct scale {
	uint32_t n, step, buffer;
};
/* position: where the sequence has what was opened; POSITION_NONE: nowhere.  true: it continued a
 * lane, as by score_continues() before. */
bool score_open(struct score *s, uint32_t position, struct scale scale);
/* Would this position continue a lane, and exactly? */
bool score_continues(const struct score *s, uint32_t position, struct scale scale);
bool score_succeeds(const struct score *s, uint32_t position, struct scale scale);
/* Exactly, or a lane that went on before: by chance one open may lie close to another. */
bool score_agrees(const struct score *s, uint32_t position, struct scale scale);
/* While there is no evidence only the newest lanes are kept, of few samples few: any of them may be
 * the start.  Where many workers take turns, each comes to its own again once all have. */
void score_restart(struct score *s, struct scale scale);
/* Of these lanes only those that may be its beginning. */
void score_restart_below(struct score *s, uint32_t below);
/* Where the lowest lane that went on began (0: none did). */
uint32_t score_start(const struct score *s, uint32_t step);
/* The lowest and highest tail of the lanes that went on within the last 64 opens, and not but once,
 * as one may by chance; false: none. */
bool score_lately(const struct score *s, uint32_t *ret_low, uint32_t *ret_high);
