/* In which order pieces come.
 *
 * There are far fewer pieces than samples, and the samples of a piece come at about the same time
 * in each epoch: so two epochs with any two random orders of the pieces are correlated (with
 * either sign) as only shuffles of so few things can be.  Therefore the orders of CYCLE epochs are
 * made one after the other, each from a random one by swaps that bring its correlation with each
 * of those before it to what two shuffles of all samples would have by chance.
 */
#include "prefetch/order/draw_internal.h"

#include <string.h>

#define CYCLE 64u                      /* epochs that know of each other */
#define TRIES_MIN 200000u              /* swaps to be tried; see steer() */
#define SHARE 0.9                      /* of the chance correlation; samples do the rest */
#define EXACT 0.1                      /* of it, that a correlation may be off its aim */

struct steering {
	const struct draw *draw;
	const struct stratum *strata;
	uint32_t count, total;
	uint32_t *stratum_of;          /* by piece */
	float *when;                   /* [epoch in the cycle][piece]: -1 … 1, early … late */
	double *off;                   /* by epoch: correlation less aim, times total / 3 */
};

/* About normal, variance 1. */
static double random_normal(struct random *r)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += (double)(random_next(r) >> 11) * 0x1p-53;
	return sum - 6;
}

/* Newton's; and no libm. */
static double root(double x)
{
	double y = x > 1 ? x : 1;

	for (int i = 0; i < 64; i++)
		y = (y + x / y) / 2;
	return y;
}

static float *whens(const struct steering *s, uint32_t epoch)
{
	return s->when + (size_t)epoch * s->total;
}

static void begin_random(const struct steering *s, struct random *r, uint32_t *order, float *when)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct stratum *t = &s->strata[i];
		uint32_t *at = order + t->first;

		for (uint32_t k = 0; k < t->pieces; k++)
			at[k] = k;
		random_shuffle(r, at, t->pieces);
		for (uint32_t k = 0; k < t->pieces; k++)
			when[t->first + at[k]] =
				((float)(2 * k + 1) - (float)t->pieces) / (float)t->pieces;
	}
}

static void aim(const struct steering *s, struct random *r, uint32_t epoch, double chance)
{
	const float *now = whens(s, epoch);

	for (uint32_t e = 0; e < epoch; e++) {
		const float *then = whens(s, e);
		double sum = 0;

		for (uint32_t i = 0; i < s->total; i++)
			sum += (double)(now[i] * then[i]);
		s->off[e] = sum - SHARE * chance * random_normal(r);
	}
}

/* What swapping the times of two pieces would do to the sum of squares. */
static double gain(const struct steering *s, uint32_t epoch, uint32_t a, uint32_t b)
{
	float step = whens(s, epoch)[b] - whens(s, epoch)[a];
	double sum = 0;

	for (uint32_t e = 0; e < epoch; e++) {
		const float *then = whens(s, e);
		double change = (double)(step * (then[a] - then[b]));

		sum += change * (2 * s->off[e] + change);
	}
	return -sum;
}

static void swap(const struct steering *s, uint32_t epoch, uint32_t a, uint32_t b)
{
	float *now = whens(s, epoch), kept = now[a];
	float step = now[b] - now[a];

	for (uint32_t e = 0; e < epoch; e++) {
		const float *then = whens(s, e);

		s->off[e] += (double)(step * (then[a] - then[b]));
	}
	now[a] = now[b];
	now[b] = kept;
}

static bool on_aim(const struct steering *s, uint32_t epoch, double chance)
{
	double sum = 0;

	for (uint32_t e = 0; e < epoch; e++)
		sum += s->off[e] * s->off[e];
	return sum <= EXACT * EXACT * chance * chance * epoch;
}

/* Few pieces may not allow what is aimed at: then as close as so many tries come. */
static void steer(const struct steering *s, struct random *r, uint32_t epoch)
{
	/* Of shuffles of n samples the correlation is 1 / sqrt(n); of the sum over pieces, whose
	 * times have variance 1/3: */
	double chance = (double)s->total / 3 / root((double)s->draw->n);
	uint32_t tries = DL_MAX(TRIES_MIN / (epoch + 1), s->total * 4);

	aim(s, r, epoch, chance);
	for (uint32_t i = 0; i < tries; i++) {
		uint32_t a = random_below(r, s->total);
		const struct stratum *t = &s->strata[s->stratum_of[a]];
		uint32_t b = t->first + random_below(r, t->pieces);

		if (gain(s, epoch, a, b) > 0)
			swap(s, epoch, a, b);
		if (i % 256 == 0 && on_aim(s, epoch, chance))
			return;
	}
}

static void read_off(const struct steering *s, uint32_t epoch, uint32_t *ret)
{
	const float *when = whens(s, epoch);

	for (uint32_t i = 0; i < s->total; i++) {
		const struct stratum *t = &s->strata[s->stratum_of[i]];
		float rank = (when[i] * (float)t->pieces + (float)t->pieces - 1) / 2;

		ret[t->first + (uint32_t)(rank + 0.5f)] = i - t->first;
	}
}

static void fini(struct steering *s)
{
	free(s->stratum_of);
	free(s->when);
	free(s->off);
}

int pieces_order(const struct draw *d, const struct stratum *strata, uint32_t count,
		 uint32_t total, uint32_t *ret)
{
	uint32_t last = (uint32_t)(d->epoch % CYCLE);
	dl_cleanup(fini) struct steering s = {
		.draw = d, .strata = strata, .count = count, .total = total,
		.stratum_of = calloc(total, sizeof(*s.stratum_of)),
		.when = calloc((size_t)(last + 1) * total, sizeof(*s.when)),
		.off = calloc(CYCLE, sizeof(*s.off)),
	};

	if (!s.stratum_of || !s.when || !s.off)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < strata[i].pieces; k++)
			s.stratum_of[strata[i].first + k] = i;
	for (uint32_t e = 0; e <= last; e++) {
		struct random r = random_of(d->seed, d->epoch - last + e, 1);

		begin_random(&s, &r, ret, whens(&s, e));
		steer(&s, &r, e);
	}
	read_off(&s, last, ret);
	return 0;
}
