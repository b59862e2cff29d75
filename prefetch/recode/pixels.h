/* Luma as pixels, and how alike two such pictures are.
 *
 * Compiled for several instruction sets; all give the same bits, since a file's size must not
 * depend on the machine that recodes it.
 *
 * Thread-safety: pure.
 */
#pragma once
#include "base/dl.h"

#define SSIM_TAPS 11                   /* a picture with a shorter side has no SSIM */

struct pixels {
	uint8_t *at;                   /* [rows][stride] */
	uint32_t width, height;
	size_t stride;                 /* a multiple of 8, with whole blocks */
};

/* `columns` blocks of coefficients make 8 rows of pixels. */
void pixels_from_blocks(const int16_t *blocks, uint32_t columns, uint8_t *to, size_t stride);

/* The original's part of SSIM, for the windows of every `step`-th row. */
struct ssim_base {
	const struct pixels *pixels;
	uint32_t step;
	float *means, *squares;        /* [windows' rows][width] */
	float *work;
};

/* -ENOMEM */
int ssim_base_init(struct ssim_base *b, const struct pixels *original, uint32_t step)
	DL_MUST_CHECK;
void ssim_base_fini(struct ssim_base *b);

/* The mean SSIM of a picture of the same size. */
double ssim_against(const struct ssim_base *b, const struct pixels *other);
