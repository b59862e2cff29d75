#include "prefetch/recode/search.h"

#define TRIES 5
/* Windows that are not looked at, and how programs round, take that much from an SSIM; seldom more,
 * see luma.c. */
#define GUARD(floor) (0.02 * (1 - (floor)) + 0.0001)
/* Above that.  The first try comes down where it is aimed at give or take 7 % of what is lost; a
 * second one takes more time than its bytes are worth.
 */
#define AIM(floor) (0.08 * (1 - (floor)))
#define NEAR(floor) (0.2 * (1 - (floor)))      /* a further try is not worth it */
#define FACTOR 1.14                    /* the usual one */
#define STEP_UNIT (1.0f / 16)
#define STEPS 33                       /* on the curve, four to an octave */

/* The sample's 1 - SSIM by step, each found when it is needed first. */
struct curve {
	struct luma_sample sample;
	double at[STEPS];              /* < 0: not known yet */
};

static float step_at(unsigned i)
{
	static const float quarter[4] = { 1, 1.18921f, 1.41421f, 1.68179f };

	return quarter[i % 4] * (float)(1u << i / 4) / 2;
}

static double curve_at(struct curve *c, unsigned i)
{
	if (c->at[i] < 0)
		c->at[i] = luma_sample_try(&c->sample, step_at(i));
	return c->at[i];
}

/* The step at which the curve reaches `loss`. */
static float curve_step(struct curve *c, double loss)
{
	unsigned low = 0, high = STEPS - 1;
	double from, to;

	/* The ends are looked at last: hardly an image comes there, and the finest costs most. */
	while (high - low > 1) {
		unsigned middle = (low + high) / 2;

		if (curve_at(c, middle) < loss)
			low = middle;
		else
			high = middle;
	}
	from = curve_at(c, low);
	to = curve_at(c, high);
	if (loss <= from || loss >= to)
		return step_at(loss <= from ? low : high);
	return step_at(low) + (step_at(high) - step_at(low)) * (float)((loss - from) / (to - from));
}

static double curve_loss(struct curve *c, float step)
{
	unsigned i = 0;
	float part;

	while (i < STEPS - 2 && step_at(i + 1) <= step)
		i++;
	part = (step - step_at(i)) / (step_at(i + 1) - step_at(i));
	return curve_at(c, i) + (curve_at(c, i + 1) - curve_at(c, i)) * (double)part;
}

static float rounded(float step)
{
	step = (float)(int)(step / STEP_UNIT + 0.5f) * STEP_UNIT;
	return step < 1 ? 1 : step > STEP_MAX ? STEP_MAX : step;
}

static int search_along(struct luma *l, struct curve *c, double floor, float *step, double *ssim)
{
	double target = floor + GUARD(floor), aim = target + AIM(floor), factor = FACTOR;
	float good = 0, bad = STEP_MAX + STEP_UNIT, latest = 0;

	for (unsigned i = 0; i < TRIES && bad - good > 1.5f * STEP_UNIT; i++) {
		float next = rounded(curve_step(c, (1 - aim) / factor));

		next = next >= bad ? bad - STEP_UNIT : next <= good ? good + STEP_UNIT : next;
		latest = next;
		*ssim = luma_try(l, next);
		if (*ssim >= target)
			good = next;
		else
			bad = next;
		if (*ssim >= target && *ssim <= target + NEAR(floor))
			break;
		factor = (1 - *ssim + 1e-9) / (curve_loss(c, next) + 1e-9);
	}
	*step = DL_MAX(good, 1.0f);
	if (*step != latest)
		*ssim = luma_try(l, *step);
	return 0;
}

int search_step(struct luma *l, double floor, float *step, double *ssim)
{
	struct curve c;
	int r = luma_sample_init(l, &c.sample);

	if (r < 0)
		return r;
	for (unsigned i = 0; i < STEPS; i++)
		c.at[i] = -1;
	return search_along(l, &c, floor, step, ssim);
}
