#include "prefetch/recode/jpeg_image.h"

#include "prefetch/recode/jpeg_guard.h"

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

static int16_t in_units(int level, unsigned step)
{
	int value = DL_MIN(level * (int)step, JPEG_VALUE_MAX);

	return (int16_t)DL_MAX(value, -JPEG_VALUE_MAX);
}

static void take_row(struct jpeg_plane *p, uint32_t y, const JBLOCK *row)
{
	int16_t *to = p->at + (size_t)y * p->columns * 64;

	for (uint32_t x = 0; x < p->columns; x++)
		for (unsigned k = 0; k < 64; k++)
			*to++ = in_units(row[x][k], p->quant[k]);
}

static void take_plane(struct reading *r, unsigned i, jvirt_barray_ptr from)
{
	const jpeg_component_info *c = &r->in.comp_info[i];
	struct jpeg_plane *p = &r->image->plane[i];

	if (!c->quant_table)
		jpeg_leave(&r->guard, RECODE_DAMAGED);
	p->columns = c->width_in_blocks;
	p->rows = c->height_in_blocks;
	p->h = (unsigned)c->h_samp_factor;
	p->v = (unsigned)c->v_samp_factor;
	take_steps(p, c);
	p->at = malloc((size_t)p->columns * p->rows * sizeof(JBLOCK));
	if (!p->at)
		jpeg_leave(&r->guard, RECODE_NO_MEMORY);
	for (uint32_t y = 0; y < p->rows; y++)
		take_row(p, y, r->in.mem->access_virt_barray((j_common_ptr)&r->in, from, y, 1,
							     FALSE)[0]);
}

static void read_all(void *context)
{
	struct reading *r = context;
	struct jpeg_decompress_struct *in = &r->in;
	jvirt_barray_ptr *planes;

	jpeg_create_decompress(in);
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

enum recode_reason jpeg_read(struct bytes source, struct jpeg_image *ret)
{
	struct jpeg_image image = { 0 };
	struct reading r = { .source = source, .image = &image };
	enum recode_reason reason;

	r.in.err = jpeg_guard_init(&r.guard);
	reason = jpeg_guarded(&r.guard, read_all, &r);
	jpeg_destroy_decompress(&r.in);
	if (reason != RECODE_DONE)
		jpeg_image_fini(&image);
	else
		*ret = image;
	return reason;
}

void jpeg_image_fini(struct jpeg_image *image)
{
	for (unsigned i = 0; i < image->components; i++)
		free(image->plane[i].at);
	*image = (struct jpeg_image){ 0 };
}
