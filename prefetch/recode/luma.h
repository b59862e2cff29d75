/* The brightness of an image: coded with a step, and how alike that is to the original.
 *
 * Every frequency has the same step, or the source's where that is larger: SSIM on luma tells
 * frequencies apart only by how much of them its windows see.
 *
 * Thread-safety: one thread at a time.
 */
#pragma once
#include "prefetch/recode/jpeg_image.h"
#include "prefetch/recode/kernel.h"

#define STEP_MAX 255.0f                /* what a table of 8 bits holds */

struct luma {
	const struct kernel *kernel;
	const struct jpeg_plane *from;
	struct recode_room *room;
	uint32_t width, height;
	uint32_t windows, each;        /* rows of windows that are looked at, of how many one */
	size_t stride;
	uint8_t *original, *tried;     /* pixels */
	float *mean, *square;          /* of the original: [windows][stride] */
	float *weight;                 /* of an error, by block: 1 / (2 * variance + C2) */
	float *worth;                  /* of a bit, by block, in units of the image's usual */
	float *price, *work;
	struct jpeg_plane coded;       /* the latest try */
};

/* -ENOMEM.  It lies in the image's room, and is of its first plane. */
int luma_init(const struct jpeg_image *image, struct luma *ret) DL_MUST_CHECK;

/* Code it; l->coded has the result.  The mean SSIM. */
double luma_try(struct luma *l, float step);

/* The mean squared error of the latest try. */
double luma_error(const struct luma *l);

/* The step at which all frequencies of `p` that are finer become `step`. */
void coarser_steps(const uint16_t source[64], float step, uint16_t ret[64]);

/* seen: how much of an error at each frequency counts; NULL: all of it. */
void quantiser_init(struct quantiser *q, const uint16_t steps[64], const float *seen);
extern const float seen_by_ssim[64];

/* 1 - SSIM as the coefficients of a sample of blocks tell it, to be multiplied by a factor that
 * the image decides.  Each costs a small part of luma_try().
 */
struct luma_sample {
	const struct luma *luma;
	size_t count;
	int16_t *blocks, *levels;
	float *price, *weight, *worth;
};

int luma_sample_init(const struct luma *l, struct luma_sample *ret) DL_MUST_CHECK;
double luma_sample_try(struct luma_sample *s, float step);
