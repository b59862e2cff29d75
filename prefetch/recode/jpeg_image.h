/* A JPEG as coefficients: read from a file, changed, and written as another file.
 *
 * Coefficients are in units of 1, not of the quantisation step: `quant[k] * what the file has`.
 * Blocks are 64 of them in natural order (row by row, DC first), and lie row by row.
 *
 * All of it lies in a room, as does what is made of it.
 * Thread-safety: one thread at a time for a room.
 */
#pragma once
#include "prefetch/recode/jpeg_outline.h"
#include "prefetch/recode/room.h"

struct jpeg_plane {
	int16_t *at;                   /* [rows][columns][64] */
	uint32_t columns, rows;        /* in blocks, padding to a whole MCU not among them */
	unsigned h, v;                 /* sampling factors */
	uint16_t quant[64];            /* the steps, in natural order */
};

struct jpeg_image {
	struct recode_room *room;
	unsigned width, height, components;
	struct jpeg_plane plane[JPEG_COMPONENTS];
};

/* RECODE_DONE, or why it cannot be had.  RECODE_DAMAGED is any warning of the decoder, and what no
 * picture has (range.h).
 */
enum recode_reason jpeg_read(struct bytes source, struct recode_room *room,
			     struct jpeg_image *ret);

/* The same, but made smaller: decoded at the nearest size that is no smaller, and from there to
 * width * height.  All planes are of that size, with the source's steps.  It is what
 * libjpeg shows: coefficients are not looked at.
 */
enum recode_reason jpeg_scale(struct bytes source, unsigned width, unsigned height,
			      struct recode_room *room, struct jpeg_image *ret);

/* Baseline (8-bit steps permitting), with optimal Huffman codes.  The planes hold levels, up to
 * 1024, to be multiplied by quant[]; the second and the third share their quant[].
 * The APPn and COM segments of `notes`, a JPEG, are copied in front.
 * RECODE_NO_GAIN: it would be longer than `most` bytes.
 */
enum recode_reason jpeg_write(const struct jpeg_image *image, struct bytes notes, size_t most,
			      struct bytes *ret);
