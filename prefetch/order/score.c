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

static unsigned lane_before(const struct score *s, uint32_t position)
{
	unsigned i = 0;

	while (i < s->lanes && s->tails[i] + 1 != position)
		i++;
	return i;
}

bool score_continues(const struct score *s, uint32_t position)
{
	return lane_before(s, position) < s->lanes || (s->lanes == 0 && position == 0);
}

void score_open(struct score *s, uint32_t position, uint32_t n)
{
	unsigned lane = lane_before(s, position);
	float chance = (float)DL_MAX(s->lanes, 1u) / (float)DL_MAX(n, 1u);

	if (position == POSITION_NONE) {
		s->bits = DL_MAX(s->bits - SCORE_MISS, 0.0f);
		return;
	}
	if (score_continues(s, position))
		s->bits += log2_about(DL_MAX(1.0f / chance, 1.0f));
	else
		s->bits = DL_MAX(s->bits - SCORE_MISS, 0.0f);
	if (lane == s->lanes) {                /* a new lane; the oldest makes room */
		s->lanes = DL_MIN(s->lanes + 1, (unsigned)SCORE_LANES);
		lane = s->lanes - 1;
	}
	memmove(&s->tails[1], &s->tails[0], lane * sizeof(s->tails[0]));
	s->tails[0] = position;
}

uint32_t score_lowest(const struct score *s)
{
	uint32_t lowest = s->tails[0];

	for (unsigned i = 1; i < s->lanes; i++)
		lowest = DL_MIN(lowest, s->tails[i]);
	return lowest;
}
