/* The pixels of a PNG as they lie in its rows: packed, palette indices or colours, as they are.
 * Thread-safety: pure functions.
 */
#pragma once
#include "prefetch/recode/png_chunks.h"

struct png_image {
	uint8_t *rows;                 /* each behind a byte that says ROW_NONE; owned */
	size_t row;                    /* bytes of a row, without that byte */
	size_t step;                   /* from a pixel to the next, at least 1 */
	uint32_t height;
	size_t stored;                 /* bytes of the stream that were not compressed */
	double cost;                   /* of decoding the file; see row_cost() */
};

static inline size_t png_size(const struct png_image *i) { return i->height * (1 + i->row); }
static inline uint8_t *png_row(const struct png_image *i, uint32_t y)
{
	return i->rows + y * (1 + i->row) + 1;
}

/* The most memory that decoding it and coding it anew takes. */
struct recode_need png_need(const struct png_parts *p);

/* RECODE_LIMITS: more pixels or memory than allowed. */
enum recode_reason png_decode(const struct png_parts *p, const struct recode_limits *limits,
			      struct png_image *ret) DL_MUST_CHECK;
