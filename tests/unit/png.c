/* PNG, coded for fast decoding: what libpng reads of it is what it was. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <zlib.h>

#include "prefetch/recode/png_image.h"
#include "prefetch/recode/recode.h"
#include "tests/lib/png_file.h"

static const struct recode_want fast = { .png_fast = true };

static struct bytes bytes_of(const struct buf *b)
{
	return (struct bytes){ b->at, b->len };
}

static enum recode_reason code(const struct buf *from, struct buf *ret)
{
	struct recoded r;
	enum recode_reason why = recode(&fast, from->at, from->len, &r);

	if (why == RECODE_DONE) {
		cr_assert_eq(r.ssim, 1);
		*ret = (struct buf){ r.data, r.size, r.size };
	}
	return why;
}

static void same_pixels(const struct buf *a, const struct buf *b)
{
	dl_cleanup(buf_free) struct buf was = BUF_EMPTY;
	dl_cleanup(buf_free) struct buf is = BUF_EMPTY;

	cr_assert(drawing_rows(bytes_of(a), &was));
	cr_assert(drawing_rows(bytes_of(b), &is));
	cr_assert_eq(was.len, is.len);
	cr_assert_eq(memcmp(was.at, is.at, was.len), 0);
}

/* All chunks but IHDR's interlacing and the image data are those of before, in their order. */
static void same_chunks(const struct buf *a, const struct buf *b)
{
	struct png_parts was, is;

	cr_assert_eq(png_parse(bytes_of(a), &was), RECODE_DONE);
	cr_assert_eq(png_parse(bytes_of(b), &is), RECODE_DONE);
	cr_assert(was.before.len == is.before.len && was.after.len == is.after.len);
	cr_assert_eq(memcmp(was.before.at, is.before.at, was.before.len), 0);
	cr_assert_eq(memcmp(was.after.at, is.after.at, was.after.len), 0);
	cr_assert(was.width == is.width && was.height == is.height && was.depth == is.depth &&
		  was.colour == is.colour && !is.interlaced);
}

static void check_same(const struct buf *a, const struct buf *b)
{
	same_pixels(a, b);
	same_chunks(a, b);
	cr_assert_leq(b->len, a->len * 12 / 10);
}

static double cost(const struct buf *file)
{
	struct recode_limits limits = { .pixels = UINT32_MAX, .memory = UINT32_MAX };
	struct png_parts parts;
	struct png_image image;

	cr_assert_eq(png_parse(bytes_of(file), &parts), RECODE_DONE);
	cr_assert_eq(png_decode(&parts, &limits, &image), RECODE_DONE);
	free(image.rows);
	return image.cost;
}

/* --- What is coded anew ------------------------------------------------------------------- */

ParameterizedTestParameters(png, all_kinds_keep_their_pixels)
{
	static struct drawing kinds[] = {
		{ 301, 200, 8, PNG_COLOR_TYPE_RGB, false, 24 },
		{ 301, 200, 8, PNG_COLOR_TYPE_RGB, true, 24 },
		{ 301, 200, 8, PNG_COLOR_TYPE_RGBA, false, 24 },
		{ 301, 200, 8, PNG_COLOR_TYPE_RGBA, true, 24 },
		{ 301, 200, 8, PNG_COLOR_TYPE_GRAY, false, 24 },
		{ 301, 200, 8, PNG_COLOR_TYPE_GRAY_ALPHA, false, 24 },
		{ 301, 200, 8, PNG_COLOR_TYPE_GRAY_ALPHA, true, 24 },
		{ 301, 200, 8, PNG_COLOR_TYPE_PALETTE, true, 24 },
		{ 301, 200, 4, PNG_COLOR_TYPE_PALETTE, true, 24 },
		{ 301, 200, 2, PNG_COLOR_TYPE_GRAY, true, 24 },
		{ 301, 200, 1, PNG_COLOR_TYPE_GRAY, true, 24 },
		{ 5, 3000, 8, PNG_COLOR_TYPE_RGB, false, 24 },
		{ 20000, 3, 8, PNG_COLOR_TYPE_RGB, false, 24 },
		{ 3, 2, 8, PNG_COLOR_TYPE_RGB, true, 24 },
		{ 1, 1, 8, PNG_COLOR_TYPE_GRAY, true, 24 },
		{ 400, 300, 8, PNG_COLOR_TYPE_RGB, true, 0 },
	};

	return cr_make_param_array(struct drawing, kinds, sizeof(kinds) / sizeof(*kinds));
}

ParameterizedTest(struct drawing *d, png, all_kinds_keep_their_pixels)
{
	dl_cleanup(buf_free) struct buf from = drawing_file(d);
	dl_cleanup(buf_free) struct buf to = BUF_EMPTY;
	enum recode_reason why = code(&from, &to);

	if (d->width < 100)            /* there may be nothing to gain */
		cr_assert(why == RECODE_DONE || why == RECODE_NO_GAIN);
	else
		cr_assert_eq(why, RECODE_DONE);
	if (why == RECODE_DONE)
		check_same(&from, &to);
}

Test(png, a_photograph_costs_about_half)
{
	struct drawing d = { 500, 375, 8, PNG_COLOR_TYPE_RGB, false, 24 };
	dl_cleanup(buf_free) struct buf from = drawing_file(&d);
	dl_cleanup(buf_free) struct buf to = BUF_EMPTY;

	cr_assert_eq(code(&from, &to), RECODE_DONE);
	cr_assert_leq(cost(&to), cost(&from) * 0.55, "%g of %g", cost(&to), cost(&from));
}

Test(png, the_same_comes_out_each_time)
{
	struct drawing d = { 200, 200, 8, PNG_COLOR_TYPE_RGB, false, 24 };
	dl_cleanup(buf_free) struct buf from = drawing_file(&d);
	dl_cleanup(buf_free) struct buf once = BUF_EMPTY;
	dl_cleanup(buf_free) struct buf twice = BUF_EMPTY;

	cr_assert_eq(code(&from, &once), RECODE_DONE);
	cr_assert_eq(code(&from, &twice), RECODE_DONE);
	cr_assert(once.len == twice.len && memcmp(once.at, twice.at, once.len) == 0);
}

Test(png, what_was_coded_is_not_coded_again)
{
	struct drawing d = { 300, 300, 8, PNG_COLOR_TYPE_RGB, false, 24 };
	dl_cleanup(buf_free) struct buf from = drawing_file(&d);
	dl_cleanup(buf_free) struct buf once = BUF_EMPTY;
	dl_cleanup(buf_free) struct buf twice = BUF_EMPTY;

	cr_assert_eq(code(&from, &once), RECODE_DONE);
	cr_assert_eq(code(&once, &twice), RECODE_NO_GAIN);
}

/* --- What is left alone --------------------------------------------------------------------- */

static struct buf photo(void)
{
	return drawing_file(&(struct drawing){ 160, 120, 8, PNG_COLOR_TYPE_RGB, false, 24 });
}

static void fix_sum(uint8_t *chunk)
{
	uint32_t len = png_get_uint_32(chunk);

	png_save_uint_32(chunk + 8 + len, (uint32_t)crc32(0, chunk + 4, len + 4));
}

static void expect(const struct buf *file, enum recode_reason why)
{
	dl_cleanup(buf_free) struct buf to = BUF_EMPTY;

	cr_expect_eq(code(file, &to), why, "%s", recode_reason_name(code(file, &to)));
}

Test(png, not_asked_for)
{
	dl_cleanup(buf_free) struct buf file = photo();
	struct recode_want want = { .quality_ratio = 0.5 };
	struct recoded r;

	cr_assert_eq(recode(&want, file.at, file.len, &r), RECODE_OFF);
}

Test(png, any_damaged_byte_is_seen)
{
	dl_cleanup(buf_free) struct buf file = drawing_file(
		&(struct drawing){ 10, 10, 8, PNG_COLOR_TYPE_RGB, false, 24 });

	for (size_t i = 8; i < file.len; i++) {
		dl_cleanup(buf_free) struct buf to = BUF_EMPTY;

		file.at[i] ^= 0x20;
		cr_assert_neq(code(&file, &to), RECODE_DONE, "byte %zu", i);
		file.at[i] ^= 0x20;
	}
}

Test(png, any_cut_is_seen)
{
	dl_cleanup(buf_free) struct buf file = photo();
	size_t all = file.len;

	for (file.len = 8; file.len < all; file.len += file.len < all - 40 ? 97 : 1)
		expect(&file, RECODE_DAMAGED);
}

Test(png, something_behind_the_end)
{
	dl_cleanup(buf_free) struct buf file = photo();

	cr_assert_eq(buf_append(&file, "x", 1), 0);
	expect(&file, RECODE_TRAILER);
}

/* The sums are right, what they sum up is not. */
Test(png, a_stream_that_is_wrong)
{
	dl_cleanup(buf_free) struct buf file = photo();
	size_t idat = png_chunk_at(bytes_of(&file), "IDAT");
	uint32_t len = png_get_uint_32(file.at + idat);

	file.at[idat + 8 + len - 1] ^= 1;      /* its Adler-32 */
	fix_sum(file.at + idat);
	expect(&file, RECODE_DAMAGED);
	file.at[idat + 8 + len - 1] ^= 1;
	fix_sum(file.at + idat);
	file.at[8 + 8 + 7]++;          /* one row more than there are */
	fix_sum(file.at + 8);
	expect(&file, RECODE_DAMAGED);
	file.at[8 + 8 + 7] -= 2;
	fix_sum(file.at + 8);
	expect(&file, RECODE_DAMAGED);
}

Test(png, sixteen_bits)
{
	dl_cleanup(buf_free) struct buf file = drawing_file(
		&(struct drawing){ 100, 80, 16, PNG_COLOR_TYPE_RGB, false, 24 });

	expect(&file, RECODE_16BIT);
}

/* Rename gAMA, which is ancillary. */
static void expect_renamed(const char *name, enum recode_reason why)
{
	dl_cleanup(buf_free) struct buf file = photo();
	uint8_t *chunk = file.at + png_chunk_at(bytes_of(&file), "gAMA");

	memcpy(chunk + 4, name, 4);
	fix_sum(chunk);
	expect(&file, why);
}

Test(png, chunks_that_may_mean_anything)
{
	expect_renamed("acTL", RECODE_ANIMATED);
	expect_renamed("iDOT", RECODE_CHUNKS);
	expect_renamed("NEWc", RECODE_CHUNKS);
	expect_renamed("neWc", RECODE_DONE);
}

Test(png, of_apples_own_kind)
{
	dl_cleanup(buf_free) struct buf file = photo();
	dl_cleanup(buf_free) struct buf apples = BUF_EMPTY;
	uint8_t chunk[16] = { 0, 0, 0, 4, 'C', 'g', 'B', 'I' };

	fix_sum(chunk);
	cr_assert_eq(buf_append(&apples, file.at, 8), 0);
	cr_assert_eq(buf_append(&apples, chunk, sizeof(chunk)), 0);
	cr_assert_eq(buf_append(&apples, file.at + 8, file.len - 8), 0);
	expect(&apples, RECODE_CHUNKS);
}

Test(png, a_flood_of_pixels_is_refused_by_its_head)
{
	dl_cleanup(buf_free) struct buf file = photo();

	png_save_uint_32(file.at + 16, 60000);
	png_save_uint_32(file.at + 20, 60000);
	fix_sum(file.at + 8);
	expect(&file, RECODE_LIMITS);
}
