#include "prefetch/recode/jpeg_image.h"

#include <string.h>

#include "prefetch/recode/huffman.h"
#include "prefetch/recode/jpeg_rows.h"
#include "prefetch/recode/kernel.h"

struct writing {
	struct jpeg_guard guard;
	struct jpeg_compress_struct out;
	const struct jpeg_image *image;
	struct bytes notes;
	struct jpeg_destination_mgr to;
	uint8_t *result;
	size_t most, len;              /* what does not fit is no gain */
};

static void begin_result(j_compress_ptr c)
{
	struct writing *w = c->client_data;

	w->to.next_output_byte = w->result;
	w->to.free_in_buffer = w->most;
}

static boolean result_is_full(j_compress_ptr c)
{
	struct writing *w = c->client_data;

	jpeg_leave(&w->guard, RECODE_NO_GAIN);
}

static void end_result(j_compress_ptr c)
{
	struct writing *w = c->client_data;

	w->len = w->most - w->to.free_in_buffer;
}

static uint32_t round_up(uint32_t n, unsigned to)
{
	return (n + to - 1) / to * to;
}

static void set_steps(struct jpeg_compress_struct *out, int slot, const uint16_t quant[64])
{
	if (!out->quant_tbl_ptrs[slot])
		out->quant_tbl_ptrs[slot] = jpeg_alloc_quant_table((j_common_ptr)out);
	for (unsigned k = 0; k < 64; k++)
		out->quant_tbl_ptrs[slot]->quantval[k] = quant[k];
	out->quant_tbl_ptrs[slot]->sent_table = FALSE;
}

static void set_code(struct jpeg_compress_struct *out, JHUFF_TBL **slot, const uint32_t often[256])
{
	struct huffman_code code;

	if (!*slot)
		*slot = jpeg_alloc_huff_table((j_common_ptr)out);
	huffman_code(often, &code);
	memcpy((*slot)->bits, code.count, sizeof(code.count));
	memcpy((*slot)->huffval, code.symbols, sizeof(code.symbols));
	(*slot)->sent_table = FALSE;
}

/* In an interleaved scan the order of blocks is another, so this is not exact for DC; each of its
 * symbols gets a code.
 */
static void count_dc(const struct jpeg_plane *p, uint32_t often[256])
{
	size_t count = (size_t)p->columns * p->rows;
	int before = 0;

	for (size_t i = 0; i < count; i++) {
		int now = p->at[64 * i], by = abs(now - before);

		often[by ? 32 - __builtin_clz((unsigned)by) : 0]++;
		before = now;
	}
}

#define DC_SIZES 12

/* One code for luma, one for both colours. */
static void set_codes(struct jpeg_compress_struct *out, const struct jpeg_image *image)
{
	for (unsigned slot = 0; slot < 2 && slot < image->components; slot++) {
		uint32_t dc[256] = { 0 }, ac[256] = { [0] = 1 };

		for (unsigned size = 0; size < DC_SIZES; size++)
			dc[size] = 1;
		for (unsigned i = slot; i < (slot ? image->components : 1); i++) {
			const struct jpeg_plane *p = &image->plane[i];

			count_dc(p, dc);
			kernel_best()->count(p->at, (size_t)p->columns * p->rows, ac);
		}
		set_code(out, &out->dc_huff_tbl_ptrs[slot], dc);
		set_code(out, &out->ac_huff_tbl_ptrs[slot], ac);
	}
}

static void set_up(struct writing *w)
{
	struct jpeg_compress_struct *out = &w->out;
	const struct jpeg_image *image = w->image;

	out->image_width = image->width;
	out->image_height = image->height;
	out->input_components = (int)image->components;
	out->in_color_space = image->components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
	jpeg_set_defaults(out);
	jpeg_set_colorspace(out, out->in_color_space);
	/* They are among the notes, or were not there. */
	out->write_JFIF_header = FALSE;
	out->write_Adobe_marker = FALSE;
	for (unsigned i = 0; i < image->components; i++) {
		int slot = i ? JPEG_SLOT_COLOUR : JPEG_SLOT_LUMA;

		out->comp_info[i].h_samp_factor = (int)image->plane[i].h;
		out->comp_info[i].v_samp_factor = (int)image->plane[i].v;
		out->comp_info[i].quant_tbl_no = slot;
		set_steps(out, slot, image->plane[i].quant);
	}
	set_codes(out, image);
}

static void write_notes(struct writing *w)
{
	struct bytes note;
	size_t at = 0;

	while (jpeg_next_note(w->notes, &at, &note)) {
		const uint8_t *b = note.at;

		jpeg_write_marker(&w->out, b[0], b + 3, (unsigned)note.len - 3);
	}
}

/* What libjpeg puts beyond a plane, for whole MCUs, it makes up itself. */
static jvirt_barray_ptr give_plane(struct writing *w, unsigned i)
{
	const struct jpeg_plane *p = &w->image->plane[i];

	return jpeg_rows_of((j_common_ptr)&w->out, (JBLOCK *)p->at, p->columns, p->rows,
			    round_up(p->rows, p->v));
}

static void write_all(void *context)
{
	struct writing *w = context;
	jvirt_barray_ptr planes[JPEG_COMPONENTS];

	jpeg_create_compress(&w->out);
	jpeg_rows_take_over((j_common_ptr)&w->out);
	w->out.client_data = w;
	w->out.dest = &w->to;
	set_up(w);
	for (unsigned i = 0; i < w->image->components; i++)
		planes[i] = give_plane(w, i);
	jpeg_write_coefficients(&w->out, planes);
	write_notes(w);
	jpeg_finish_compress(&w->out);
}

enum recode_reason jpeg_write(const struct jpeg_image *image, struct bytes notes, size_t most,
			      struct bytes *ret)
{
	struct writing w = {
		.image = image, .notes = notes,
		.to = { .init_destination = begin_result, .empty_output_buffer = result_is_full,
			.term_destination = end_result },
		.result = room_take(image->room, most, 1), .most = most,
	};
	enum recode_reason reason;

	if (!w.result)
		return RECODE_NO_MEMORY;
	w.out.err = jpeg_guard_init(&w.guard, image->room);
	reason = jpeg_guarded(&w.guard, write_all, &w);
	jpeg_destroy_compress(&w.out);
	if (reason == RECODE_DONE)
		*ret = (struct bytes){ w.result, w.len };
	return reason;
}
