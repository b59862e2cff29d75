/* A PNG file taken apart, and put together again with other image data.
 *
 * Thread-safety: pure functions.
 */
#pragma once
#include "base/buf.h"
#include "prefetch/recode/recode.h"

struct png_parts {                     /* borrowed from the file */
	struct bytes before;           /* the chunks between IHDR and the image data, whole */
	struct bytes data;             /* the IDAT chunks, whole: one after the other */
	struct bytes after;            /* the chunks after them, IEND the last */
	uint32_t width, height;
	uint8_t depth, colour;         /* as in IHDR */
	bool interlaced;
	unsigned bits;                 /* of a pixel */
};

/* Check all of the file but what the image data holds: order, lengths and checksums of its chunks.
 * Other than RECODE_DONE: why it is left alone. */
enum recode_reason png_parse(struct bytes file, struct png_parts *ret) DL_MUST_CHECK;
/* The payload of the IDAT chunks, one after the other. */
int png_gather(const struct png_parts *p, struct buf *ret) DL_MUST_CHECK;
/* The file with this zlib stream as its image data, not interlaced, all else as it was. */
int png_compose(const struct png_parts *p, struct bytes zlib, struct buf *ret) DL_MUST_CHECK;
/* Bytes of a composed file besides its zlib stream. */
size_t png_frame(const struct png_parts *p);
