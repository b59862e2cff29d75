#include "prefetch/recode/png_image.h"

#include <string.h>

#include "prefetch/recode/png_rows.h"
#include "prefetch/recode/png_zip.h"

#define PASSES 7

/* Where the pixels of an Adam7 pass are: from (x, y) on, so far from each other. */
static const struct pass { uint8_t x, y, dx, dy; } passes[PASSES] = {
	{ 0, 0, 8, 8 }, { 4, 0, 8, 8 }, { 0, 4, 4, 8 }, { 2, 0, 4, 4 }, { 0, 2, 2, 4 },
	{ 1, 0, 2, 2 }, { 0, 1, 1, 2 },
};
static const struct pass all_pixels = { 0, 0, 1, 1 };

struct pass_size { uint32_t width, height; size_t row; };

static struct pass_size pass_size(const struct png_parts *p, const struct pass *pass)
{
	struct pass_size s = {
		.width = p->width <= pass->x ? 0 : (p->width - pass->x - 1) / pass->dx + 1,
		.height = p->height <= pass->y ? 0 : (p->height - pass->y - 1) / pass->dy + 1,
	};

	if (s.width == 0)
		s.height = 0;
	s.row = ((size_t)s.width * p->bits + 7) / 8;
	return s;
}

static size_t coded_size(const struct png_parts *p)
{
	size_t size = 0;

	for (size_t i = 0; i < PASSES; i++) {
		struct pass_size s = pass_size(p, &passes[i]);

		size += s.height * (1 + s.row);
	}
	return size;
}

/* Undo the filters of rows that lie one after the other; false: there is no such filter. */
static bool undo(const struct png_image *image, uint8_t *at, const struct pass_size *s,
		 double *cost)
{
	const uint8_t *above = NULL;

	for (uint32_t y = 0; y < s->height; y++, at += 1 + s->row) {
		if (*at >= ROW_FILTERS)
			return false;
		*cost += row_cost(*at) * (double)s->row;
		row_undo(*at, at + 1, above, s->row, image->step);
		*at = ROW_NONE;
		above = at + 1;
	}
	return true;
}

static unsigned bits_at(const uint8_t *row, size_t x, unsigned bits)
{
	return row[x * bits / 8] >> (8 - bits - x * bits % 8) & ((1u << bits) - 1);
}

static void put_pixel(const struct png_parts *p, uint8_t *to, size_t x, const uint8_t *from,
		      size_t n)
{
	size_t len = p->bits / 8;

	if (p->bits >= 8)
		memcpy(to + x * len, from + n * len, len);
	else
		to[x * p->bits / 8] |= (uint8_t)(bits_at(from, n, p->bits) <<
						 (8 - p->bits - x * p->bits % 8));
}

static void spread(const struct png_parts *p, const struct png_image *image,
		   const struct pass *pass, const struct pass_size *s, const uint8_t *at)
{
	for (uint32_t y = 0; y < s->height; y++, at += 1 + s->row)
		for (uint32_t x = 0; x < s->width; x++)
			put_pixel(p, png_row(image, pass->y + y * pass->dy),
				  pass->x + (size_t)x * pass->dx, at + 1, x);
}

static enum recode_reason reason_of(int error)
{
	return error == 0 ? RECODE_DONE : error == -ENOMEM ? RECODE_NO_MEMORY : RECODE_DAMAGED;
}

static enum recode_reason decode_plain(const struct png_parts *p, struct bytes zlib,
				       struct png_image *image)
{
	struct pass_size s = pass_size(p, &all_pixels);
	size_t coded;
	int r = zip_inflate(zlib, image->rows, png_size(image), &coded);

	if (r < 0)
		return reason_of(r);
	image->stored = zlib.len - coded;
	image->cost += (double)coded;
	return undo(image, image->rows, &s, &image->cost) ? RECODE_DONE : RECODE_DAMAGED;
}

static enum recode_reason decode_interlaced(const struct png_parts *p, struct bytes zlib,
					    struct png_image *image)
{
	size_t size = coded_size(p), coded;
	dl_cleanup(dl_freep) uint8_t *bytes = malloc(size);
	uint8_t *at = bytes;
	int r = bytes ? zip_inflate(zlib, bytes, size, &coded) : -ENOMEM;

	if (r < 0)
		return reason_of(r);
	image->stored = zlib.len - coded;
	image->cost += (double)coded + (double)png_size(image);        /* spreading is dear */
	for (size_t i = 0; i < PASSES; i++) {
		struct pass_size s = pass_size(p, &passes[i]);

		if (!undo(image, at, &s, &image->cost))
			return RECODE_DAMAGED;
		spread(p, image, &passes[i], &s, at);
		at += s.height * (1 + s.row);
	}
	return RECODE_DONE;
}

/* Rows as they are, and in passes or with filters; the streams of three attempts, each with what
 * it may have more than the source.
 */
struct recode_need png_need(const struct png_parts *p)
{
	return (struct recode_need){
		.coding = 2 * (uint64_t)coded_size(p) + 4 * (uint64_t)p->data.len + MiB,
		.decoding = 4 * (uint64_t)p->width * p->height,
	};
}

enum recode_reason png_decode(const struct png_parts *p, const struct recode_limits *limits,
			      struct png_image *ret)
{
	struct pass_size s = pass_size(p, &all_pixels);
	struct png_image image = {
		.row = s.row, .step = DL_MAX(p->bits / 8, 1u), .height = p->height,
	};
	dl_cleanup(buf_free) struct buf zlib = BUF_EMPTY;
	dl_cleanup(dl_freep) uint8_t *rows = NULL;
	enum recode_reason why;

	if ((uint64_t)p->width * p->height > limits->pixels || png_need(p).coding > limits->memory)
		return RECODE_LIMITS;
	rows = calloc(1, png_size(&image));
	if (!rows || png_gather(p, &zlib) < 0)
		return RECODE_NO_MEMORY;
	image.rows = rows;
	why = p->interlaced ? decode_interlaced(p, (struct bytes){ zlib.at, zlib.len }, &image)
			    : decode_plain(p, (struct bytes){ zlib.at, zlib.len }, &image);
	if (why != RECODE_DONE)
		return why;
	*ret = image;
	ret->rows = DL_TAKE(rows);
	return RECODE_DONE;
}
