/* Where a level of 1 is left out, since its bits are worth more than its error: in planes, as they
 * are coded.  (What kernels make of it: recode_kernel.) */
#include <criterion/criterion.h>

#include "prefetch/recode/colour.h"
#include "prefetch/recode/luma.h"

#define SIDE 8                         /* blocks */
#define STEP 20
#define LAST 63                        /* the last frequency, whose levels take the most bits */

static int16_t blocks[3][SIDE * SIDE * 64];

static struct jpeg_image grey(struct recode_room *room)
{
	struct jpeg_image image = {
		.room = room, .width = 8 * SIDE, .height = 8 * SIDE, .components = 3,
	};

	for (unsigned c = 0; c < 3; c++) {
		image.plane[c] = (struct jpeg_plane){ blocks[c], SIDE, SIDE, 1, 1, { 0 } };
		for (unsigned k = 0; k < 64; k++)
			image.plane[c].quant[k] = 1;
	}
	return image;
}

/* As colour has it: up to 0.5 + 0.12 / 2 * (2 + 63 / 10) = 1 step. */
Test(recode_zone, of_colour)
{
	struct recode_room *room = recode_room_new(0);
	struct jpeg_image from, to;

	cr_assert(room);
	from = grey(room);
	from.plane[0].h = 2;                           /* not to be halved */
	blocks[1][LAST] = STEP * 9 / 10;
	blocks[1][64 + LAST] = STEP * 11 / 10;
	to = from;
	cr_assert_eq(colour_code(&from, STEP / 2, 1000, &to), 0);
	cr_assert_eq(to.plane[1].quant[LAST], STEP, "twice luma's");
	cr_assert_eq(to.plane[1].at[LAST], 0);
	cr_assert_eq(to.plane[1].at[64 + LAST], 1);
	recode_room_free(room);
}

/* Luma of these blocks, coded with STEP; it lies in the room. */
static struct jpeg_plane luma_coded(struct recode_room *room)
{
	struct jpeg_image from = grey(room);
	struct luma l;

	cr_assert_eq(luma_init(&from, &l), 0);
	(void)luma_try(&l, STEP);
	cr_assert_eq(l.coded.quant[LAST], STEP);
	return l.coded;
}

/* As luma has it: up to 0.5 + 0.08 / 2 * (2 + 63 / 10) = 0.83 steps, where all blocks are alike. */
Test(recode_zone, of_luma)
{
	struct recode_room *room = recode_room_new(0);
	struct jpeg_plane coded;

	cr_assert(room);
	for (unsigned i = 0; i < SIDE * SIDE; i++)
		blocks[0][64 * i + LAST] = i % 2 ? STEP * 14 / 20 : STEP * 19 / 20;
	coded = luma_coded(room);
	for (unsigned i = 0; i < SIDE * SIDE; i++)
		cr_assert_eq(coded.at[64 * i + LAST], i % 2 ? 0 : 1, "block %u", i);
	recode_room_free(room);
}

/* SSIM sees less of an error where much goes on. */
Test(recode_zone, of_busy_blocks_is_wider)
{
	struct recode_room *room = recode_room_new(0);
	struct jpeg_plane coded;

	cr_assert(room);
	for (unsigned i = 0; i < SIDE * SIDE; i++) {
		bool busy = i % SIDE >= SIDE / 2;

		blocks[0][64 * i + LAST] = STEP * 14 / 20;
		for (unsigned k = 9; busy && k < 40; k += 3)
			blocks[0][64 * i + k] = 100;
	}
	coded = luma_coded(room);
	for (unsigned y = 1; y < SIDE - 1; y++) {
		cr_assert_eq(coded.at[64 * (y * SIDE + 1) + LAST], 1, "a quiet one");
		cr_assert_eq(coded.at[64 * (y * SIDE + SIDE - 2) + LAST], 0, "a busy one");
	}
	recode_room_free(room);
}
