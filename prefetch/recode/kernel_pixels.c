#include "prefetch/recode/kernel_parts.h"

#include <string.h>

#include "prefetch/recode/jpeg_image.h"

typedef float line __attribute__((vector_size(32)));   /* 8 values: a row of a block */
typedef int32_t whole __attribute__((vector_size(32)));
typedef uint16_t steps8 __attribute__((vector_size(16)));
typedef int16_t short8 __attribute__((vector_size(16)));
typedef uint8_t bytes8 __attribute__((vector_size(8)));

/* cos(k pi / 16) / 2 */
#define C1 0.49039264f
#define C2 0.46193977f
#define C3 0.41573481f
#define C4 0.35355339f
#define C5 0.27778512f
#define C6 0.19134172f
#define C7 0.09754516f

/* Each of the 8 columns of x, from frequencies to values. */
static inline void inverse_columns(line x[8])
{
	line sum = (x[0] + x[4]) * C4, difference = (x[0] - x[4]) * C4;
	line low = x[2] * C2 + x[6] * C6, high = x[2] * C6 - x[6] * C2;
	line even[4] = { sum + low, difference + high, difference - high, sum - low };
	line odd[4] = {
		x[1] * C1 + x[3] * C3 + x[5] * C5 + x[7] * C7,
		x[1] * C3 - x[3] * C7 - x[5] * C1 - x[7] * C5,
		x[1] * C5 - x[3] * C1 + x[5] * C7 + x[7] * C3,
		x[1] * C7 - x[3] * C5 + x[5] * C3 - x[7] * C1,
	};

	for (unsigned i = 0; i < 4; i++) {
		x[i] = even[i] + odd[i];
		x[7 - i] = even[i] - odd[i];
	}
}

static inline void transpose(line x[8])
{
	line t[8], u[8];

	for (unsigned i = 0; i < 8; i += 2) {
		t[i] = __builtin_shufflevector(x[i], x[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
		t[i + 1] = __builtin_shufflevector(x[i], x[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
	}
	for (unsigned i = 0; i < 8; i += 4)
		for (unsigned j = i; j < i + 2; j++) {
			u[j] = __builtin_shufflevector(t[j], t[j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
			u[j + 2] = __builtin_shufflevector(t[j], t[j + 2], 2, 3, 10, 11, 6, 7, 14,
							   15);
		}
	for (unsigned j = 0; j < 4; j++) {
		x[j] = __builtin_shufflevector(u[j], u[j + 4], 0, 1, 2, 3, 8, 9, 10, 11);
		x[j + 4] = __builtin_shufflevector(u[j], u[j + 4], 4, 5, 6, 7, 12, 13, 14, 15);
	}
}

/* Each of the 8 columns of x, from values to frequencies: the transpose of the above. */
static inline void forward_columns(line x[8])
{
	line sum[4], difference[4];

	for (unsigned i = 0; i < 4; i++) {
		sum[i] = x[i] + x[7 - i];
		difference[i] = x[i] - x[7 - i];
	}
	x[0] = (sum[0] + sum[1] + sum[2] + sum[3]) * C4;
	x[4] = (sum[0] - sum[1] - sum[2] + sum[3]) * C4;
	x[2] = (sum[0] - sum[3]) * C2 + (sum[1] - sum[2]) * C6;
	x[6] = (sum[0] - sum[3]) * C6 - (sum[1] - sum[2]) * C2;
	x[1] = difference[0] * C1 + difference[1] * C3 + difference[2] * C5 + difference[3] * C7;
	x[3] = difference[0] * C3 - difference[1] * C7 - difference[2] * C1 - difference[3] * C5;
	x[5] = difference[0] * C5 - difference[1] * C1 + difference[2] * C7 + difference[3] * C3;
	x[7] = difference[0] * C7 - difference[1] * C5 + difference[2] * C3 - difference[3] * C1;
}

static inline void put_row(line x, uint8_t *to)
{
	/* 0.5 to round, 128 as JPEG has it. */
	whole v = __builtin_convertvector(x + 128.5f, whole);
	bytes8 b;

	v &= v >= 0;
	v = (v & (v <= 255)) | (255 & (v > 255));
	b = __builtin_convertvector(v, bytes8);
	memcpy(to, &b, sizeof(b));
}

static inline line row_of(const int16_t *from)
{
	short8 row;

	memcpy(&row, from, sizeof(row));
	return __builtin_convertvector(row, line);
}

void pixels_of(const int16_t *blocks, const float *steps, uint32_t columns, uint8_t *to,
	       size_t stride)
{
	for (uint32_t b = 0; b < columns; b++, blocks += 64, to += 8) {
		line x[8];

		for (unsigned i = 0; i < 8; i++) {
			line step;

			memcpy(&step, steps + 8 * i, sizeof(step));
			x[i] = row_of(blocks + 8 * i) * step;
		}
		inverse_columns(x);
		transpose(x);
		inverse_columns(x);
		transpose(x);
		for (unsigned i = 0; i < 8; i++)
			put_row(x[i], to + i * stride);
	}
}

static inline void put_coefficients(line x, int16_t *to)
{
	/* Rounds half up; what is negative is moved into the positive first. */
	whole v = __builtin_convertvector(x + 32768.5f, whole) - 32768;
	short8 row = __builtin_convertvector(v, short8);

	memcpy(to, &row, sizeof(row));
}

void blocks_of(const float *from, size_t stride, uint32_t columns, int16_t *to)
{
	for (uint32_t b = 0; b < columns; b++, from += 8, to += 64) {
		line x[8];

		for (unsigned i = 0; i < 8; i++)
			memcpy(&x[i], from + i * stride, sizeof(x[i]));
		forward_columns(x);
		transpose(x);
		forward_columns(x);
		transpose(x);
		for (unsigned i = 0; i < 8; i++)
			put_coefficients(x[i], to + 8 * i);
	}
}

/* Each of the 8 columns of x, from frequencies to the means of two values each: what is left of a
 * wave is cos(k pi / 16) of it, and one of frequency 8 - k looks like one of k then.
 */
static inline void halve_columns(const line x[8], line to[4], bool mirrored)
{
	line first = x[0] * C4, second = (x[1] * C1 - x[7] * C7) * 2;
	line third = (x[2] * C2 - x[6] * C6) * 2, fourth = (x[3] * C3 - x[5] * C5) * 2;
	line even[2] = { first + third * C4, first - third * C4 };
	line odd[2] = { second * C2 + fourth * C6, second * C6 - fourth * C2 };
	unsigned last = mirrored ? 3 : 0;

	for (unsigned i = 0; i < 2; i++) {
		to[last ^ i] = even[i] + odd[i];
		to[last ^ (3 - i)] = even[i] - odd[i];
	}
}

/* Two blocks, one above the other, become 4 columns of 8 means; these are rows in `to`. */
static inline void halve_two(const int16_t *above, const int16_t *below, bool mirrored, line to[4],
			     line *squares)
{
	line x[8], means[8];

	for (unsigned half = 0; half < 2; half++) {
		const int16_t *from = half ? below : above;

		for (unsigned i = 0; i < 8; i++) {
			x[i] = row_of(from + 8 * i);
			*squares += x[i] * x[i];
		}
		halve_columns(x, means + 4 * half, half && above == below);
	}
	transpose(means);
	halve_columns(means, to, mirrored);
}

float halve_of(const int16_t *above, const int16_t *below, uint32_t columns, int16_t *to)
{
	line lost = { 0 };
	float sum = 0;

	for (uint32_t b = 0; b < columns; b += 2, to += 64) {
		size_t left = (size_t)b * 64, right = b + 1 < columns ? left + 64 : left;
		line x[8];

		halve_two(above + left, below + left, false, x, &lost);
		halve_two(above + right, below + right, left == right, x + 4, &lost);
		forward_columns(x);
		transpose(x);
		forward_columns(x);
		for (unsigned i = 0; i < 8; i++) {
			put_coefficients(x[i], to + 8 * i);
			lost -= 4 * x[i] * x[i];
		}
	}
	for (unsigned i = 0; i < 8; i++)
		sum += lost[i];
	return sum;
}

bool scale_of(const int16_t *from, const uint16_t steps[64], const int16_t most[64], size_t count,
	      int16_t *to)
{
	short8 beyond = { 0 };
	bool found = false;

	for (size_t i = 0; i < 8 * count; i++) {
		short8 v, limit;
		steps8 s;

		memcpy(&v, from + 8 * i, sizeof(v));
		memcpy(&s, steps + i % 8 * 8, sizeof(s));
		memcpy(&limit, most + i % 8 * 8, sizeof(limit));
		beyond |= (v > limit) | (v < -limit);
		v = (short8)((steps8)v * s);
		memcpy(to + 8 * i, &v, sizeof(v));
	}
	for (unsigned i = 0; i < 8; i++)
		found |= beyond[i] != 0;
	return !found;
}

/* A wave has 1/4 of its coefficient in a pixel at most, and the mean 1/8. */
static inline int pixel_bound(const int16_t *block)
{
	short8 sums = { 0 };
	whole sum;

	for (unsigned i = 0; i < 8; i++) {
		short8 v, sign;

		memcpy(&v, block + 8 * i, sizeof(v));
		sign = v >> 15;
		sums += (v ^ sign) - sign;
	}
	sum = __builtin_convertvector(sums, whole);
	sum += __builtin_shufflevector(sum, sum, 4, 5, 6, 7, 0, 1, 2, 3);
	sum += __builtin_shufflevector(sum, sum, 2, 3, 0, 1, 6, 7, 4, 5);
	return (sum[0] + sum[1] - abs(block[0]) / 2) / 4 + 1;
}

bool within_of(const int16_t *blocks, size_t count, float most)
{
	whole beyond = { 0 };
	bool found = false;

	for (size_t b = 0; b < count; b++, blocks += 64) {
		line x[8];

		if ((float)pixel_bound(blocks) <= most)
			continue;
		for (unsigned i = 0; i < 8; i++)
			x[i] = row_of(blocks + 8 * i);
		inverse_columns(x);
		transpose(x);
		inverse_columns(x);
		for (unsigned i = 0; i < 8; i++)
			beyond |= (x[i] > most) | (x[i] < -most);
	}
	for (unsigned i = 0; i < 8; i++)
		found |= beyond[i] != 0;
	return !found;
}
