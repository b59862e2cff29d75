#include <malloc.h>

#include "prefetch/recode/recode.h"
#include "prefetch/recode/resize.h"
#include "tests/lib/picture.h"

struct sides_case {
	unsigned width, height, max_short, max_long, to_width, to_height;
};

Test(recode_scale, sides)
{
	static const struct sides_case cases[] = {
		{ 500, 375, 256, 0, 341, 256 }, { 375, 500, 256, 0, 256, 341 },
		{ 500, 375, 0, 256, 256, 192 }, { 500, 375, 256, 300, 300, 225 },
		{ 500, 375, 375, 500, 500, 375 }, { 200, 100, 256, 0, 200, 100 },
		{ 1000, 1, 0, 100, 100, 1 }, { 65500, 300, 256, 0, 55893, 256 },
	};

	for (size_t i = 0; i < DL_COUNT(cases); i++) {
		const struct sides_case *c = &cases[i];
		unsigned width = c->width, height = c->height;

		resize_sides(&width, &height, c->max_short, c->max_long);
		cr_assert(width == c->to_width && height == c->to_height, "%zu: %u x %u", i, width,
			  height);
	}
}

/* A slope stays one, but near its ends. */
Test(recode_scale, weights)
{
	static const uint32_t sizes[][2] = {
		{ 100, 100 }, { 100, 99 }, { 100, 50 }, { 100, 13 }, { 100, 1 }, { 7, 3 }, { 1, 1 },
	};

	for (size_t n = 0; n < DL_COUNT(sizes); n++) {
		struct resize r;

		cr_assert_eq(resize_init(&r, sizes[n][0], sizes[n][1]), 0);
		for (uint32_t i = 0; i < r.to; i++) {
			double scale = (double)r.from / r.to, sum = 0, all = 0;
			double middle = (i + 0.5) * scale - 0.5;

			cr_assert(r.first[i] + r.taps <= r.from);
			for (uint32_t k = 0; k < r.taps; k++) {
				all += (double)r.weight[i * r.taps + k];
				sum += (double)r.weight[i * r.taps + k] * (r.first[i] + k);
			}
			cr_assert_float_eq(all, 1, 1e-5);
			if (middle > 2 * scale && middle < r.from - 1 - 2 * scale)
				cr_assert_float_eq(sum, middle, 0.02 * scale);
		}
		resize_fini(&r);
	}
}

/* The mean of what a pixel of b covers in a, against that pixel. */
static double error_of_means(const struct decoded *a, const struct decoded *b)
{
	unsigned n = a->width / b->width;
	double sum = 0;

	for (unsigned y = 0; y < b->height; y++)
		for (unsigned x = 0; x < b->width; x++) {
			double mean = 0, d;

			for (unsigned i = 0; i < n * n; i++)
				mean += a->pixels[a->components
						  * ((size_t)(y * n + i / n) * a->width
						     + x * n + i % n)];
			d = mean / n / n - b->pixels[((size_t)y * b->width + x) * b->components];
			sum += d * d;
		}
	return sum / b->width / b->height;
}

static void scale_one(struct picture p, double ratio, unsigned to)
{
	dl_cleanup(buf_free) struct buf from = picture_make(p);
	struct recode_want want = { .quality_ratio = ratio, .max_short_side = to };
	struct recoded r;
	struct decoded a, b;

	cr_assert_eq(recode(&want, from.at, from.len, &r), RECODE_DONE);
	cr_assert(r.ssim >= (ratio < 1 ? ratio : 0.9));
	a = picture_decode(from.at, from.len);
	b = picture_decode(r.data, r.size);
	cr_assert(b.height == to && b.width == p.width * to / p.height);
	cr_assert(r.width == b.width && r.height == b.height);
	cr_assert(b.space == a.space && !b.progressive);
	cr_assert_lt(error_of_means(&a, &b), ratio < 1 ? 150 : 90);
	free(a.pixels);
	free(b.pixels);
	free(r.data);
}

Test(recode_scale, the_picture_is_the_same_but_smaller)
{
	static const struct picture kinds[] = {
		{ .h = 1, .v = 1 }, { .h = 2, .v = 2 }, { .h = 2, .v = 1, .progressive = true },
		{ .h = 0 }, { .h = 4, .v = 1 },
	};
	static const unsigned sides[] = { 120, 80, 60, 40, 24 };

	for (unsigned i = 0; i < DL_COUNT(kinds); i++)
		for (unsigned j = 0; j < DL_COUNT(sides); j++) {
			struct picture p = kinds[i];

			p.width = 480, p.height = 240, p.quality = 95;
			scale_one(p, 1, sides[j]);
			scale_one(p, 0.95, sides[j]);
		}
}

static size_t allocated(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* A room keeps what was taken, if it may. */
static void check_need(struct picture p, unsigned to)
{
	dl_cleanup(buf_free) struct buf from = picture_make(p);
	struct recode_want want = { .quality_ratio = 0.9, .max_short_side = to };
	size_t before = allocated(), took;
	struct recode_room *room = recode_room_new(SIZE_MAX);
	struct recoded r;

	cr_assert(room && recode_in(room, &want, from.at, from.len, &r) == RECODE_DONE);
	free(r.data);
	took = allocated() - before;
	cr_assert_leq(took, recode_need(&want, from.at, from.len).coding, "%u to %u: %zu", p.width,
		      to, took);
	recode_room_free(room);
}

Test(recode_scale, no_more_memory_is_taken_than_was_said)
{
	static const unsigned sizes[][2] = {
		{ 40, 40 }, { 100, 30 }, { 480, 130 }, { 900, 900 }, { 900, 500 }, { 1600, 405 },
		{ 1600, 100 },
	};

	for (size_t i = 0; i < DL_COUNT(sizes); i++) {
		struct picture p = {
			.width = sizes[i][0], .height = sizes[i][0], .quality = 95, .h = 1, .v = 1,
		};

		check_need(p, sizes[i][1]);
		p.h = p.v = 2;
		p.progressive = true;
		check_need(p, sizes[i][1]);
	}
}

/* Its steps are too coarse for the floor.  Left alone it would be larger than all others. */
Test(recode_scale, a_source_of_low_quality_is_made_smaller_too)
{
	dl_cleanup(buf_free) struct buf from = picture_make(
		(struct picture){ .width = 480, .height = 360, .quality = 10, .h = 1, .v = 1 });

	for (double floor = 0.85; floor < 0.99; floor += 0.05) {
		struct recode_want want = { .quality_ratio = floor, .max_short_side = 90 };
		struct recoded r;

		cr_assert_eq(recode(&want, from.at, from.len, &r), RECODE_DONE, "%g", floor);
		cr_assert(r.ssim >= floor && r.height == 90);
		cr_assert_lt(r.size, from.len);
		free(r.data);
	}
}

Test(recode_scale, what_is_small_enough_is_left_alone)
{
	dl_cleanup(buf_free) struct buf from = picture_make(
		(struct picture){ .width = 100, .height = 80, .quality = 95, .h = 2, .v = 2 });
	struct recode_want want = {
		.quality_ratio = 1, .max_short_side = 80, .max_long_side = 100,
	};
	struct recoded r;

	cr_assert_eq(recode(&want, from.at, from.len, &r), RECODE_OFF);
	want.max_short_side = 8;
	cr_assert_eq(recode(&want, from.at, from.len, &r), RECODE_NO_GAIN);
}
