#include "prefetch/recode/luma.h"
#include "prefetch/recode/zigzag.h"

/* 1 - exp(-sigma^2 (u^2 + v^2)): what is left of a wave once the weighted mean of its window, with
 * sigma 1.5, is taken off.  A DC is wrong in one block and not in the next, so it is seen as well.
 */
const float seen_by_ssim[64] = {
	0.3800f, 0.2932f, 0.7504f, 0.9560f, 0.9961f, 0.9998f, 1, 1,
	0.2932f, 0.5004f, 0.8236f, 0.9689f, 0.9973f, 0.9999f, 1, 1,
	0.7504f, 0.8236f, 0.9377f, 0.9890f, 0.9990f, 1, 1, 1,
	0.9560f, 0.9689f, 0.9890f, 0.9981f, 0.9998f, 1, 1, 1,
	0.9961f, 0.9973f, 0.9990f, 0.9998f, 1, 1, 1, 1,
	0.9998f, 0.9999f, 1, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1,
};

/* A step that is only a little larger than the source's makes errors and saves next to nothing;
 * the source's own makes none.
 */
#define WORTH_A_CHANGE 1.5f

void coarser_steps(const uint16_t source[64], float step, uint16_t ret[64])
{
	for (unsigned k = 0; k < 64; k++) {
		float own = source[k] ? (float)source[k] : 1;
		float new = step < own * WORTH_A_CHANGE ? own : step;

		/* Of a step in between, low frequencies get the coarser neighbour. */
		if (new > own)
			new += 1 - ((float)zigzag_position(k) + 0.5f) / 64;
		ret[k] = (uint16_t)new;
	}
}

/* Below a half, since a larger level takes more bits. */
#define ROUND 0.42f

/* That a level of 1 at the zigzag position takes, about; where they are rare it ends long runs. */
#define BITS(z) (2 + (float)(z) / 10)

void quantiser_init(struct quantiser *q, const uint16_t steps[64], const float *seen)
{
	for (unsigned k = 0; k < 64; k++) {
		float step = steps[k], square = (seen ? seen[k] : 1) * step * step;

		q->step[k] = step;
		q->inverse[k] = 1 / step;
		q->round[k] = k ? ROUND : 0.5f;
		q->dead[k] = k ? BITS(zigzag_position(k)) / (2 * square) : 0;
	}
}
