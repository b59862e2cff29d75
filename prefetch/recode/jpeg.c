#include <string.h>

#include "prefetch/recode/colour.h"
#include "prefetch/recode/kinds.h"
#include "prefetch/recode/resize.h"
#include "prefetch/recode/search.h"

#define GAIN 20                        /* at least a 20th of the source, or it is left alone */

/* cjpeg -quality q has a mean step of luma of about 57 * (2 - q / 50), from 50 on. */
static unsigned quality_of(float step)
{
	float quality = step < 57 ? 100 - step * 50 / 57 : 50 * 57 / step;

	return quality < 1 ? 1 : (unsigned)quality;
}

static enum recode_reason finish(const struct jpeg_image *from, struct luma *l, float step,
				 struct bytes source, size_t most, struct bytes *ret)
{
	struct jpeg_image coded = {
		.room = from->room, .width = from->width, .height = from->height,
		.components = from->components,
	};

	coded.plane[0] = l->coded;
	if (from->components == 3 && colour_code(from, step, luma_error(l), &coded) < 0)
		return RECODE_NO_MEMORY;
	return jpeg_write(&coded, source, most, ret);
}

/* With a floor of 1 the source's steps are kept. */
static int choose_step(struct luma *l, double floor, float *step, double *ssim)
{
	if (floor < 1)
		return search_step(l, floor, step, ssim);
	*step = 1;
	*ssim = luma_try(l, *step);
	return 0;
}

static enum recode_reason recode_image(const struct jpeg_image *image, double floor,
				       struct bytes source, size_t most, struct recoded *ret)
{
	struct luma l;
	struct bytes result;
	enum recode_reason reason;
	void *data;
	float step;
	double ssim;

	if (luma_init(image, &l) < 0 || choose_step(&l, floor, &step, &ssim) < 0)
		return RECODE_NO_MEMORY;
	if (floor < 1 && !(ssim >= floor))
		return RECODE_NO_GAIN;
	reason = finish(image, &l, step, source, most, &result);
	if (reason != RECODE_DONE)
		return reason;
	data = malloc(result.len);
	if (!data)
		return RECODE_NO_MEMORY;
	*ret = (struct recoded){
		.data = memcpy(data, result.at, result.len), .size = result.len, .ssim = ssim,
		.quality = quality_of(step), .width = image->width, .height = image->height,
	};
	return RECODE_DONE;
}

enum recode_reason recode_jpeg(const struct recode_want *want, struct bytes source,
			       struct recode_room *room, struct recoded *ret)
{
	bool any = want->quality_ratio >= 1 || want->quality_ratio <= 0;
	double floor = any ? 1 : want->quality_ratio;
	size_t most = source.len - source.len / GAIN;
	struct jpeg_outline outline;
	struct jpeg_image image;
	enum recode_reason reason;
	unsigned width, height;
	bool smaller;

	if (any && !want->max_short_side && !want->max_long_side)
		return RECODE_OFF;
	reason = jpeg_outline(source, &want->limits, &outline);
	if (reason != RECODE_DONE)
		return reason;
	width = outline.width, height = outline.height;
	resize_sides(&width, &height, want->max_short_side, want->max_long_side);
	smaller = width < outline.width || height < outline.height;
	if (any && !smaller)
		return RECODE_OFF;
	if (width < SSIM_TAPS || height < SSIM_TAPS)
		return RECODE_NO_GAIN;
	reason = smaller ? jpeg_scale(source, width, height, room, &image)
			 : jpeg_read(source, room, &image);
	if (reason != RECODE_DONE)
		return reason;
	return recode_image(&image, floor, source, smaller ? source.len : most, ret);
}
