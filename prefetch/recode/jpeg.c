#include <string.h>

#include "prefetch/recode/colour.h"
#include "prefetch/recode/kinds.h"
#include "prefetch/recode/search.h"

#define GAIN 20                        /* at least a 20th of the source, or it is left alone */

/* cjpeg -quality q has a mean step of luma of about 57 * (2 - q / 50), from 50 on. */
static unsigned quality_of(float step)
{
	float quality = step < 57 ? 100 - step * 50 / 57 : 50 * 57 / step;

	return quality < 1 ? 1 : (unsigned)quality;
}

static enum recode_reason finish(const struct jpeg_image *from, struct luma *l, float step,
				 struct bytes source, struct buf *ret)
{
	struct jpeg_image coded = {
		.width = from->width, .height = from->height, .components = from->components,
	};
	enum recode_reason reason = RECODE_NO_MEMORY;

	coded.plane[0] = l->coded;
	if (from->components == 1 || colour_code(from, step, luma_error(l), &coded) == 0)
		reason = jpeg_write(&coded, source, source.len - source.len / GAIN, ret);
	coded.plane[0].at = NULL;      /* it is luma's */
	jpeg_image_fini(&coded);
	return reason;
}

static enum recode_reason recode_image(const struct jpeg_image *image, double floor,
				       struct bytes source, struct recoded *ret)
{
	struct luma l;
	struct buf result = BUF_EMPTY;
	enum recode_reason reason = RECODE_NO_MEMORY;
	float step = 0;
	double ssim = 0;

	if (luma_init(&image->plane[0], image->width, image->height, &l) < 0)
		return RECODE_NO_MEMORY;
	if (search_step(&l, floor, &step, &ssim) == 0)
		reason = ssim >= floor ? finish(image, &l, step, source, &result) : RECODE_NO_GAIN;
	luma_fini(&l);
	if (reason == RECODE_DONE)
		*ret = (struct recoded){
			.data = result.at, .size = result.len, .ssim = ssim,
			.quality = quality_of(step), .width = image->width,
			.height = image->height,
		};
	return reason;
}

enum recode_reason recode_jpeg(const struct recode_want *want, struct bytes source,
			       struct recoded *ret)
{
	struct jpeg_outline outline;
	struct jpeg_image image;
	enum recode_reason reason;

	if (want->quality_ratio >= 1)
		return RECODE_OFF;
	reason = jpeg_outline(source, &want->limits, &outline);
	if (reason != RECODE_DONE)
		return reason;
	if (outline.width < SSIM_TAPS || outline.height < SSIM_TAPS)
		return RECODE_NO_GAIN;
	reason = jpeg_read(source, &image);
	if (reason != RECODE_DONE)
		return reason;
	reason = recode_image(&image, want->quality_ratio, source, ret);
	jpeg_image_fini(&image);
	return reason;
}
