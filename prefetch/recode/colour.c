#include "prefetch/recode/colour.h"

#include <string.h>

#include "prefetch/recode/luma.h"

#define BIT_PRICE 0.12f                /* in squared steps */
#define RULE 2                         /* times luma's squared error are allowed */
#define HALVES_MOST 0.75               /* of the allowed error; the rest is for the steps */
#define PART ((size_t)64)              /* blocks that are coded at once */

static void code_plane(const struct jpeg_plane *from, const uint16_t steps[64], float price,
		       struct jpeg_plane *to)
{
	float prices[PART] = { [0 ... PART - 1] = price };
	size_t count = (size_t)from->columns * from->rows;
	struct quantiser q;

	quantiser_init(&q, steps, NULL);
	memcpy(to->quant, steps, sizeof(to->quant));
	for (size_t i = 0; i < count; i += PART)
		kernel_best()->quantise(&q, from->at + 64 * i, prices, DL_MIN(count - i, PART),
					to->at + 64 * i);
}

/* The mean squared error of what was coded. */
static double error_of(const struct jpeg_plane *from, const struct jpeg_plane *to)
{
	size_t count = (size_t)from->columns * from->rows;

	return (double)kernel_best()->error(from->at, to->at, to->quant, count) / 64
		/ (double)count;
}

/* With the coarsest step that the rule allows.  source[]: steps that it has at least. */
static void code_planes(const struct jpeg_plane *const from[2], const double allowed[2],
			float luma_step, struct jpeg_image *to)
{
	static const float coarser[] = { 2, 1.4f, 1 };
	uint16_t source[64], steps[64];

	/* Both are written with one table. */
	for (unsigned k = 0; k < 64; k++)
		source[k] = DL_MAX(from[0]->quant[k], from[1]->quant[k]);
	for (unsigned i = 0; i < DL_COUNT(coarser); i++) {
		float step = DL_MIN(luma_step * coarser[i], STEP_MAX);
		bool kept = true;

		coarser_steps(source, step, steps);
		for (unsigned c = 0; c < 2; c++) {
			code_plane(from[c], steps, BIT_PRICE * step * step, &to->plane[c + 1]);
			kept &= error_of(from[c], &to->plane[c + 1]) <= allowed[c];
		}
		if (kept)
			return;
	}
}

static int make_room(struct recode_room *room, const struct jpeg_plane *from, struct jpeg_plane *to)
{
	*to = *from;
	to->at = room_take(room, (size_t)from->columns * from->rows, 64 * sizeof(*to->at));
	return to->at ? 0 : -ENOMEM;
}

/* Two rows of blocks as pixels, what is beyond the picture being that at its edge. */
struct band {
	uint8_t *at;                   /* [16][stride] */
	size_t stride;                 /* of whole 16 */
	uint32_t width;
};

static void render_band(const struct jpeg_plane *p, uint32_t height, uint32_t row, struct band *b)
{
	static const float ones[64] = { [0 ... 63] = 1 };

	for (uint32_t i = 0; i < 2 && row + i < p->rows; i++)
		kernel_best()->pixels(p->at + (size_t)(row + i) * p->columns * 64, ones,
				      p->columns, b->at + i * 8 * b->stride, b->stride);
	for (uint32_t y = 0; y < 16; y++) {
		uint8_t *line = b->at + y * b->stride;

		if (row * 8 + y >= height)
			memcpy(line, line - b->stride, b->stride);
		memset(line + b->width, line[b->width - 1], b->stride - b->width);
	}
}

/* Means of 2x2 pixels; the squared errors that they make. */
static float halve_row(const uint8_t *p, const uint8_t *q, uint32_t count, float *to)
{
	float lost = 0;

	for (uint32_t x = 0; x < count; x++) {
		int a = p[2 * x], b = p[2 * x + 1], c = q[2 * x], d = q[2 * x + 1];
		int sum = a + b + c + d;

		to[x] = (float)sum / 4 - 128;
		lost += (float)(a * a + b * b + c * c + d * d) - (float)(sum * sum) / 4;
	}
	return lost;
}

static int halve(const struct jpeg_image *from, unsigned plane, struct jpeg_plane *ret,
		 double *lost)
{
	const struct jpeg_plane *p = &from->plane[plane];
	struct jpeg_plane half = *p;
	struct band b = { .width = from->width, .stride = (size_t)(p->columns + 1) / 2 * 16 };
	float *rows = room_take(from->room, 8 * b.stride / 2, sizeof(*rows));
	double sum = 0;

	half.columns = (p->columns + 1) / 2;
	half.rows = (p->rows + 1) / 2;
	half.at = room_take(from->room, (size_t)half.columns * half.rows, 64 * sizeof(*half.at));
	b.at = room_take(from->room, 16, b.stride);
	if (!half.at || !rows || !b.at)
		return -ENOMEM;
	for (uint32_t y = 0; y < half.rows; y++) {
		render_band(p, from->height, 2 * y, &b);
		for (uint32_t i = 0; i < 8; i++) {
			const uint8_t *line = b.at + 2 * i * b.stride;

			sum += (double)halve_row(line, line + b.stride, (uint32_t)b.stride / 2,
						 rows + i * b.stride / 2);
		}
		kernel_best()->blocks(rows, b.stride / 2, half.columns,
				      half.at + (size_t)y * half.columns * 64);
	}
	*lost = sum / from->width / from->height;
	*ret = half;
	return 0;
}

static bool is_444(const struct jpeg_image *image)
{
	bool same = image->components == 3;

	for (unsigned i = 0; same && i < 3; i++)
		same = image->plane[i].h == 1 && image->plane[i].v == 1;
	return same;
}

/* *ret: whether the planes of *halves are to be taken.  What they lose is taken off allowed[].
 */
static int try_halves(const struct jpeg_image *from, struct jpeg_image *halves, double allowed[2],
		      bool *ret)
{
	double lost[2];

	*ret = is_444(from);
	for (unsigned i = 0; *ret && i < 2; i++) {
		int r = halve(from, i + 1, &halves->plane[i + 1], &lost[i]);

		if (r < 0)
			return r;
		*ret = lost[i] <= allowed[i] * HALVES_MOST;
	}
	for (unsigned i = 0; *ret && i < 2; i++)
		allowed[i] -= lost[i];
	return 0;
}

int colour_code(const struct jpeg_image *from, float luma_step, double luma_error,
		struct jpeg_image *to)
{
	struct jpeg_image halves = { 0 };
	double allowed[2] = { RULE * luma_error, RULE * luma_error };
	bool halved;
	int r = try_halves(from, &halves, allowed, &halved);
	const struct jpeg_plane *planes[2] = {
		halved ? &halves.plane[1] : &from->plane[1],
		halved ? &halves.plane[2] : &from->plane[2],
	};

	for (unsigned i = 0; r == 0 && i < 2; i++)
		r = make_room(from->room, planes[i], &to->plane[i + 1]);
	if (r == 0)
		code_planes(planes, allowed, luma_step, to);
	if (halved)
		to->plane[0].h = to->plane[0].v = 2;
	return r;
}
