#include "prefetch/recode/luma.h"

#include <string.h>

/* Of the rows of windows, each fifth is looked at, which changes what is lost by 1 % usually; of a
 * picture that is busy in few rows by more, and now and then by more than GUARD (search.c) allows
 * for.  An odd number, since an even one would always meet the same rows of blocks.
 */
#define EACH 5
#define ALL_BELOW 128                  /* rows: a small picture is looked at as a whole */
#define HALF (SSIM_TAPS / 2)
#define C2 (0.03f * 255 * 0.03f * 255)
#define BIT_PRICE 0.08f                /* in squared steps, where the weight is the usual one */
#define WORTH_MIN 0.25f
#define WORTH_MAX 8.0f                 /* so that busy places do not lose what SSIM overlooks */

static uint32_t first_row(const struct luma *l)
{
	uint32_t rows = l->height - SSIM_TAPS + 1;

	return (rows - 1 - (l->windows - 1) * l->each) / 2;
}

static const uint8_t *row_at(const struct luma *l, const uint8_t *pixels, uint32_t i)
{
	return pixels + (first_row(l) + (size_t)i * l->each) * l->stride;
}

static void render(const struct luma *l, const int16_t *blocks, const float *steps, uint8_t *to)
{
	for (uint32_t y = 0; y < l->from->rows; y++)
		l->kernel->pixels(blocks + (size_t)y * l->from->columns * 64, steps,
				  l->from->columns, to + (size_t)y * 8 * l->stride, l->stride);
}

static size_t blocks_of_luma(const struct luma *l)
{
	return (size_t)l->from->columns * l->from->rows;
}

/* Each block's share of the windows' weights, by where their middles lie. */
static void weigh_row(struct luma *l, uint32_t i, float *sum, uint16_t *seen)
{
	const float *mean = l->mean + i * l->stride;
	const float *square = l->square + i * l->stride;

	for (uint32_t x = 0; x < l->width - SSIM_TAPS + 1; x++)
		l->work[x] = 1 / (2 * (square[x] - mean[x] * mean[x]) + C2);
	for (uint32_t x = 0; x < l->width - SSIM_TAPS + 1; x++) {
		sum[(x + HALF) / 8] += l->work[x];
		seen[(x + HALF) / 8]++;
	}
}

/* A block that no window is centred in, at an edge. */
static float weight_alone(const int16_t *block)
{
	float sum = 0;

	for (unsigned k = 1; k < 64; k++)
		sum += (float)block[k] * (float)block[k];
	return 1 / (2 * sum / 64 + C2);
}

static int weigh_blocks(struct luma *l)
{
	size_t count = blocks_of_luma(l);
	uint16_t *seen = room_take(l->room, count, sizeof(*seen));

	if (!seen)
		return -ENOMEM;
	memset(seen, 0, count * sizeof(*seen));
	memset(l->weight, 0, count * sizeof(*l->weight));
	for (uint32_t i = 0; i < l->windows; i++) {
		size_t block = (first_row(l) + (size_t)i * l->each + HALF) / 8 * l->from->columns;

		weigh_row(l, i, l->weight + block, seen + block);
	}
	for (size_t i = 0; i < count; i++)
		l->weight[i] = seen[i] ? l->weight[i] / seen[i]
				       : weight_alone(l->from->at + 64 * i);
	return 0;
}

/* The bits of a float are about its logarithm, so this is about the geometric mean. */
static float usual(const float *at, size_t count)
{
	uint64_t sum = 0;
	uint32_t mean;
	float ret;

	for (size_t i = 0; i < count; i++) {
		uint32_t bits;

		memcpy(&bits, at + i, sizeof(bits));
		sum += bits;
	}
	mean = (uint32_t)(sum / count);
	memcpy(&ret, &mean, sizeof(ret));
	return ret;
}

static void price_blocks(struct luma *l)
{
	size_t count = blocks_of_luma(l);
	float middle = usual(l->weight, count);

	for (size_t i = 0; i < count; i++) {
		float worth = middle / l->weight[i];

		worth = worth < WORTH_MIN ? WORTH_MIN : worth > WORTH_MAX ? WORTH_MAX : worth;
		l->worth[i] = worth * BIT_PRICE;
	}
}

static int allocate(struct luma *l)
{
	size_t blocks = blocks_of_luma(l), sums = (size_t)l->windows * l->stride;
	size_t lines = (size_t)l->from->rows * 8;

	l->original = room_take(l->room, lines, l->stride);
	l->tried = room_take(l->room, lines, l->stride);
	l->mean = room_take(l->room, sums, sizeof(float));
	l->square = room_take(l->room, sums, sizeof(float));
	l->work = room_take(l->room, 3 * KERNEL_LINE(l->stride), sizeof(float));
	l->weight = room_take(l->room, blocks, sizeof(float));
	l->worth = room_take(l->room, blocks, sizeof(float));
	l->price = room_take(l->room, blocks, sizeof(float));
	l->coded = *l->from;
	l->coded.at = room_take(l->room, blocks, 64 * sizeof(int16_t));
	return l->original && l->tried && l->mean && l->square && l->work && l->weight && l->worth
		&& l->price && l->coded.at ? 0 : -ENOMEM;
}

int luma_init(const struct jpeg_image *image, struct luma *ret)
{
	static const float ones[64] = { [0 ... 63] = 1 };
	const struct jpeg_plane *from = &image->plane[0];
	struct luma l = {
		.kernel = kernel_best(), .from = from, .room = image->room,
		.width = image->width, .height = image->height,
		.each = image->height < ALL_BELOW ? 1 : EACH,
		.stride = (size_t)(from->columns * 8 + KERNEL_LANES - 1) / KERNEL_LANES
			* KERNEL_LANES,
	};

	l.windows = (l.height - SSIM_TAPS) / l.each + 1;
	if (allocate(&l) < 0)
		return -ENOMEM;
	render(&l, from->at, ones, l.original);
	for (uint32_t i = 0; i < l.windows; i++)
		l.kernel->measure(row_at(&l, l.original, i), l.stride, l.width, l.work,
				  l.mean + i * l.stride, l.square + i * l.stride);
	if (weigh_blocks(&l) < 0)
		return -ENOMEM;
	price_blocks(&l);
	*ret = l;
	return 0;
}

double luma_try(struct luma *l, float step)
{
	struct quantiser q;
	double sum = 0;

	coarser_steps(l->from->quant, step, l->coded.quant);
	quantiser_init(&q, l->coded.quant, seen_by_ssim);
	for (size_t i = 0; i < blocks_of_luma(l); i++)
		l->price[i] = l->worth[i] * step * step;
	l->kernel->quantise(&q, l->from->at, l->price, blocks_of_luma(l), l->coded.at);
	render(l, l->coded.at, q.step, l->tried);
	for (uint32_t i = 0; i < l->windows; i++)
		sum += (double)l->kernel->compare(
			row_at(l, l->original, i), row_at(l, l->tried, i), l->stride, l->width,
			l->mean + i * l->stride, l->square + i * l->stride,
			l->work);
	return sum / l->windows / (l->width - SSIM_TAPS + 1);
}

double luma_error(const struct luma *l)
{
	size_t count = blocks_of_luma(l);

	return (double)l->kernel->error(l->from->at, l->coded.at, l->coded.quant, count) / 64
		/ (double)count;
}
