#include "prefetch/recode/pixels.h"

#include <string.h>

#define C1 (0.01f * 255 * 0.01f * 255)
#define C2 (0.03f * 255 * 0.03f * 255)

static const float taps[SSIM_TAPS] = {
	0.00102838f, 0.00759876f, 0.03600077f, 0.10936069f, 0.21300554f, 0.26601172f,
	0.21300554f, 0.10936069f, 0.03600077f, 0.00759876f, 0.00102838f,
};

static uint32_t windows(uint32_t side)
{
	return side - SSIM_TAPS + 1;
}

/* The first and the last row of windows are as far from the edges as each other. */
static uint32_t rows_of(uint32_t height, uint32_t step)
{
	return (windows(height) + step - 1) / step;
}

static uint32_t row_at(uint32_t height, uint32_t step, uint32_t i)
{
	uint32_t rows = rows_of(height, step);

	return (windows(height) - 1 - (rows - 1) * step) / 2 + i * step;
}

static void across(const float *from, uint32_t count, float *to)
{
	for (uint32_t x = 0; x < count; x++) {
		float sum = 0;

		for (unsigned i = 0; i < SSIM_TAPS; i++)
			sum += from[x + i] * taps[i];
		to[x] = sum;
	}
}

static void down(const uint8_t *p, const uint8_t *q, size_t stride, uint32_t width, float *mean,
		 float *product)
{
	memset(mean, 0, width * sizeof(*mean));
	memset(product, 0, width * sizeof(*product));
	for (unsigned i = 0; i < SSIM_TAPS; i++, p += stride, q += stride)
		for (uint32_t x = 0; x < width; x++) {
			mean[x] += taps[i] * (float)q[x];
			product[x] += taps[i] * (float)(p[x] * q[x]);
		}
}

int ssim_base_init(struct ssim_base *b, const struct pixels *original, uint32_t step)
{
	uint32_t width = original->width, rows = rows_of(original->height, step);
	float *work = malloc(((size_t)2 * rows + 8) * width * sizeof(float));

	if (!work)
		return -ENOMEM;
	*b = (struct ssim_base){
		.pixels = original, .step = step, .work = work,
		.means = work + (size_t)8 * width, .squares = work + ((size_t)8 + rows) * width,
	};
	for (uint32_t i = 0; i < rows; i++) {
		const uint8_t *p = original->at
			+ row_at(original->height, step, i) * original->stride;

		down(p, p, original->stride, width, work, work + width);
		across(work, windows(width), b->means + (size_t)i * width);
		across(work + width, windows(width), b->squares + (size_t)i * width);
	}
	return 0;
}

void ssim_base_fini(struct ssim_base *b)
{
	free(b->work);
}

static double row_against(const struct ssim_base *b, const struct pixels *other, uint32_t i)
{
	size_t stride = other->stride;
	uint32_t width = other->width, y = row_at(other->height, b->step, i);
	const uint8_t *p = b->pixels->at + y * stride, *q = other->at + y * stride;
	float *w = b->work, *mean = w + (size_t)4 * width, *square = mean + width;
	float *product = square + width;
	const float *x_mean = b->means + (size_t)i * width;
	const float *x_square = b->squares + (size_t)i * width;
	double sum = 0;

	down(q, q, stride, width, w, w + width);
	across(w, windows(width), mean);
	across(w + width, windows(width), square);
	down(p, q, stride, width, w, w + width);
	across(w + width, windows(width), product);
	for (uint32_t x = 0; x < windows(width); x++) {
		float mx = x_mean[x], my = mean[x];
		float vx = x_square[x] - mx * mx, vy = square[x] - my * my;
		float cov = product[x] - mx * my;

		sum += (double)((2 * mx * my + C1) * (2 * cov + C2)
				/ ((mx * mx + my * my + C1) * (vx + vy + C2)));
	}
	return sum / windows(width);
}

double ssim_against(const struct ssim_base *b, const struct pixels *other)
{
	uint32_t rows = rows_of(other->height, b->step);
	double sum = 0;

	for (uint32_t i = 0; i < rows; i++)
		sum += row_against(b, other, i);
	return sum / rows;
}
