#include "prefetch/recode/png_rows.h"

#include <math.h>

static uint8_t paeth(int left, int up, int corner)
{
	int to_left = abs(up - corner), to_up = abs(left - corner);
	int to_corner = abs(left + up - 2 * corner);

	if (to_left <= to_up && to_left <= to_corner)
		return (uint8_t)left;
	return (uint8_t)(to_up <= to_corner ? up : corner);
}

static uint8_t predict(int filter, const uint8_t *row, const uint8_t *above, size_t i, size_t step)
{
	int left = i >= step ? row[i - step] : 0, up = above ? above[i] : 0;
	int corner = above && i >= step ? above[i - step] : 0;

	switch (filter) {
	case ROW_SUB:
		return (uint8_t)left;
	case ROW_UP:
		return (uint8_t)up;
	case ROW_AVERAGE:
		return (uint8_t)((left + up) / 2);
	case ROW_PAETH:
		return paeth(left, up, corner);
	default:
		return 0;
	}
}

void row_undo(int filter, uint8_t *row, const uint8_t *above, size_t len, size_t step)
{
	for (size_t i = 0; filter != ROW_NONE && i < len; i++)
		row[i] = (uint8_t)(row[i] + predict(filter, row, above, i, step));
}

void row_apply(int filter, const uint8_t *row, const uint8_t *above, size_t len, size_t step,
	       uint8_t *ret)
{
	for (size_t i = 0; i < len; i++)
		ret[i] = (uint8_t)(row[i] - predict(filter, row, above, i, step));
}

double row_entropy(const uint8_t *row, size_t len)
{
	unsigned count[256] = { 0 };
	double bits = 0;

	for (size_t i = 0; i < len; i++)
		count[row[i]]++;
	for (size_t i = 0; i < DL_COUNT(count); i++)
		if (count[i] > 0)
			bits += count[i] * log2((double)len / count[i]);
	return bits / 8;
}

double row_cost(int filter)
{
	static const double costs[ROW_FILTERS] = { 0.02, 0.1, 0.05, 0.15, 0.35 };

	return costs[filter];
}
