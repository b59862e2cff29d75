#include "prefetch/recode/jpeg_image.h"

#include "prefetch/recode/jpeg_rows.h"
#include "prefetch/recode/kernel.h"
#include "prefetch/recode/range.h"

struct reading {
	struct jpeg_guard guard;
	struct jpeg_decompress_struct in;
	struct bytes source;
	struct jpeg_image *image;
};

static void take_steps(struct jpeg_plane *p, const jpeg_component_info *c)
{
	for (unsigned k = 0; k < 64; k++)
		p->quant[k] = c->quant_table->quantval[k];
}

static void take_plane(struct reading *r, unsigned i, jvirt_barray_ptr from)
{
	const jpeg_component_info *c = &r->in.comp_info[i];
	struct jpeg_plane *p = &r->image->plane[i];
	int16_t most[64];
	uint32_t padded;

	if (!c->quant_table)
		jpeg_leave(&r->guard, RECODE_DAMAGED);
	p->columns = c->width_in_blocks;
	p->rows = c->height_in_blocks;
	p->h = (unsigned)c->h_samp_factor;
	p->v = (unsigned)c->v_samp_factor;
	take_steps(p, c);
	/* Padding to whole MCUs is left out, in place. */
	padded = (p->columns + p->h - 1) / p->h * p->h;
	p->at = jpeg_rows_first(from)[0];
	range_most(p->quant, most);
	for (uint32_t y = 0; y < p->rows; y++) {
		int16_t *to = p->at + (size_t)y * p->columns * 64;

		if (!kernel_best()->scale(p->at + (size_t)y * padded * 64, p->quant, most,
					  p->columns, to)
		    || !kernel_best()->within(to, p->columns, RANGE_PIXEL))
			jpeg_leave(&r->guard, RECODE_DAMAGED);
	}
}

static void read_all(void *context)
{
	struct reading *r = context;
	struct jpeg_decompress_struct *in = &r->in;
	jvirt_barray_ptr *planes;

	jpeg_create_decompress(in);
	jpeg_rows_take_over((j_common_ptr)in);
	jpeg_mem_src(in, r->source.at, r->source.len);
	jpeg_read_header(in, TRUE);
	if (in->jpeg_color_space != JCS_YCbCr && in->jpeg_color_space != JCS_GRAYSCALE)
		jpeg_leave(&r->guard, RECODE_COLOUR);
	planes = jpeg_read_coefficients(in);
	r->image->width = in->image_width;
	r->image->height = in->image_height;
	r->image->components = (unsigned)in->num_components;
	for (unsigned i = 0; i < r->image->components; i++)
		take_plane(r, i, planes[i]);
	jpeg_finish_decompress(in);
}

enum recode_reason jpeg_read(struct bytes source, struct recode_room *room, struct jpeg_image *ret)
{
	struct jpeg_image image = { .room = room };
	struct reading r = { .source = source, .image = &image };
	enum recode_reason reason;

	r.in.err = jpeg_guard_init(&r.guard, room);
	reason = jpeg_guarded(&r.guard, read_all, &r);
	jpeg_destroy_decompress(&r.in);
	if (reason == RECODE_DONE)
		*ret = image;
	return reason;
}
