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

/* lost: the mean squared error that this makes, as if all of it were within the picture. */
static int halve(const struct jpeg_image *from, unsigned plane, struct jpeg_plane *ret,
		 double *lost)
{
	const struct jpeg_plane *p = &from->plane[plane];
	struct jpeg_plane half = *p;
	double sum = 0;

	half.columns = (p->columns + 1) / 2;
	half.rows = (p->rows + 1) / 2;
	half.at = room_take(from->room, (size_t)half.columns * half.rows, 64 * sizeof(*half.at));
	if (!half.at)
		return -ENOMEM;
	for (uint32_t y = 0; y < half.rows; y++) {
		const int16_t *above = p->at + (size_t)2 * y * p->columns * 64;
		const int16_t *below = 2 * y + 1 < p->rows ? above + (size_t)p->columns * 64
							   : above;

		sum += (double)kernel_best()->halve(above, below, p->columns,
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
