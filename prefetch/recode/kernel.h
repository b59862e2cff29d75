/* What takes the time, compiled for several instruction sets (-DKERNEL=…).
 *
 * All give the same bits: lanes are never added up in an order of their own, and products are not
 * fused with sums.  A file's size must not depend on the machine that recodes it.
 *
 * Thread-safety: pure.
 */
#pragma once
#include "base/dl.h"

#define SSIM_TAPS 11                   /* side of a window; a shorter picture has no SSIM */

/* How coefficients of a plane become levels; see quantiser.c. */
struct quantiser {
	float step[64], inverse[64];   /* in natural order, as all here */
	float round[64];               /* added before a level is cut to a whole number */
	/* A level of 1 is 0 up to (0.5 + dead * price) steps, where its squared error, seen as SSIM
	 * does, is worth less than its bits.
	 */
	float dead[64];
};

#define KERNEL_LANES 16                /* that SSIM is computed in */
#define KERNEL_LINE(stride) ((stride) + KERNEL_LANES)      /* values of a line to work with */

struct kernel {
	const char *name;

	/* `columns` blocks make 8 rows of pixels.  Each value is multiplied by steps[k]. */
	void (*pixels)(const int16_t *blocks, const float *steps, uint32_t columns, uint8_t *to,
		       size_t stride);

	/* Values (columns * 64) of `columns` blocks, from 8 rows. */
	void (*blocks)(const float *from, size_t stride, uint32_t columns, int16_t *to);

	/* Two rows of `columns` blocks become one of half as many (rounded up), of the means of 2x2
	 * pixels; where there is no right block or none below (below == above), its neighbour is
	 * mirrored.  The sum of squared errors that this makes.
	 */
	float (*halve)(const int16_t *above, const int16_t *below, uint32_t columns, int16_t *to);

	/* Levels times steps.  `to` may be `from`, or blocks before it.  false: a level is beyond
	 * its most[k], and `to` is of no use.
	 */
	bool (*scale)(const int16_t *from, const uint16_t steps[64], const int16_t most[64],
		      size_t count, int16_t *to);

	/* No pixel, before it is clamped, is further than `most` from the middle between black and
	 * white.  Of coefficients below 4096.
	 */
	bool (*within)(const int16_t *blocks, size_t count, float most);

	/* Levels of `count` blocks.  price[i]: of a bit in block i, in squared errors. */
	void (*quantise)(const struct quantiser *q, const int16_t *from, const float *price,
			 size_t count, int16_t *levels);

	/* The sum of squared errors of levels that quantise() made of `from`. */
	uint64_t (*error)(const int16_t *from, const int16_t *levels, const uint16_t steps[64],
			  size_t count);

	/* Adds how often each AC symbol (run << 4 | size) of a Huffman code comes. */
	void (*count)(const int16_t *levels, size_t count, uint32_t *symbols);

	/* Weighted means of p and p*p in each window of the row whose first pixel row is p.
	 * stride: a multiple of KERNEL_LANES.  work: 3 KERNEL_LINEs; mean, square: stride values.
	 */
	void (*measure)(const uint8_t *p, size_t stride, uint32_t width, float *work, float *mean,
			float *square);

	/* Sum of SSIM over the windows of a row: p measured already, q not yet. */
	float (*compare)(const uint8_t *p, const uint8_t *q, size_t stride, uint32_t width,
			 const float *mean, const float *square, float *work);
};

/* The fastest that this machine can run; kernel_number(0 …) are all of those, then NULL. */
const struct kernel *kernel_best(void);
const struct kernel *kernel_number(unsigned i);
