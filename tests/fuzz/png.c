/* Whatever is coded anew, libpng reads the same pixels from it.  The input is taken twice: as a
 * file, whose sums are put right first, or hardly anything would come further than to them; and as
 * the size, kind and content of an image, from which a file is made. */
#include <zlib.h>

#include "prefetch/recode/recode.h"
#include "tests/lib/png_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fix_sums(struct buf *file)
{
	for (size_t at = 8; at + 12 <= file->len;) {
		uint8_t *chunk = file->at + at;
		uint32_t len = png_get_uint_32(chunk);

		if (len > file->len - at - 12)
			return;
		png_save_uint_32(chunk + 8 + len, (uint32_t)crc32(0, chunk + 4, len + 4));
		at += 12 + len;
	}
}

static void check(const struct buf *from, const struct recoded *r)
{
	dl_cleanup(buf_free) struct buf was = BUF_EMPTY;
	dl_cleanup(buf_free) struct buf is = BUF_EMPTY;
	bool read = drawing_rows((struct bytes){ from->at, from->len }, &was);

	/* libpng refuses some contents of other chunks, and then in both. */
	assert(drawing_rows((struct bytes){ r->data, r->size }, &is) == read);
	assert(!read || (was.len == is.len && memcmp(was.at, is.at, is.len) == 0));
	assert(r->size <= from->len * 12 / 10);
}

static void try_file(const struct buf *file)
{
	struct recode_want want = { .png_fast = true, .limits.pixels = 1000000 };
	struct recoded r;

	if (recode(&want, file->at, file->len, &r) == RECODE_DONE) {
		check(file, &r);
		free(r.data);
	}
}

static void append(struct buf *b, const void *at, size_t len)
{
	int r = buf_append(b, at, len);

	assert(r == 0);
	(void)r;
}

static void append_chunk(struct buf *b, const char *name, const void *at, size_t len)
{
	uint8_t number[4];

	png_save_uint_32(number, (uint32_t)len);
	append(b, number, 4);
	append(b, name, 4);
	append(b, at, len);
	append(b, number, 4);          /* the sum comes later */
}

/* The rows of an image, or of a pass of one: as many as are wanted, the input over and over. */
static void append_rows(struct buf *b, size_t row, size_t rows, struct bytes input)
{
	const uint8_t *from = input.at;

	for (size_t i = 0; row > 0 && i < rows * (1 + row); i++) {
		uint8_t byte = (uint8_t)(from[b->len % input.len] + b->len / input.len);

		byte = i % (1 + row) == 0 ? byte % 5 : byte;
		append(b, &byte, 1);
	}
}

static void append_image(struct buf *b, const uint8_t *data, size_t bits, struct bytes input)
{
	static const uint8_t passes[][4] = { { 0, 0, 8, 8 }, { 4, 0, 8, 8 }, { 0, 4, 4, 8 },
					     { 2, 0, 4, 4 }, { 0, 2, 2, 4 }, { 1, 0, 2, 2 },
					     { 0, 1, 1, 2 } };

	if (!(data[2] & 0x80))
		append_rows(b, (data[0] * bits + 7) / 8, data[1], input);
	for (size_t i = 0; data[2] & 0x80 && i < DL_COUNT(passes); i++) {
		const uint8_t *p = passes[i];
		size_t width = (data[0] + p[2] - 1u - p[0]) / p[2];

		append_rows(b, (width * bits + 7) / 8, (data[1] + p[3] - 1u - p[1]) / p[3], input);
	}
}

static void try_rows(const uint8_t *data, size_t size)
{
	static const uint8_t kinds[][3] = { { 8, 2, 24 }, { 8, 6, 32 }, { 8, 0, 8 }, { 8, 4, 16 },
					    { 8, 3, 8 }, { 4, 3, 4 }, { 1, 0, 1 }, { 2, 0, 2 } };
	const uint8_t *kind = kinds[data[2] % DL_COUNT(kinds)];
	uint8_t head[13] = { [3] = data[0], [7] = data[1], [8] = kind[0], [9] = kind[1] };
	dl_cleanup(buf_free) struct buf file = BUF_EMPTY;
	dl_cleanup(buf_free) struct buf rows = BUF_EMPTY;
	static uint8_t zlib[300000];
	uint8_t colours[768] = { 0 };
	uLongf len = sizeof(zlib);

	head[12] = data[2] & 0x80 ? 1 : 0;
	append_image(&rows, data, kind[2], (struct bytes){ data + 3, size - 3 });
	append(&file, "\x89PNG\r\n\x1a\n", 8);
	append_chunk(&file, "IHDR", head, sizeof(head));
	if (kind[1] == 3)
		append_chunk(&file, "PLTE", colours, 3u << kind[0]);
	if (rows.len == 0 || compress(zlib, &len, rows.at, rows.len) != Z_OK)
		return;
	append_chunk(&file, "IDAT", zlib, len);
	append_chunk(&file, "IEND", "", 0);
	fix_sums(&file);
	try_file(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	dl_cleanup(buf_free) struct buf file = BUF_EMPTY;

	append(&file, data, size);
	fix_sums(&file);
	try_file(&file);
	if (size > 3)
		try_rows(data, size);
	return 0;
}
