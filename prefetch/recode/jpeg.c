#include <string.h>

#include "prefetch/recode/jpeg_image.h"
#include "prefetch/recode/kinds.h"
#include "prefetch/recode/pixels.h"

#define STEP_MAX 255

/* A level of the output for each coefficient of the plane; *to has room for as many. */
static void requantise(const struct jpeg_plane *p, unsigned step, struct jpeg_plane *to)
{
	size_t count = (size_t)p->columns * p->rows;
	int16_t *at = to->at;

	*to = *p;
	to->at = at;
	for (unsigned k = 0; k < 64; k++)
		to->quant[k] = (uint16_t)DL_MAX(p->quant[k], step);
	for (size_t i = 0; i < count; i++)
		for (unsigned k = 0; k < 64; k++) {
			int value = p->at[64 * i + k], q = to->quant[k];

			at[64 * i + k] = (int16_t)((value + (value < 0 ? -q : q) / 2) / q);
		}
}

static int render(const struct jpeg_plane *p, bool levels, uint32_t width, uint32_t height,
		  struct pixels *ret)
{
	dl_cleanup(dl_freep) int16_t *row = malloc((size_t)p->columns * 64 * sizeof(*row));

	if (!ret->at)
		*ret = (struct pixels){
			.at = malloc((size_t)p->columns * p->rows * 64), .width = width,
			.height = height, .stride = (size_t)p->columns * 8,
		};
	if (!row || !ret->at)
		return -ENOMEM;
	for (uint32_t y = 0; y < p->rows; y++) {
		const int16_t *from = p->at + (size_t)y * p->columns * 64;

		for (size_t i = 0; i < (size_t)p->columns * 64; i++)
			row[i] = (int16_t)(levels ? from[i] * p->quant[i % 64] : from[i]);
		pixels_from_blocks(row, p->columns, ret->at + (size_t)y * 8 * ret->stride,
				   ret->stride);
	}
	return 0;
}

struct search {
	const struct jpeg_image *image;
	struct jpeg_image out;
	struct pixels original, tried;
	struct ssim_base base;
};

static int search_init(struct search *s, const struct jpeg_image *image)
{
	*s = (struct search){ .image = image, .out = *image };
	for (unsigned i = 0; i < image->components; i++)
		s->out.plane[i].at = NULL;
	for (unsigned i = 0; i < image->components; i++) {
		const struct jpeg_plane *p = &image->plane[i];

		s->out.plane[i].at = malloc((size_t)p->columns * p->rows * 128);
		if (!s->out.plane[i].at)
			return -ENOMEM;
	}
	if (render(&image->plane[0], false, image->width, image->height, &s->original) < 0)
		return -ENOMEM;
	return ssim_base_init(&s->base, &s->original, 4);
}

static void search_fini(struct search *s)
{
	jpeg_image_fini(&s->out);
	ssim_base_fini(&s->base);
	free(s->original.at);
	free(s->tried.at);
}

static int try_step(struct search *s, unsigned step, double *ret)
{
	requantise(&s->image->plane[0], step, &s->out.plane[0]);
	if (render(&s->out.plane[0], true, s->image->width, s->image->height, &s->tried) < 0)
		return -ENOMEM;
	*ret = ssim_against(&s->base, &s->tried);
	return 0;
}

/* The largest step that keeps the ratio. */
static int find_step(struct search *s, double ratio, unsigned *step, double *ssim)
{
	unsigned low = 1, high = STEP_MAX;

	while (low < high) {
		unsigned middle = (low + high + 1) / 2;

		if (try_step(s, middle, ssim) < 0)
			return -ENOMEM;
		if (*ssim >= ratio)
			low = middle;
		else
			high = middle - 1;
	}
	*step = low;
	return try_step(s, low, ssim);
}

static enum recode_reason search(struct search *s, const struct recode_want *want,
				 struct bytes source, struct recoded *ret)
{
	struct buf result = BUF_EMPTY;
	enum recode_reason reason;
	unsigned step;
	double ssim;

	if (find_step(s, want->quality_ratio, &step, &ssim) < 0)
		return RECODE_NO_MEMORY;
	for (unsigned i = 1; i < s->image->components; i++)
		requantise(&s->image->plane[i], 2 * step, &s->out.plane[i]);
	reason = jpeg_write(&s->out, source, source.len - source.len / 20, &result);
	if (reason == RECODE_DONE)
		*ret = (struct recoded){
			.data = result.at, .size = result.len, .ssim = ssim,
			.quality = step > 50 ? 50 : 100 - step,
			.width = s->image->width, .height = s->image->height,
		};
	return reason;
}

enum recode_reason recode_jpeg(const struct recode_want *want, struct bytes source,
			       struct recoded *ret)
{
	struct jpeg_outline outline;
	struct jpeg_image image;
	struct search s;
	enum recode_reason reason;

	if (want->quality_ratio >= 1)
		return RECODE_OFF;
	reason = jpeg_outline(source, &want->limits, &outline);
	if (reason != RECODE_DONE)
		return reason;
	if (outline.width < SSIM_TAPS || outline.height < SSIM_TAPS)
		return RECODE_NO_GAIN;
	reason = jpeg_read(source, &outline, &image);
	if (reason != RECODE_DONE)
		return reason;
	reason = search_init(&s, &image) < 0 ? RECODE_NO_MEMORY : search(&s, want, source, ret);
	search_fini(&s);
	jpeg_image_fini(&image);
	return reason;
}
