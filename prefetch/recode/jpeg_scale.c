#include "prefetch/recode/jpeg_image.h"

#include <string.h>

#include "prefetch/recode/jpeg_guard.h"
#include "prefetch/recode/kernel.h"
#include "prefetch/recode/resize.h"

struct scaling {
	struct jpeg_guard guard;
	struct jpeg_decompress_struct in;
	struct bytes source;
	struct jpeg_image *image;
	struct resize across, down;
	uint8_t *line;                 /* as decoded, components side by side */
	float *narrow;                 /* [components][rows as decoded][width] */
	float *band;                   /* 8 rows of one plane, of whole blocks */
};

/* The decoder's own reduction, in eighths, that leaves no less than the wanted size. */
static void choose_eighths(struct jpeg_decompress_struct *in, const struct jpeg_image *image)
{
	in->scale_denom = 8;
	for (in->scale_num = 1; in->scale_num < 8; in->scale_num++) {
		jpeg_calc_output_dimensions(in);
		if (in->output_width >= image->width && in->output_height >= image->height)
			return;
	}
}

static void prepare(struct scaling *s)
{
	struct jpeg_image *image = s->image;
	uint32_t width = s->in.output_width, height = s->in.output_height;
	uint32_t columns = (image->width + 7) / 8;

	s->line = room_take(image->room, width, image->components);
	s->narrow = room_take(image->room, (size_t)image->components * height * image->width,
			      sizeof(float));
	s->band = room_take(image->room, columns, 64 * sizeof(float));
	if (!s->line || !s->narrow || !s->band
	    || resize_init(&s->across, width, image->width) < 0
	    || resize_init(&s->down, height, image->height) < 0)
		jpeg_leave(&s->guard, RECODE_NO_MEMORY);
	for (unsigned i = 0; i < image->components; i++) {
		struct jpeg_plane *p = &image->plane[i];

		p->columns = columns;
		p->rows = (image->height + 7) / 8;
		p->h = p->v = 1;
		if (!s->in.comp_info[i].quant_table)
			jpeg_leave(&s->guard, RECODE_DAMAGED);
		for (unsigned k = 0; k < 64; k++)
			p->quant[k] = s->in.comp_info[i].quant_table->quantval[k];
		p->at = room_take(image->room, (size_t)p->columns * p->rows, 64 * sizeof(*p->at));
		if (!p->at)
			jpeg_leave(&s->guard, RECODE_NO_MEMORY);
	}
}

static void narrow_line(struct scaling *s, uint32_t y)
{
	unsigned n = s->image->components;

	for (unsigned c = 0; c < n; c++) {
		float *to = s->narrow
			+ ((size_t)c * s->down.from + y) * s->across.to;

		for (uint32_t x = 0; x < s->across.to; x++) {
			const uint8_t *from = s->line + (size_t)s->across.first[x] * n + c;
			const float *weight = s->across.weight + (size_t)x * s->across.taps;
			float sum = 0;

			for (uint32_t k = 0; k < s->across.taps; k++)
				sum += weight[k] * (float)from[k * n];
			to[x] = sum;
		}
	}
}

/* One row of the result, around 0; what is beyond its end repeats it. */
static void shorten(const struct scaling *s, unsigned c, uint32_t y, float *to, size_t stride)
{
	uint32_t width = s->across.to, row = DL_MIN(y, s->down.to - 1);
	const float *weight = s->down.weight + (size_t)row * s->down.taps;
	const float *from = s->narrow + ((size_t)c * s->down.from + s->down.first[row]) * width;

	memset(to, 0, width * sizeof(*to));
	for (uint32_t k = 0; k < s->down.taps; k++)
		for (uint32_t x = 0; x < width; x++)
			to[x] += weight[k] * from[(size_t)k * width + x];
	for (uint32_t x = 0; x < width; x++) {
		to[x] = to[x] < 0 ? 0 : to[x];
		to[x] = (to[x] > 255 ? 255 : to[x]) - 128;
	}
	for (size_t x = width; x < stride; x++)
		to[x] = to[width - 1];
}

static void fill_planes(struct scaling *s)
{
	for (unsigned c = 0; c < s->image->components; c++) {
		struct jpeg_plane *p = &s->image->plane[c];
		size_t stride = (size_t)p->columns * 8;

		for (uint32_t y = 0; y < p->rows; y++) {
			for (uint32_t i = 0; i < 8; i++)
				shorten(s, c, 8 * y + i, s->band + i * stride, stride);
			kernel_best()->blocks(s->band, stride, p->columns,
					      p->at + y * stride * 8);
		}
	}
}

static void scale_all(void *context)
{
	struct scaling *s = context;
	struct jpeg_decompress_struct *in = &s->in;

	jpeg_create_decompress(in);
	jpeg_mem_src(in, s->source.at, s->source.len);
	jpeg_read_header(in, TRUE);
	if (in->jpeg_color_space != JCS_YCbCr && in->jpeg_color_space != JCS_GRAYSCALE)
		jpeg_leave(&s->guard, RECODE_COLOUR);
	s->image->components = (unsigned)in->num_components;
	in->out_color_space = in->jpeg_color_space;
	choose_eighths(in, s->image);
	jpeg_start_decompress(in);
	prepare(s);
	while (in->output_scanline < in->output_height) {
		uint32_t y = in->output_scanline;

		jpeg_read_scanlines(in, &s->line, 1);
		narrow_line(s, y);
	}
	jpeg_finish_decompress(in);
	fill_planes(s);
}

enum recode_reason jpeg_scale(struct bytes source, unsigned width, unsigned height,
			      struct recode_room *room, struct jpeg_image *ret)
{
	struct jpeg_image image = { .room = room, .width = width, .height = height };
	struct scaling s = { .source = source, .image = &image };
	enum recode_reason reason;

	s.in.err = jpeg_guard_init(&s.guard, room);
	reason = jpeg_guarded(&s.guard, scale_all, &s);
	jpeg_destroy_decompress(&s.in);
	resize_fini(&s.across);
	resize_fini(&s.down);
	if (reason == RECODE_DONE)
		*ret = image;
	return reason;
}
