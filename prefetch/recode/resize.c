#include "prefetch/recode/resize.h"

#include <math.h>

static double cubic(double x)
{
	x = fabs(x);
	if (x < 1)
		return (1.5 * x - 2.5) * x * x + 1;
	return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

static void weigh(struct resize *r, uint32_t i)
{
	double scale = (double)r->from / r->to, middle = (i + 0.5) * scale - 0.5, sum = 0;
	float *weight = r->weight + (size_t)i * r->taps;
	int64_t first = (int64_t)ceil(middle - 2 * scale);

	first = DL_MAX(first, (int64_t)0);
	first = DL_MIN(first, (int64_t)(r->from - r->taps));
	r->first[i] = (uint32_t)first;
	for (uint32_t k = 0; k < r->taps; k++)
		sum += cubic(((double)(first + k) - middle) / scale);
	for (uint32_t k = 0; k < r->taps; k++)
		weight[k] = (float)(cubic(((double)(first + k) - middle) / scale) / sum);
}

int resize_init(struct resize *r, uint32_t from, uint32_t to)
{
	uint64_t taps = (uint64_t)4 * from / to + 2;

	*r = (struct resize){
		.from = from, .to = to, .taps = (uint32_t)DL_MIN(taps, (uint64_t)from),
	};
	r->first = malloc(to * sizeof(*r->first));
	r->weight = malloc((size_t)to * r->taps * sizeof(*r->weight));
	if (!r->first || !r->weight) {
		resize_fini(r);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < to; i++)
		weigh(r, i);
	return 0;
}

void resize_fini(struct resize *r)
{
	free(r->first);
	free(r->weight);
	*r = (struct resize){ 0 };
}

static unsigned scaled(unsigned side, unsigned num, unsigned den)
{
	uint64_t n = ((uint64_t)side * num + den / 2) / den;

	return n ? (unsigned)n : 1;
}

void resize_sides(unsigned *width, unsigned *height, unsigned max_short, unsigned max_long)
{
	unsigned least = DL_MIN(*width, *height), most = DL_MAX(*width, *height);
	unsigned num = 1, den = 1;

	if (max_short && least > max_short)
		num = max_short, den = least;
	if (max_long && scaled(most, num, den) > max_long)
		num = max_long, den = most;
	*width = scaled(*width, num, den);
	*height = scaled(*height, num, den);
}
