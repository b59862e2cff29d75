#include "prefetch/order/score.h"

#include <string.h>

#include "prefetch/order/positions.h"

/* log2, good to a tenth of a bit, which is all that evidence needs (and no libm). */
static float log2_about(float x)
{
	int exponent = 0;

	while (x >= 2.0f) {
		x /= 2.0f;
		exponent++;
	}
	return (float)exponent + (x - 1.0f);
}

/* By chance: (lanes + step) / n for a successor or a beginning, of which each rank has one;
 * NEAR_WIDTH / n a lane for a neighbour. */
#define NEAR 8u
#define NEAR_WIDTH (2 * NEAR + 1)

/* One in 400 stays in a buffer for six times its size, if each may be taken at any time. */
#define BUFFERS_BEHIND 6u

#define LANE_SAMPLES 256u               /* of the dataset, for each lane beyond the usual */
#define LANES_LEAST 4u                  /* while there is no evidence */

static bool near_counts(const struct score *s, uint32_t n)
{
	return s->lanes > 0 && n / s->lanes >= 4 * NEAR_WIDTH;
}

static unsigned lane_about(const struct score *s, uint32_t position, uint32_t buffer)
{
	unsigned i = 0;

	while (i < s->lanes && (position > s->tails[i] + buffer ||
				position + BUFFERS_BEHIND * buffer < s->tails[i]))
		i++;
	return i;
}

/* The lane that this position goes on with: its tail is right before, or else, where that
 * means something, close by: workers with small batches overtake each other. */
static unsigned lane_of(const struct score *s, uint32_t position, struct scale scale)
{
	unsigned i;

	if (scale.buffer > 0)
		return lane_about(s, position, scale.buffer);
	for (i = 0; i < s->lanes; i++)
		if (s->tails[i] + scale.step == position)
			return i;
	if (!near_counts(s, scale.n))
		return s->lanes;
	for (i = 0; i < s->lanes; i++)
		if (s->tails[i] + NEAR >= position && position + NEAR >= s->tails[i] &&
		    s->tails[i] != position)
			return i;
	return s->lanes;
}

static bool continues(const struct score *s, uint32_t position, unsigned lane, struct scale scale)
{
	return position < DL_MAX(scale.step, scale.buffer) || lane < s->lanes;
}

bool score_continues(const struct score *s, uint32_t position, struct scale scale)
{
	return position != POSITION_NONE &&
	       continues(s, position, lane_of(s, position, scale), scale);
}

bool score_succeeds(const struct score *s, uint32_t position, struct scale scale)
{
	unsigned lane = position == POSITION_NONE ? s->lanes : lane_of(s, position, scale);

	return position < scale.step ||
	       (lane < s->lanes && s->tails[lane] + scale.step == position);
}

bool score_agrees(const struct score *s, uint32_t position, struct scale scale)
{
	unsigned lane = position == POSITION_NONE ? s->lanes : lane_of(s, position, scale);

	return score_succeeds(s, position, scale) || (lane < s->lanes && s->runs[lane] > 0);
}

/* Positions that would continue a lane: few in the beginning, before which there is nothing. */
static uint64_t places_about(const struct score *s, uint32_t buffer)
{
	uint64_t places = buffer;

	for (unsigned i = 0; i < s->lanes; i++)
		places += DL_MIN((uint64_t)BUFFERS_BEHIND * buffer, (uint64_t)s->tails[i]) + buffer;
	return places;
}

static float worth(const struct score *s, unsigned lane, uint32_t position,
		   struct scale scale)
{
	float chance = (float)(s->lanes + scale.step) / (float)DL_MAX(scale.n, 1u);

	/* A third more than it is: with what a miss costs, nothing is won by chance. */
	if (scale.buffer > 0)
		chance = (float)places_about(s, scale.buffer) * 4 / 3 / (float)scale.n;
	else if (lane < s->lanes && s->tails[lane] + scale.step != position)
		chance = (float)(s->lanes + 1) * 2.0f * NEAR_WIDTH / (float)DL_MAX(scale.n, 1u);
	return log2_about(DL_MAX(1.0f / chance, 1.0f));
}

static bool is_tail(const struct score *s, uint32_t position)
{
	for (unsigned i = 0; i < s->lanes; i++)
		if (s->tails[i] == position)
			return true;
	return false;
}

/* Where there are many workers, each comes to its lane once in so many opens; in small datasets so
 * many lanes would be no evidence. */
static bool may_grow(const struct score *s, uint32_t n)
{
	return s->lanes < SCORE_LANES ||
	       (s->lanes < DL_MIN(n / LANE_SAMPLES, (uint32_t)SCORE_LANES_MOST) &&
		s->opens - s->moved[s->lanes - 1] < SCORE_LANES_MOST);
}

/* Room for a new lane: the oldest goes, or where many have not gone on, which another job's opens
 * may have begun, the oldest of those. */
static unsigned new_lane(struct score *s, uint32_t n)
{
	unsigned idle = 0, oldest = 0;

	if (may_grow(s, n))
		return s->lanes++;
	if (s->lanes > SCORE_LANES && s->opens - s->moved[s->lanes - 1] > 4 * SCORE_LANES_MOST)
		s->lanes--;
	for (unsigned i = 0; i < s->lanes; i++)
		if (s->runs[i] == 0) {
			oldest = i;
			idle++;
		}
	return idle > s->lanes / 2 ? oldest : s->lanes - 1;
}

/* Of an order that cannot be found this is most of what an open costs. */
bool score_open(struct score *s, uint32_t position, struct scale scale)
{
	bool known = position != POSITION_NONE;
	unsigned lane = known ? lane_of(s, position, scale) : s->lanes;
	bool goes_on = known && continues(s, position, lane, scale);
	uint32_t run;

	if (is_tail(s, position))              /* opened again */
		return goes_on;
	if (goes_on)
		s->bits += worth(s, lane, position, scale);
	else
		s->bits = DL_MAX(s->bits - SCORE_MISS, 0.0f);
	if (!known)
		return false;
	if (lane == s->lanes) {
		lane = new_lane(s, scale.n);
		run = 0;
	} else {
		position = DL_MAX(position, s->tails[lane]);
		run = s->runs[lane] + 1;
	}
	memmove(&s->tails[1], &s->tails[0], lane * sizeof(s->tails[0]));
	memmove(&s->moved[1], &s->moved[0], lane * sizeof(s->moved[0]));
	memmove(&s->runs[1], &s->runs[0], lane * sizeof(s->runs[0]));
	s->runs[0] = run;
	s->tails[0] = position;
	s->moved[0] = ++s->opens;
	return goes_on;
}

void score_restart(struct score *s, struct scale scale)
{
	unsigned most = scale.buffer > 0 ? 0 : scale.n / LANE_SAMPLES / 2;

	most = DL_MAX(most, LANES_LEAST);
	s->lanes = DL_MIN(s->lanes, most);     /* of SCORE_LANES_MOST at most */
	/* Among many one or another has gone on by chance. */
	for (unsigned i = LANES_LEAST; i < s->lanes; i++)
		s->runs[i] = 0;
}

void score_restart_below(struct score *s, uint32_t below)
{
	unsigned left = 0;

	for (unsigned i = 0; i < s->lanes; i++) {
		if (s->tails[i] >= below)
			continue;
		s->tails[left] = s->tails[i];
		s->moved[left] = s->moved[i];
		s->runs[left++] = s->runs[i];
	}
	s->lanes = left;
}

uint32_t score_start(const struct score *s, uint32_t step)
{
	uint32_t lowest = UINT32_MAX;

	for (unsigned i = 0; i < s->lanes; i++) {
		uint64_t run = DL_MIN((uint64_t)s->runs[i] * step, (uint64_t)s->tails[i]);

		if (s->runs[i] > 0)
			lowest = DL_MIN(lowest, s->tails[i] - (uint32_t)run);
	}
	return lowest == UINT32_MAX ? 0 : lowest;
}

bool score_lately(const struct score *s, uint32_t *ret_low, uint32_t *ret_high)
{
	uint32_t low = UINT32_MAX, high = 0;

	for (unsigned i = 0; i < s->lanes && s->opens - s->moved[i] < 64; i++) {
		if (s->runs[i] < 2)
			continue;
		low = DL_MIN(low, s->tails[i]);
		high = DL_MAX(high, s->tails[i]);
	}
	if (low > high)
		return false;
	*ret_low = low;
	*ret_high = high;
	return true;
}
