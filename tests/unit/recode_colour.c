/* Colour planes of half the size: every block of them, also where there are an odd number. */
#include <criterion/criterion.h>

#include "prefetch/recode/colour.h"
#include "prefetch/recode/kernel.h"

#define MOST 5                         /* blocks on a side */
#define SIDE (8 * MOST)
#define LUMA_STEP 4
#define HALVING_LOSES 1.25             /* of such slopes: 0.5 squared, and 1 squared */

static int16_t blocks[3][MOST * MOST * 64];

/* Slopes, so that a block that is taken from elsewhere, or mirrored, is far off. */
static float value(unsigned c, unsigned x, unsigned y)
{
	float v = (float)x + 2 * (float)y - SIDE;

	return c == 1 ? v : -v;
}

static struct jpeg_image slopes(struct recode_room *room, unsigned columns, unsigned rows)
{
	struct jpeg_image image = {
		.room = room, .width = 8 * columns, .height = 8 * rows, .components = 3,
	};

	for (unsigned c = 0; c < 3; c++) {
		struct jpeg_plane *p = &image.plane[c];
		float line[8 * SIDE];

		*p = (struct jpeg_plane){ blocks[c], columns, rows, 1, 1, { 0 } };
		for (unsigned k = 0; k < 64; k++)
			p->quant[k] = 1;
		for (unsigned row = 0; row < rows; row++) {
			for (unsigned i = 0; i < 8 * SIDE; i++)
				line[i] = value(c, i % SIDE, 8 * row + i / SIDE);
			kernel_best()->blocks(line, SIDE, columns,
					      p->at + (size_t)row * columns * 64);
		}
	}
	return image;
}

/* The pixels of a row of blocks of what was coded. */
static void pixels_of(const struct jpeg_plane *p, unsigned row, uint8_t ret[8][SIDE])
{
	float steps[64];

	for (unsigned k = 0; k < 64; k++)
		steps[k] = p->quant[k];
	kernel_best()->pixels(p->at + (size_t)row * p->columns * 64, steps, p->columns, ret[0],
			      SIDE);
}

static void expect_halves(const struct jpeg_image *from, const struct jpeg_image *to, unsigned c)
{
	const struct jpeg_plane *p = &to->plane[c];
	uint8_t got[8][SIDE];

	cr_assert(p->columns == (from->plane[c].columns + 1) / 2 &&
		  p->rows == (from->plane[c].rows + 1) / 2, "%u x %u of %u x %u", p->columns,
		  p->rows, from->plane[c].columns, from->plane[c].rows);
	for (unsigned y = 0; y < from->height / 2; y++) {
		if (y % 8 == 0)
			pixels_of(p, y / 8, got);
		for (unsigned x = 0; x < from->width / 2; x++) {
			float mean = (value(c, 2 * x, 2 * y) + value(c, 2 * x + 1, 2 * y + 1)) / 2;

			cr_assert_float_eq((float)got[y % 8][x], mean + 128, 6,
					   "%u x %u, plane %u: %u, not %f at %u, %u",
					   from->plane[c].columns, from->plane[c].rows, c,
					   got[y % 8][x], (double)mean + 128, x, y);
		}
	}
}

static struct jpeg_image code(const struct jpeg_image *from, double luma_error)
{
	struct jpeg_image to = *from;

	cr_assert_eq(colour_code(from, LUMA_STEP, luma_error, &to), 0);
	return to;
}

Test(recode_colour, all_of_it_is_halved)
{
	struct recode_room *room = recode_room_new(0);

	cr_assert(room);
	for (unsigned columns = 1; columns <= MOST; columns++)
		for (unsigned rows = 1; rows <= MOST; rows++) {
			struct jpeg_image from = slopes(room, columns, rows), to = code(&from, 4);

			cr_assert(to.plane[0].h == 2 && to.plane[0].v == 2, "not halved");
			expect_halves(&from, &to, 1);
			expect_halves(&from, &to, 2);
			room_clear(room);
		}
	recode_room_free(room);
}

/* Three quarters of twice luma's error are for that. */
Test(recode_colour, it_is_halved_if_that_loses_little)
{
	struct recode_room *room = recode_room_new(0);
	struct jpeg_image from, to;

	cr_assert(room);
	from = slopes(room, 4, 4);
	to = code(&from, HALVING_LOSES * 1.1 / 1.5);
	cr_assert(to.plane[0].h == 2 && to.plane[1].columns == 2, "it loses less");
	to = code(&from, HALVING_LOSES * 0.9 / 1.5);
	cr_assert(to.plane[0].h == 1 && to.plane[1].columns == 4, "it loses more");
	from.plane[0].h = 2;
	to = code(&from, 100);
	cr_assert(to.plane[0].h == 2 && to.plane[1].columns == 4, "only 4:4:4 is");
	recode_room_free(room);
}

/* What the steps lose comes on top of that. */
Test(recode_colour, no_more_is_lost_than_the_rule_allows)
{
	struct recode_room *room = recode_room_new(0);
	struct jpeg_image from = slopes(room, 4, 4);
	int16_t half[4 * 64];
	unsigned coarse = 0;
	double lost = 0;

	for (unsigned y = 0; y < 2; y++) {
		const int16_t *above = from.plane[1].at + (size_t)y * 8 * 64;

		lost += (double)kernel_best()->halve(above, above + (size_t)4 * 64, 4,
						     half + (size_t)y * 2 * 64);
	}
	lost /= from.width * from.height;
	cr_assert_float_eq(lost, HALVING_LOSES, 0.1 * HALVING_LOSES, "%f", lost);
	for (double luma_error = 1; luma_error < 30; luma_error *= 1.02) {
		struct jpeg_image to = code(&from, luma_error);
		const struct jpeg_plane *p = &to.plane[1];
		double error = (double)kernel_best()->error(half, p->at, p->quant, 4) / 64 / 4;

		cr_assert_eq(p->columns, 2);
		if (p->quant[63] > LUMA_STEP) {        /* it might have had a finer one */
			coarse++;
			cr_assert_leq(error, 2 * luma_error - lost + 0.001, "%f, luma %f",
				      error, luma_error);
		}
		room_clear(room);
	}
	cr_assert_gt(coarse, 10);
	recode_room_free(room);
}
