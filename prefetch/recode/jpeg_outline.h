/* What a JPEG file consists of, found without decoding it: enough to refuse what is not for us
 * before anything is allocated, and where its APPn and COM segments are.
 *
 * Thread-safety: pure.
 */
#pragma once
#include "prefetch/recode/recode.h"

#define JPEG_COMPONENTS 3

/* The slots of the quantisation tables that we write.  All decoders go by these numbers, and all
 * other encoders have luma in slot 0: so our own results can be told, and are not recoded again.
 */
#define JPEG_SLOT_LUMA 1
#define JPEG_SLOT_COLOUR 0

struct jpeg_outline {
	unsigned width, height;
	unsigned components;           /* 1 or 3 */
	unsigned h[JPEG_COMPONENTS], v[JPEG_COMPONENTS];        /* sampling factors */
	unsigned scans;
};

/* Of recoding it to width * height. */
struct recode_need jpeg_need(const struct jpeg_outline *o, unsigned width, unsigned height,
			     size_t size);

/* RECODE_DONE: a whole, Huffman coded image of 8 bits with luma, within the limits (but that of
 * memory, which depends on what it becomes).
 */
enum recode_reason jpeg_outline(struct bytes source, const struct recode_limits *limits,
				struct jpeg_outline *ret);

/* The next segment APPn or COM at or after *at, its marker in front; *at goes behind it.
 * Begin with *at = 0.  Of an outlined source only.
 */
bool jpeg_next_note(struct bytes source, size_t *at, struct bytes *ret);
