/* Each instruction set gives the same bits: a size must not depend on the machine. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "prefetch/recode/kernel.h"
#include "prefetch/recode/luma.h"
#include "prefetch/recode/range.h"

#define COLUMNS 9
#define STRIDE (8 * COLUMNS)
#define WIDTH (STRIDE - 3)

static struct random state = { 1 };

static int draw(int below)
{
	return (int)random_below(&state, (uint32_t)below);
}

struct output {
	int16_t levels[COLUMNS * 64], blocks[COLUMNS * 64];
	uint32_t symbols[256];
	int16_t scaled[COLUMNS * 64], halves[(COLUMNS + 1) / 2 * 64];
	uint8_t pixels[16 * STRIDE];
	float mean[STRIDE], square[STRIDE], sum, lost;
	uint64_t error;
	int in_range;
};

static void run(const struct kernel *k, const int16_t *blocks, struct output *o)
{
	static float work[3 * KERNEL_LINE(STRIDE)], values[8 * STRIDE];
	uint16_t steps[64];
	int16_t most[64];
	float price[COLUMNS];
	struct quantiser q;

	memset(o, 0, sizeof(*o));
	for (unsigned i = 0; i < 64; i++)
		steps[i] = (uint16_t)(5 + i / 3);
	for (unsigned i = 0; i < COLUMNS; i++)
		price[i] = 10 * (float)(i + 1);
	quantiser_init(&q, steps, seen_by_ssim);
	range_most(steps, most);
	o->in_range = k->scale(blocks, steps, most, COLUMNS, o->scaled)
		+ 2 * k->within(o->scaled, COLUMNS, 500);
	o->lost = k->halve(blocks, o->scaled, COLUMNS, o->halves);
	k->quantise(&q, blocks, price, COLUMNS, o->levels);
	o->error = k->error(blocks, o->levels, steps, COLUMNS);
	k->count(o->levels, COLUMNS, o->symbols);
	k->pixels(o->levels, q.step, COLUMNS, o->pixels, STRIDE);
	k->pixels(blocks, q.step, COLUMNS, o->pixels + 8 * STRIDE, STRIDE);
	for (unsigned i = 0; i < 8 * STRIDE; i++)
		values[i] = (float)o->pixels[i] - 128;
	k->blocks(values, STRIDE, COLUMNS, o->blocks);
	k->measure(o->pixels, STRIDE, WIDTH, work, o->mean, o->square);
	o->sum = k->compare(o->pixels, o->pixels + 5 * STRIDE, STRIDE, WIDTH, o->mean, o->square,
			    work);
}

Test(recode_kernel, all_give_the_same)
{
	static int16_t blocks[COLUMNS * 64];
	static struct output first, other;
	const struct kernel *k;

	for (unsigned round = 0; round < 200; round++) {
		for (unsigned i = 0; i < COLUMNS * 64; i++) {
			int most = 200 / (1 + (int)i % 64);

			blocks[i] = (int16_t)(draw(1 + 2 * most) - most);
		}
		run(kernel_number(0), blocks, &first);
		for (unsigned i = 1; (k = kernel_number(i)); i++) {
			run(k, blocks, &other);
			cr_assert_eq(memcmp(&first, &other, sizeof(first)), 0, "%s", k->name);
		}
	}
}

Test(recode_kernel, the_last_one_is_used)
{
	unsigned count = 0;

	while (kernel_number(count))
		count++;
	cr_assert_eq(kernel_best(), kernel_number(count - 1));
#ifdef __x86_64__
	/* Who has the instructions for the last one has those for the one before. */
	if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
		cr_assert_gt(count, 2, "only %u", count);
	else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
		cr_assert_eq(count, 2);
#endif
}

Test(recode_kernel, squared_errors_are_added_up)
{
	static int16_t blocks[200 * 64], levels[200 * 64];
	const struct kernel *k;
	uint16_t steps[64];
	uint64_t sum = 0;

	for (unsigned i = 0; i < 64; i++)
		steps[i] = (uint16_t)(i + 1);
	for (unsigned i = 0; i < 200 * 64; i++) {
		int error = i % 3 ? draw(2047) - 1023 : 1023;

		levels[i] = (int16_t)(draw(9) - 4);
		blocks[i] = (int16_t)(levels[i] * steps[i % 64] + error);
		sum += (uint64_t)(error * error);
	}
	for (unsigned i = 0; (k = kernel_number(i)); i++)
		cr_assert_eq(k->error(blocks, levels, steps, 200), sum, "%s", k->name);
}

Test(recode_kernel, levels_become_values_in_place)
{
	static int16_t blocks[3 * 64], to[3 * 64];
	uint16_t steps[64];
	int16_t most[64];
	const struct kernel *k;

	for (unsigned i = 0; i < 64; i++) {
		steps[i] = (uint16_t)(i + 1);
		most[i] = 50;
	}
	for (unsigned i = 0; (k = kernel_number(i)); i++) {
		for (unsigned j = 0; j < 3 * 64; j++)
			blocks[j] = (int16_t)(draw(101) - 50);
		memcpy(to, blocks, sizeof(to));
		cr_assert(k->scale(to + 64, steps, most, 2, to), "%s", k->name);
		for (unsigned j = 0; j < 2 * 64; j++)
			cr_assert_eq(to[j], blocks[64 + j] * steps[j % 64], "%s", k->name);
	}
}

/* One of many, by whatever it is too large. */
Test(recode_kernel, a_value_out_of_range_is_seen)
{
	static int16_t blocks[2 * 64], to[2 * 64];
	uint16_t steps[64];
	int16_t most[64];
	const struct kernel *k;

	for (unsigned i = 0; i < 64; i++)
		steps[i] = i % 8 ? (uint16_t)(i + 1) : 65535;
	range_most(steps, most);
	for (unsigned i = 0; (k = kernel_number(i)); i++)
		for (unsigned j = 0; j < 2 * 64; j++) {
			int level = most[j % 64], beyond[] = {
				level + 1, -level - 1, 32767, -32767, -32768,
			};

			blocks[j] = (int16_t)(j % 2 ? level : -level);
			cr_assert(k->scale(blocks, steps, most, 2, to), "%s, %u", k->name, j);
			for (unsigned n = 0; n < DL_COUNT(beyond); n++) {
				blocks[j] = (int16_t)beyond[n];
				cr_assert_not(k->scale(blocks, steps, most, 2, to), "%s, %u by %d",
					      k->name, j, beyond[n]);
			}
			blocks[j] = 0;
		}
}

static double wave(unsigned u, unsigned x)
{
	return u ? cos((2 * x + 1) * u * M_PI / 16) / 2 : sqrt(0.125);
}

static double farthest(const int16_t *block)
{
	double most = 0;

	for (unsigned p = 0; p < 64; p++) {
		double sum = 0;

		for (unsigned k = 0; k < 64; k++)
			sum += block[k] * wave(k % 8, p % 8) * wave(k / 8, p / 8);
		most = DL_MAX(most, fabs(sum));
	}
	return most;
}

Test(recode_kernel, a_pixel_out_of_range_is_seen)
{
	static int16_t blocks[3 * 64];
	const struct kernel *k;

	for (unsigned round = 0; round < 300; round++) {
		unsigned some = 1 + (unsigned)draw(64);
		float most;

		for (unsigned i = 0; i < 64; i++)
			blocks[64 + i] = (int16_t)((unsigned)draw(64) < some ? draw(2001) - 1000
									     : 0);
		most = (float)farthest(blocks + 64);
		for (unsigned i = 0; (k = kernel_number(i)); i++) {
			cr_assert(k->within(blocks, 3, most + 0.1f), "%s, %u", k->name, round);
			cr_assert(!k->within(blocks, 3, most - 0.1f), "%s, %u", k->name, round);
		}
	}
}

Test(recode_kernel, pixels_come_back_from_their_blocks)
{
	static int16_t blocks[COLUMNS * 64];
	static struct output o;
	static const float ones[64] = { [0 ... 63] = 1 };
	uint8_t again[8 * STRIDE];

	for (unsigned i = 0; i < COLUMNS * 64; i++)
		blocks[i] = (int16_t)(draw(60) - 30);
	run(kernel_best(), blocks, &o);
	kernel_best()->pixels(o.blocks, ones, COLUMNS, again, STRIDE);
	for (unsigned i = 0; i < sizeof(again); i++)
		cr_assert_leq(abs(again[i] - o.pixels[i]), 2);
}

Test(recode_kernel, a_level_of_1_has_to_be_worth_its_bits)
{
	static const float ones[64] = { [0 ... 63] = 1 };
	static const int16_t dc[64] = { 6 };
	static int16_t blocks[2 * 64], levels[2 * 64];
	const uint16_t steps[64] = { [0 ... 63] = 10 };
	struct quantiser q;

	quantiser_init(&q, steps, ones);
	for (unsigned k = 0; k < 64; k++) {
		blocks[k] = k % 2 ? 7 : -14;
		blocks[64 + k] = k % 2 ? 8 : -17;
	}
	for (unsigned i = 0; kernel_number(i); i++) {
		kernel_number(i)->quantise(&q, blocks, (float[]){ 0, 200 }, 2, levels);
		for (unsigned k = 1; k < 64; k++) {
			cr_assert_eq(levels[k], k % 2 ? 1 : -1);
			cr_assert_eq(levels[64 + k], k % 2 ? 0 : -2);
		}
		cr_assert_eq(levels[64], -2);
		kernel_number(i)->quantise(&q, blocks, (float[]){ 8, 0 }, 2, levels);
		cr_assert_eq(levels[1], 1, "two bits are few");
		cr_assert_eq(levels[63], 0, "of eight it is worth less");
		cr_assert_eq(levels[0], -1, "a DC is rounded");
		kernel_number(i)->quantise(&q, dc, (float[]){ 200 }, 1, levels);
		cr_assert_eq(levels[0], 1, "and never left out");
	}
}

/* Blocks of COLUMNS - 1 columns and two rows, of smooth pixels. */
static void draw_pixels(int16_t blocks[2][COLUMNS * 64], uint8_t pixels[16][STRIDE])
{
	float values[16 * STRIDE];

	for (unsigned y = 0; y < 16; y++)
		for (unsigned x = 0; x < STRIDE; x++) {
			pixels[y][x] = (uint8_t)(60 + 2 * (x % 50) + y * 3 + (unsigned)draw(40));
			values[y * STRIDE + x] = (float)pixels[y][x] - 128;
		}
	for (unsigned i = 0; i < 2; i++)
		kernel_best()->blocks(values + (size_t)8 * i * STRIDE, STRIDE, COLUMNS, blocks[i]);
}

Test(recode_kernel, halves_are_the_means_of_four_pixels)
{
	static const float ones[64] = { [0 ... 63] = 1 };
	static int16_t blocks[2][COLUMNS * 64], halves[(COLUMNS + 1) / 2 * 64];
	static uint8_t pixels[16][STRIDE], got[8][STRIDE];
	double lost = 0, found;

	draw_pixels(blocks, pixels);
	found = (double)kernel_best()->halve(blocks[0], blocks[1], COLUMNS - 1, halves);
	kernel_best()->pixels(halves, ones, COLUMNS / 2, got[0], STRIDE);
	for (unsigned y = 0; y < 16; y++)
		for (unsigned x = 0; x < STRIDE - 8; x++) {
			const uint8_t *p = &pixels[y & ~1u][x & ~1u];
			double mean = (p[0] + p[1] + p[STRIDE] + p[STRIDE + 1]) / 4.0;

			lost += (pixels[y][x] - mean) * (pixels[y][x] - mean);
			cr_assert_leq(fabs(got[y / 2][x / 2] - mean), 2);
		}
	cr_assert_leq(fabs(found - lost), 0.05 * lost, "%g, %g", found, lost);
}

Test(recode_kernel, halves_are_mirrored_where_a_block_is_missing)
{
	static const float ones[64] = { [0 ... 63] = 1 };
	static int16_t blocks[2][COLUMNS * 64], half[64];
	static uint8_t pixels[16][STRIDE], got[8][8];

	draw_pixels(blocks, pixels);
	(void)kernel_best()->halve(blocks[0], blocks[0], 1, half);
	kernel_best()->pixels(half, ones, 1, got[0], 8);
	for (unsigned y = 0; y < 8; y++)
		for (unsigned x = 0; x < 8; x++) {
			cr_assert_leq(abs(got[y][x] - got[y][7 - x]), 1);
			cr_assert_leq(abs(got[y][x] - got[7 - y][x]), 1);
		}
	for (unsigned x = 0; x < 4; x++) {
		const uint8_t *p = &pixels[0][2 * x];

		cr_assert_leq(abs(got[0][x] * 4 - p[0] - p[1] - p[STRIDE] - p[STRIDE + 1]), 8);
	}
}
