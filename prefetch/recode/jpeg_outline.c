#include "prefetch/recode/jpeg_outline.h"

#include <string.h>

enum {
	TEM = 0x01, SOF0 = 0xc0, SOF2 = 0xc2, SOF3 = 0xc3, DHT = 0xc4, SOF5 = 0xc5, JPG = 0xc8,
	SOF9 = 0xc9, DAC = 0xcc, SOF15 = 0xcf, RST0 = 0xd0, RST7 = 0xd7, SOI = 0xd8, EOI = 0xd9,
	SOS = 0xda, APP0 = 0xe0, APP2 = 0xe2, APP15 = 0xef, COM = 0xfe,
};

struct segment {
	uint8_t marker;
	const uint8_t *body;
	size_t len;                    /* of the body */
};

static bool stands_alone(uint8_t marker)
{
	return marker == TEM || (marker >= RST0 && marker <= EOI);
}

/* The marker at or after *at that is not part of coded data. */
static bool find_marker(struct bytes s, size_t *at, uint8_t *ret)
{
	const uint8_t *b = s.at;

	for (;;) {
		const uint8_t *ff = *at < s.len ? memchr(b + *at, 0xff, s.len - *at) : NULL;
		size_t i;

		if (!ff)
			return false;
		for (i = (size_t)(ff - b); i < s.len && b[i] == 0xff; i++)
			;
		if (i == s.len)
			return false;
		*at = i + 1;
		if (b[i] != 0 && !(b[i] >= RST0 && b[i] <= RST7)) {
			*ret = b[i];
			return true;
		}
	}
}

static bool next_segment(struct bytes s, size_t *at, struct segment *ret)
{
	const uint8_t *b = s.at;
	size_t len;

	if (!find_marker(s, at, &ret->marker))
		return false;
	ret->body = b + *at;
	ret->len = 0;
	if (stands_alone(ret->marker))
		return true;
	if (s.len - *at < 2)
		return false;
	len = (size_t)b[*at] << 8 | b[*at + 1];
	if (len < 2 || len > s.len - *at)
		return false;
	ret->body += 2;
	ret->len = len - 2;
	*at += len;
	return true;
}

bool jpeg_next_note(struct bytes source, size_t *at, struct bytes *ret)
{
	struct segment g;

	while (next_segment(source, at, &g))
		if (g.marker == COM || (g.marker >= APP0 && g.marker <= APP15)) {
			*ret = (struct bytes){ g.body - 3, g.len + 3 };
			return true;
		}
	return false;
}

/* The segment starts as `text` does. */
static bool says(const struct segment *g, const char *text, size_t len)
{
	return g->len >= len && memcmp(g->body, text, len) == 0;
}

static enum recode_reason kind_of_frame(uint8_t marker)
{
	if (marker == SOF3 || (marker >= SOF5 && marker < SOF9))
		return RECODE_LOSSLESS;
	return marker >= SOF9 ? RECODE_ARITHMETIC : RECODE_DONE;
}

static enum recode_reason read_frame(const struct segment *g, struct jpeg_outline *o)
{
	const uint8_t *b = g->body;
	enum recode_reason r = kind_of_frame(g->marker);

	if (r != RECODE_DONE)
		return r;
	if (o->components || g->len < 6 || g->len != 6 + 3u * b[5])
		return RECODE_DAMAGED;
	if (b[0] != 8)
		return RECODE_12BIT;
	o->height = (unsigned)b[1] << 8 | b[2];
	o->width = (unsigned)b[3] << 8 | b[4];
	o->components = b[5];
	if (o->components != 1 && o->components != 3)
		return RECODE_COLOUR;
	if (o->width == 0 || o->height == 0 || o->width > 65500 || o->height > 65500)
		return RECODE_LIMITS;
	for (unsigned i = 0; i < o->components; i++) {
		o->h[i] = b[7 + 3 * i] >> 4;
		o->v[i] = b[7 + 3 * i] & 15;
		if (o->h[i] < 1 || o->h[i] > 4 || o->v[i] < 1 || o->v[i] > 4)
			return RECODE_DAMAGED;
		/* Luma smaller than colour: legal, and nobody makes it. */
		if (o->h[i] > o->h[0] || o->v[i] > o->v[0])
			return RECODE_COLOUR;
	}
	return b[8] == JPEG_SLOT_LUMA ? RECODE_NO_GAIN : RECODE_DONE;
}

static enum recode_reason read_segment(const struct segment *g, struct jpeg_outline *o)
{
	if (g->marker >= SOF0 && g->marker <= SOF15 && g->marker != DHT && g->marker != JPG
	    && g->marker != DAC)
		return read_frame(g, o);
	if (g->marker == DAC)
		return RECODE_ARITHMETIC;
	if (g->marker == APP2 && says(g, "MPF", 4))
		return RECODE_MPO;
	if (g->marker == SOI)
		return RECODE_DAMAGED;
	o->scans += g->marker == SOS;
	return RECODE_DONE;
}

/* Of all components; an image without a frame has none. */
static uint64_t samples_of(const struct jpeg_outline *o)
{
	unsigned most = 1, sum = 0;

	for (unsigned i = 0; i < o->components; i++) {
		sum += o->h[i] * o->v[i];
		most = DL_MAX(most, o->h[i] * o->v[i]);
	}
	return (uint64_t)o->width * o->height * sum / most;
}

/* Coefficients twice (read, coded) with something to spare, luma's pixels twice with sums for a
 * third of their rows, and the result.  Scaled: lines of floats, as many as the decoder's own
 * reduction leaves, and planes of full size; and what the decoder keeps of several scans.  Its
 * lines and tables, and the rest of a chunk, are there for the smallest, too.
 */
struct recode_need jpeg_need(const struct jpeg_outline *o, unsigned width, unsigned height,
			     size_t size)
{
	uint64_t pixels = (uint64_t)o->width * o->height, less = (uint64_t)width * height;
	uint64_t samples = samples_of(o), several = o->scans > 1 ? samples * 2 : 0;
	uint64_t decoder = ((uint64_t)o->width + o->height) * 80 + 64 * KiB;
	unsigned reduced = DL_MAX(2 * height + 2, o->height / 8 + 1);
	uint64_t lines = (uint64_t)DL_MIN(reduced, o->height) * width;
	uint64_t planes = less < pixels ? lines * 12 + less * 20 + several
					: samples * 6 + pixels * 6;

	return (struct recode_need){
		.coding = planes + decoder + size + MiB,
		.decoding = pixels * 3 + several + decoder,
	};
}

static enum recode_reason check(const struct jpeg_outline *o, const struct recode_limits *l)
{
	uint64_t pixels = (uint64_t)o->width * o->height, samples = samples_of(o);

	if (pixels > l->pixels || o->scans > l->scans)
		return RECODE_LIMITS;
	return (samples / 64 + 1) * o->scans > l->work ? RECODE_LIMITS : RECODE_DONE;
}

enum recode_reason jpeg_outline(struct bytes source, const struct recode_limits *limits,
				struct jpeg_outline *ret)
{
	struct jpeg_outline o = { 0 };
	struct segment g;
	size_t at = 2;

	while (next_segment(source, &at, &g)) {
		enum recode_reason r;

		if (g.marker == EOI) {
			if (!o.components || !o.scans)
				return RECODE_DAMAGED;
			if (at != source.len)
				return RECODE_TRAILER;
			*ret = o;
			return check(&o, limits);
		}
		r = read_segment(&g, &o);
		if (r == RECODE_DONE)
			r = check(&o, limits);
		if (r != RECODE_DONE)
			return r;
	}
	return RECODE_DAMAGED;
}
