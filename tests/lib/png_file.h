/* PNG files for tests, written and read by libpng. */
#pragma once
#include <assert.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "base/buf.h"
#include "base/random.h"

struct drawing {
	uint32_t width, height;
	int depth, colour;             /* PNG_COLOR_TYPE_… */
	bool interlaced;
	unsigned noise;                /* 0: flat areas; else of so much in each sample */
};

struct png_cursor { struct bytes bytes; size_t at; };

static inline void png_to_buf(png_structp png, png_bytep at, png_size_t len)
{
	int r = buf_append(png_get_io_ptr(png), at, len);

	assert(r == 0);
	(void)r;
}

static inline void png_from_bytes(png_structp png, png_bytep to, png_size_t len)
{
	struct png_cursor *c = png_get_io_ptr(png);

	if (len > c->bytes.len - c->at)
		png_error(png, "the end");
	memcpy(to, (const uint8_t *)c->bytes.at + c->at, len);
	c->at += len;
}

static inline void png_quiet(png_structp png, png_const_charp text)
{
	(void)png;
	(void)text;
}

/* A smooth picture with noise on it, downwards more: what a photograph is to a compressor. */
static uint8_t *drawing_pixels(const struct drawing *d, size_t row)
{
	uint8_t *at = malloc(row * d->height);
	struct random random = { 1 };

	assert(at);
	for (size_t i = 0; i < row * d->height; i++) {
		size_t x = i % row, y = i / row;
		uint32_t noise = 1 + (uint32_t)(2 * d->noise * y / d->height);
		uint8_t smooth = d->noise ? (uint8_t)(x / 9 + y / 5) : (uint8_t)(x / 40 + y / 30);

		at[i] = (uint8_t)(smooth + (d->noise ? random_below(&random, noise) : 0));
	}
	return at;
}

static inline void drawing_notes(png_structp png, png_infop info, const struct drawing *d)
{
	png_color colours[256] = { { 1, 2, 3 }, { 4, 5, 6 } };
	png_byte alpha[2] = { 7, 200 };
	png_text text = { .compression = PNG_TEXT_COMPRESSION_NONE, .key = (char *)"Title",
			  .text = (char *)"a drawing" };

	if (d->colour == PNG_COLOR_TYPE_PALETTE) {
		png_set_PLTE(png, info, colours, 1 << d->depth);
		png_set_tRNS(png, info, alpha, 2, NULL);
	}
	png_set_gAMA(png, info, 0.5);
	png_set_pHYs(png, info, 3, 4, PNG_RESOLUTION_METER);
	png_set_text(png, info, &text, 1);
}

static inline struct buf drawing_file(const struct drawing *d)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);
	png_bytep rows[4096];
	struct buf file = BUF_EMPTY;
	uint8_t *pixels;
	size_t row;

	assert(d->height <= 4096);
	png_set_write_fn(png, &file, png_to_buf, NULL);
	png_set_IHDR(png, info, d->width, d->height, d->depth, d->colour,
		     d->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
		     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	drawing_notes(png, info, d);
	row = png_get_rowbytes(png, info);
	pixels = drawing_pixels(d, row);
	for (uint32_t y = 0; y < d->height; y++)
		rows[y] = pixels + y * row;
	png_set_rows(png, info, rows);
	png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
	png_destroy_write_struct(&png, &info);
	free(pixels);
	return file;
}

/* Of the last byte only those bits that are of a pixel. */
static inline void add_row(png_structp png, png_infop info, png_bytep row, struct buf *to)
{
	size_t len = png_get_rowbytes(png, info);
	unsigned bits = png_get_image_width(png, info) * png_get_channels(png, info) *
		png_get_bit_depth(png, info) % 8;
	int r;

	if (bits > 0)
		row[len - 1] &= (uint8_t)(0xff00 >> bits);
	r = buf_append(to, row, len);
	assert(r == 0);
	(void)r;
}

/* The rows as they are in the file, unpacked in no way.  false: libpng does not read it. */
static inline bool drawing_rows(struct bytes file, struct buf *ret)
{
	png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, png_quiet);
	png_infop info = png_create_info_struct(png);
	struct png_cursor cursor = { .bytes = file };
	bool good = false;

	png_set_error_fn(png, NULL, NULL, png_quiet);
	if (setjmp(png_jmpbuf(png)) == 0) {
		png_set_read_fn(png, &cursor, png_from_bytes);
		png_read_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
		for (uint32_t y = 0; y < png_get_image_height(png, info); y++)
			add_row(png, info, png_get_rows(png, info)[y], ret);
		good = true;
	}
	png_destroy_read_struct(&png, &info, NULL);
	return good;
}

/* Of the first chunk with this name: where its length field is; SIZE_MAX: there is none. */
static inline size_t png_chunk_at(struct bytes file, const char *name)
{
	const uint8_t *at = file.at;

	for (size_t i = 8; i + 12 <= file.len;) {
		if (memcmp(at + i + 4, name, 4) == 0)
			return i;
		i += 12 + png_get_uint_32(at + i);
	}
	return SIZE_MAX;
}
