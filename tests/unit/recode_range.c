/* Values that no picture has: broken codes that happen to be codes as well. */
#include <criterion/criterion.h>

#include "prefetch/recode/range.h"
#include "tests/lib/picture.h"
#include "tests/lib/recode_try.h"

static const struct picture base = { .width = 120, .height = 90, .quality = 92, .h = 2, .v = 2 };

struct change {
	unsigned component, from, to;  /* coefficients, in natural order */
	int value;                     /* that they get, or up to a step more */
};

static void change_block(struct jpeg_decompress_struct *in, jvirt_barray_ptr *planes,
			 const struct change *c)
{
	jpeg_component_info *info = &in->comp_info[c->component];
	JBLOCKARRAY rows = in->mem->access_virt_barray((j_common_ptr)in, planes[c->component], 2, 1,
						       TRUE);

	for (unsigned k = c->from; k <= c->to; k++) {
		int step = info->quant_table->quantval[k];
		int level = (abs(c->value) + step - 1) / step;

		rows[0][1][k] = (JCOEF)(c->value < 0 ? -level : level);
	}
}

/* A picture with other values in one of its blocks. */
static struct buf changed(struct picture p, struct change c)
{
	dl_cleanup(buf_free) struct buf b = picture_make(p);
	struct jpeg_decompress_struct in;
	struct jpeg_compress_struct out;
	struct jpeg_error_mgr errors;
	unsigned char *at = NULL;
	unsigned long len = 0;
	jvirt_barray_ptr *planes;

	in.err = out.err = jpeg_std_error(&errors);
	jpeg_create_decompress(&in);
	jpeg_create_compress(&out);
	jpeg_mem_src(&in, b.at, b.len);
	jpeg_mem_dest(&out, &at, &len);
	jpeg_read_header(&in, TRUE);
	planes = jpeg_read_coefficients(&in);
	change_block(&in, planes, &c);
	jpeg_copy_critical_parameters(&in, &out);
	out.optimize_coding = TRUE;
	jpeg_write_coefficients(&out, planes);
	jpeg_finish_compress(&out);
	jpeg_destroy_compress(&out);
	jpeg_finish_decompress(&in);
	jpeg_destroy_decompress(&in);
	cr_assert_eq(errors.num_warnings, 0);
	return (struct buf){ .at = at, .len = len, .cap = len };
}

static enum recode_reason try_changed(struct picture p, struct change c)
{
	dl_cleanup(buf_free) struct buf b = changed(p, c);

	return try_it(&b);
}

Test(recode_range, coefficients_of_no_picture)
{
	static const unsigned at[] = { 0, 1, 8, 27, 63 };

	for (unsigned component = 0; component < 3; component++)
		for (unsigned i = 0; i < DL_COUNT(at); i++)
			for (int sign = -1; sign <= 1; sign += 2) {
				struct change most = { component, at[i], at[i], sign * 1010 };
				struct change more = { component, at[i], at[i], sign * 1300 };

				cr_assert_eq(try_changed(base, most), RECODE_DONE, "%u %u",
					     component, at[i]);
				cr_assert_eq(try_changed(base, more), RECODE_DAMAGED, "%u %u",
					     component, at[i]);
			}
}

Test(recode_range, a_brightness_of_no_picture)
{
	struct picture fine = base;

	fine.quality = 99;
	cr_assert_eq(try_changed(fine, (struct change){ .value = 1024 }), RECODE_DONE);
	cr_assert_eq(try_changed(fine, (struct change){ .value = 1040 }), RECODE_DAMAGED);
}

/* Each is what a picture may have, but not all at once: they meet in the corner of the block. */
Test(recode_range, pixels_of_no_picture)
{
	for (unsigned component = 0; component < 3; component++) {
		struct change ringing = { component, 1, 63, 20 }, more = { component, 1, 63, 80 };

		cr_assert_eq(try_changed(base, ringing), RECODE_DONE, "%u", component);
		cr_assert_eq(try_changed(base, more), RECODE_DAMAGED, "%u", component);
	}
}

/* It is the values that count, however they were coded. */
Test(recode_range, in_every_kind_of_file)
{
	static const struct picture kinds[] = {
		{ .width = 120, .height = 90, .quality = 92 },
		{ .width = 120, .height = 90, .quality = 92, .h = 1, .v = 1 },
		{ .width = 120, .height = 90, .quality = 92, .h = 2, .v = 2, .progressive = true },
		{ .width = 120, .height = 90, .quality = 30, .h = 2, .v = 1, .apart = true },
	};

	for (unsigned i = 0; i < DL_COUNT(kinds); i++)
		cr_assert_eq(try_changed(kinds[i], (struct change){ .value = 1400 }),
			     RECODE_DAMAGED, "%u", i);
}

/* What is at the ends of the range in each pixel. */
static uint8_t black_or_white(unsigned x, unsigned y, unsigned c)
{
	uint32_t n = (x / 3 * 2654435761u) ^ (y * 2246822519u) ^ (c * 3266489917u);

	n ^= n >> 15;
	n *= 2654435761u;
	return n >> 31 ? 255 : 0;
}

static uint8_t board(unsigned x, unsigned y, unsigned c)
{
	return (x + y + c) % 2 ? 255 : 0;
}

static uint8_t halves(unsigned x, unsigned y, unsigned c)
{
	return (x / 4 + y / 16 * c) % 2 ? 255 : 0;
}

Test(recode_range, no_picture_is_refused)
{
	static uint8_t (*const samples[])(unsigned, unsigned, unsigned) = {
		black_or_white, board, halves, picture_sample,
	};

	for (unsigned i = 0; i < DL_COUNT(samples); i++)
		for (unsigned quality = 1; quality <= 100; quality += quality < 10 ? 1 : 3)
			for (unsigned h = 0; h <= 2; h++) {
				dl_cleanup(buf_free) struct buf b = picture_make((struct picture){
					.width = 96, .height = 64, .quality = quality, .h = h,
					.v = h, .sample = samples[i] });
				enum recode_reason reason = try_it(&b);

				cr_assert_neq(reason, RECODE_DAMAGED, "%u at %u, %u", i, quality,
					      h);
			}
}
