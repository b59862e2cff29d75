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

struct aim {
	double floor;                  /* of SSIM; 1: the source's steps */
	unsigned width, height;
	bool smaller;
	struct recode_need need;
};

static enum recode_reason take_aim(const struct recode_want *want, struct bytes source,
				   struct aim *a)
{
	bool any = want->quality_ratio >= 1 || want->quality_ratio <= 0;
	struct jpeg_outline outline;
	enum recode_reason reason;

	if (any && !want->max_short_side && !want->max_long_side)
		return RECODE_OFF;
	reason = jpeg_outline(source, &want->limits, &outline);
	if (reason != RECODE_DONE)
		return reason;
	*a = (struct aim){ .floor = any ? 1 : want->quality_ratio,
			   .width = outline.width, .height = outline.height };
	resize_sides(&a->width, &a->height, want->max_short_side, want->max_long_side);
	a->smaller = a->width < outline.width || a->height < outline.height;
	a->need = jpeg_need(&outline, a->width, a->height, source.len);
	if (any && !a->smaller)
		return RECODE_OFF;
	if (a->width < SSIM_TAPS || a->height < SSIM_TAPS)
		return RECODE_NO_GAIN;
	return a->need.coding > want->limits.memory ? RECODE_LIMITS : RECODE_DONE;
}

enum recode_reason jpeg_wants(const struct recode_want *want, struct bytes source,
			      struct recode_need *ret)
{
	struct aim a;
	enum recode_reason reason = take_aim(want, source, &a);

	if (reason == RECODE_DONE)
		*ret = a.need;
	return reason;
}

/* What was scaled never had the source's steps, so they keep no floor: those of a source of low
 * quality are too coarse for any.
 */
static void free_steps(struct jpeg_plane *luma)
{
	for (unsigned k = 0; k < DL_COUNT(luma->quant); k++)
		luma->quant[k] = 1;
}

enum recode_reason recode_jpeg(const struct recode_want *want, struct bytes source,
			       struct recode_room *room, struct recoded *ret)
{
	size_t most = source.len - source.len / GAIN;
	struct jpeg_image image;
	struct aim a;
	enum recode_reason reason = take_aim(want, source, &a);

	if (reason == RECODE_DONE)
		reason = a.smaller ? jpeg_scale(source, a.width, a.height, room, &image)
				   : jpeg_read(source, room, &image);
	if (reason != RECODE_DONE)
		return reason;
	if (a.smaller && a.floor < 1)
		free_steps(&image.plane[0]);
	return recode_image(&image, a.floor, source, a.smaller ? source.len : most, ret);
}
