#include "prefetch/recode/luma.h"

#include <string.h>

#define SAMPLE 128                     /* blocks */

int luma_sample_init(const struct luma *l, struct luma_sample *ret)
{
	size_t all = (size_t)l->from->columns * l->from->rows, count = DL_MIN(all, (size_t)SAMPLE);
	struct luma_sample s = {
		.luma = l, .count = count,
		.blocks = room_take(l->room, count, 64 * sizeof(int16_t)),
		.levels = room_take(l->room, count, 64 * sizeof(int16_t)),
		.price = room_take(l->room, count, sizeof(float)),
		.weight = room_take(l->room, count, sizeof(float)),
		.worth = room_take(l->room, count, sizeof(float)),
	};

	if (!s.blocks || !s.levels || !s.price || !s.weight || !s.worth)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		size_t from = (2 * i + 1) * all / (2 * count);

		memcpy(s.blocks + 64 * i, l->from->at + 64 * from, 64 * sizeof(int16_t));
		s.weight[i] = l->weight[from];
		s.worth[i] = l->worth[from];
	}
	*ret = s;
	return 0;
}

static float error_of(const int16_t *block, const int16_t *levels, const struct quantiser *q)
{
	float sum[8] = { 0 }, all = 0;

	for (unsigned i = 0; i < 8; i++)
		for (unsigned j = 0; j < 8; j++) {
			unsigned k = 8 * i + j;
			float d = (float)block[k] - (float)levels[k] * q->step[k];

			sum[j] += d * d * seen_by_ssim[k];
		}
	for (unsigned j = 0; j < 8; j++)
		all += sum[j];
	return all / 64;
}

double luma_sample_try(struct luma_sample *s, float step)
{
	struct quantiser q;
	uint16_t steps[64];
	double sum = 0;

	coarser_steps(s->luma->from->quant, step, steps);
	quantiser_init(&q, steps, seen_by_ssim);
	for (size_t i = 0; i < s->count; i++)
		s->price[i] = s->worth[i] * step * step;
	s->luma->kernel->quantise(&q, s->blocks, s->price, s->count, s->levels);
	for (size_t i = 0; i < s->count; i++)
		sum += (double)(s->weight[i]
				* error_of(s->blocks + 64 * i, s->levels + 64 * i, &q));
	return sum / (double)s->count;
}
