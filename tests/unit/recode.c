#include <criterion/criterion.h>
#include <string.h>

#include "prefetch/recode/recode.h"
#include "tests/lib/picture.h"

static const struct recode_want at_95 = { .quality_ratio = 0.95 };

/* Segments APPn and COM of a, one after the other, are those of b. */
static size_t next_note(const uint8_t *at, size_t i)
{
	while (at[i + 1] != 0xda) {
		if (at[i + 1] >= 0xe0 && (at[i + 1] <= 0xef || at[i + 1] == 0xfe))
			return i;
		i += 2u + (at[i + 2] << 8 | at[i + 3]);
	}
	return 0;
}

static void check_notes(const uint8_t *a, const uint8_t *b)
{
	size_t i = next_note(a, 2), j = next_note(b, 2);

	while (i && j) {
		size_t len = 2u + (a[i + 2] << 8 | a[i + 3]);

		cr_assert_eq(memcmp(a + i, b + j, len), 0);
		i = next_note(a, i + len);
		j = next_note(b, j + len);
	}
	cr_assert(i == 0 && j == 0, "a segment is missing, or one too many");
}

/* A result keeps all that was promised. */
static void check_result(const struct buf *source, const struct recoded *r, double ratio)
{
	struct decoded a = picture_decode(source->at, source->len);
	struct decoded b = picture_decode(r->data, r->size);
	double ssim = picture_ssim(&a, &b), close = 0.0008 + 0.004 * (1 - ratio);

	cr_assert(a.width == b.width && a.height == b.height && a.space == b.space);
	cr_assert(r->width == a.width && r->height == a.height && !b.progressive);
	cr_assert(r->size <= source->len * 95 / 100);
	if (a.width < 50 || a.height < 50)
		close = 0.003;
	/* Where there are few windows, rounding of pixels counts more. */
	cr_assert(ssim >= ratio - 2 * close, "SSIM %f", ssim);
	cr_assert(fabs(ssim - r->ssim) < 2 * close, "SSIM %f, and %f was said", ssim, r->ssim);
	for (unsigned c = 1; c < a.components; c++)
		cr_assert(picture_error(&a, &b, c, 0, 0)
			  <= 2.2 * picture_error(&a, &b, 0, 0, 0) + 1, "colour is off");
	check_notes(source->at, r->data);
	free(a.pixels);
	free(b.pixels);
}

/* The reason; what was recoded is checked. */
static enum recode_reason try_at(const struct buf *source, double ratio)
{
	struct recode_want want = { .quality_ratio = ratio };
	struct recoded r;
	enum recode_reason reason = recode(&want, source->at, source->len, &r);

	if (reason == RECODE_DONE) {
		check_result(source, &r, ratio);
		free(r.data);
	}
	return reason;
}

Test(recode, a_photograph_becomes_smaller)
{
	dl_cleanup(buf_free) struct buf from = picture_make(
		(struct picture){ .width = 320, .height = 200, .quality = 95, .h = 2, .v = 2 });
	struct recoded r;

	cr_assert_eq(recode(&at_95, from.at, from.len, &r), RECODE_DONE);
	cr_assert_lt(r.size, from.len * 6 / 10);
	cr_assert(r.ssim >= 0.95 && r.ssim < 0.96);
	check_result(&from, &r, 0.95);
	free(r.data);
}

Test(recode, a_lower_ratio_gives_fewer_bytes)
{
	static const double ratios[] = { 0.99, 0.98, 0.95, 0.90, 0.85 };
	dl_cleanup(buf_free) struct buf from = picture_make(
		(struct picture){ .width = 300, .height = 210, .quality = 96, .h = 1, .v = 1 });
	size_t before = from.len;

	for (unsigned i = 0; i < DL_COUNT(ratios); i++) {
		struct recode_want want = { .quality_ratio = ratios[i] };
		struct recoded r;

		cr_assert_eq(recode(&want, from.at, from.len, &r), RECODE_DONE);
		cr_assert_lt(r.size, before);
		check_result(&from, &r, ratios[i]);
		before = r.size;
		free(r.data);
	}
}

Test(recode, a_room_does_not_change_the_result)
{
	static const struct picture pictures[] = {
		{ .width = 90, .height = 70, .quality = 95, .h = 1, .v = 1 },
		{ .width = 1300, .height = 900, .quality = 96, .h = 2, .v = 2 },
		{ .width = 320, .height = 200, .quality = 95, .h = 2, .v = 1 },
	};
	struct recode_room *room = recode_room_new(RECODE_KEPT);

	cr_assert(room);
	for (unsigned i = 0; i < 2 * DL_COUNT(pictures); i++) {
		dl_cleanup(buf_free) struct buf from = picture_make(pictures[i / 2]);
		struct recoded alone, in;

		cr_assert_eq(recode_in(room, &at_95, from.at, from.len / 2, &in), RECODE_DAMAGED);
		cr_assert_eq(recode(&at_95, from.at, from.len, &alone), RECODE_DONE);
		cr_assert_eq(recode_in(room, &at_95, from.at, from.len, &in), RECODE_DONE);
		cr_assert(in.size == alone.size && memcmp(in.data, alone.data, in.size) == 0);
		free(alone.data);
		free(in.data);
	}
	recode_room_free(room);
}

Test(recode, nothing_is_done_that_is_not_asked_for)
{
	dl_cleanup(buf_free) struct buf from = picture_make(
		(struct picture){ .width = 64, .height = 64, .quality = 95, .h = 2, .v = 2 });

	cr_assert_eq(try_at(&from, 1), RECODE_OFF);
}

/* P42: sides that are no multiple of a block. */
Test(recode, all_small_sizes)
{
	static const unsigned factors[3][2] = { { 1, 1 }, { 2, 1 }, { 2, 2 } };
	unsigned done = 0;

	for (unsigned w = 1; w <= 33; w++)
		for (unsigned h = 1; h <= 33; h += 1 + (w + h) % 3)
			for (unsigned f = 0; f < 3; f++) {
				struct picture p = { .width = w, .height = h, .quality = 98,
						     .h = factors[f][0], .v = factors[f][1] };
				dl_cleanup(buf_free) struct buf from = picture_make(p);
				enum recode_reason r = try_at(&from, 0.9);

				cr_assert(r == RECODE_DONE || r == RECODE_NO_GAIN);
				done += r == RECODE_DONE;
			}
	cr_assert_gt(done, 200);
}

Test(recode, the_last_column_is_no_worse_than_the_middle)
{
	dl_cleanup(buf_free) struct buf from = picture_make(
		(struct picture){ .width = 201, .height = 155, .quality = 96, .h = 1, .v = 1 });
	struct recoded r;
	struct decoded a, b;

	cr_assert_eq(recode(&at_95, from.at, from.len, &r), RECODE_DONE);
	a = picture_decode(from.at, from.len);
	b = picture_decode(r.data, r.size);
	for (unsigned c = 0; c < 3; c++) {
		double all = picture_error(&a, &b, c, 0, 0);

		cr_assert_leq(picture_error(&a, &b, c, 200, 0), 2 * all);
		cr_assert_leq(picture_error(&a, &b, c, 0, 154), 2 * all);
	}
	cr_assert(b.h[0] == 2 && b.v[0] == 2, "colour is halved");
	free(a.pixels);
	free(b.pixels);
	free(r.data);
}

/* P43 */
Test(recode, unusual_factors_are_kept)
{
	static const struct picture kinds[] = {
		{ .h = 1, .v = 2 }, { .h = 4, .v = 1 },
		{ .h = 2, .v = 2, .colour_h = 1, .colour_v = 2 },
		{ .h = 2, .v = 2, .apart = true }, { .h = 2, .v = 1, .apart = true },
		{ .h = 2, .v = 2, .restart = 1 }, { .h = 2, .v = 2, .progressive = true },
		{ .h = 0 },
	};

	for (unsigned i = 0; i < DL_COUNT(kinds); i++)
		for (unsigned w = 24; w < 41; w++) {
			struct picture p = kinds[i];
			struct recoded r;
			struct decoded a, b;

			p.width = w, p.height = 45, p.quality = 98;
			dl_cleanup(buf_free) struct buf from = picture_make(p);
			cr_assert_eq(recode(&at_95, from.at, from.len, &r), RECODE_DONE, "%u", i);
			check_result(&from, &r, 0.95);
			a = picture_decode(from.at, from.len);
			b = picture_decode(r.data, r.size);
			cr_assert_eq(memcmp(a.h, b.h, a.components * sizeof(*a.h)), 0);
			cr_assert_eq(memcmp(a.v, b.v, a.components * sizeof(*a.v)), 0);
			free(a.pixels);
			free(b.pixels);
			free(r.data);
		}
}

/* P31: steps above 255. */
Test(recode, steps_of_16_bits)
{
	struct picture p = { .width = 200, .height = 200, .quality = 10, .h = 2, .v = 2 };
	dl_cleanup(buf_free) struct buf from = picture_make(p);
	enum recode_reason r = try_at(&from, 0.5);

	cr_assert_neq(memmem(from.at, from.len, "\xff\xdb\x00\x83", 4), NULL, "no 16-bit table");
	cr_assert(r == RECODE_DONE || r == RECODE_NO_GAIN);
}

/* P45 */
Test(recode, a_second_pass_changes_nothing)
{
	static const double ratios[] = { 0.99, 0.95, 0.85 };

	for (unsigned i = 0; i < 6; i++) {
		struct picture p = { .width = 180, .height = 170, .quality = 96,
				     .h = i < 3, .v = 1 };
		dl_cleanup(buf_free) struct buf from = picture_make(p);
		struct recode_want want = { .quality_ratio = ratios[i % 3] };
		struct recoded r, again;

		cr_assert_eq(recode(&want, from.at, from.len, &r), RECODE_DONE);
		cr_assert_eq(recode(&want, r.data, r.size, &again), RECODE_NO_GAIN);
		free(r.data);
	}
}

Test(recode, a_poor_source_does_not_grow)
{
	for (unsigned q = 10; q <= 95; q += 5) {
		struct picture p = { .width = 150, .height = 130, .quality = q, .h = 2, .v = 2 };
		dl_cleanup(buf_free) struct buf from = picture_make(p);
		enum recode_reason r = try_at(&from, 0.99);

		cr_assert(r == RECODE_DONE || r == RECODE_NO_GAIN);
	}
}

/* The bytes of a file with `what` put in behind SOI. */
static struct buf with_segments(const struct buf *b, const void *what, size_t len)
{
	struct buf r = BUF_EMPTY;

	cr_assert(buf_append(&r, b->at, 2) == 0 && buf_append(&r, what, len) == 0
		  && buf_append(&r, b->at + 2, b->len - 2) == 0);
	return r;
}

/* P36, P37: whatever the segments hold, they are not read. */
Test(recode, segments_are_kept)
{
	dl_cleanup(buf_free) struct buf plain = picture_make(
		(struct picture){ .width = 400, .height = 400, .quality = 98, .h = 1, .v = 1 });
	dl_cleanup(buf_free) struct buf all = BUF_EMPTY;
	static const uint8_t exif[] =
		"\xff\xe1\x00\x16""Exif\0\0MM\0\x2a\0\0\0\x08\xff\xff\x01\x12";
	uint8_t part[2 + 50000] = { 0xff, 0xe2, 50000 >> 8, 50000 & 0xff };

	memcpy(part + 4, "ICC_PROFILE\0\1\2", 14);
	for (size_t i = 18; i < sizeof(part); i++)
		part[i] = (uint8_t)(i * i >> 3);
	cr_assert_eq(buf_append(&all, exif, sizeof(exif)), 0);
	all.at[3] = (uint8_t)(sizeof(exif) - 2);
	for (unsigned i = 0; i < 2; i++, part[16]++)
		cr_assert_eq(buf_append(&all, part, sizeof(part)), 0);
	cr_assert_eq(buf_append(&all, "\xff\xe3\x00\x02", 4), 0);
	for (unsigned i = 0; i < 300; i++)
		cr_assert_eq(buf_append(&all, "\xff\xfe\x00\x05\xff\xd8\xda", 7), 0);

	dl_cleanup(buf_free) struct buf from = with_segments(&plain, all.at, all.len);
	cr_assert_eq(try_at(&from, 0.85), RECODE_DONE);
}
