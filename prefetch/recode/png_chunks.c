#include "prefetch/recode/png_chunks.h"

#include <string.h>

#include "prefetch/recode/png_zip.h"

#define SIGNATURE_LEN 8
#define CHUNK_LEN 12                   /* length, name and checksum around the payload */
#define HEAD_LEN 13
#define HEAD_END (SIGNATURE_LEN + CHUNK_LEN + HEAD_LEN)
#define PAYLOAD_MAX INT32_MAX
#define SAFE_TO_COPY 0x20              /* in the last letter of a name */

static const uint8_t signature[SIGNATURE_LEN] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };

struct chunk {
	const uint8_t *at;             /* its length field */
	const uint8_t *payload;
	uint32_t len;                  /* of the payload */
	char name[5];
};

static uint32_t number(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool is(const struct chunk *c, const char *name)
{
	return strcmp(c->name, name) == 0;
}

/* The chunk that begins *offset bytes into the file; *offset goes behind it. */
static bool next_chunk(struct bytes file, size_t *offset, struct chunk *ret)
{
	const uint8_t *at = (const uint8_t *)file.at + *offset;
	size_t left = file.len - *offset;

	if (left < CHUNK_LEN)
		return false;
	*ret = (struct chunk){ .at = at, .payload = at + 8, .len = number(at) };
	if (ret->len > PAYLOAD_MAX || ret->len > left - CHUNK_LEN)
		return false;
	memcpy(ret->name, at + 4, 4);
	*offset += CHUNK_LEN + ret->len;
	return zip_crc(at + 4, 4 + ret->len) == number(at + 8 + ret->len);
}

/* --- IHDR ------------------------------------------------------------------------------- */

static unsigned channels(uint8_t colour)
{
	switch (colour) {
	case 0:                        /* grey */
	case 3:                        /* palette */
		return 1;
	case 4:                        /* grey, alpha */
		return 2;
	case 2:
		return 3;
	case 6:                        /* colour, alpha */
		return 4;
	default:
		return 0;
	}
}

static bool good_depth(uint8_t depth, uint8_t colour)
{
	switch (depth) {
	case 1:
	case 2:
	case 4:
		return colour == 0 || colour == 3;
	case 8:
		return true;
	case 16:
		return colour != 3;
	default:
		return false;
	}
}

static enum recode_reason parse_head(const struct chunk *c, struct png_parts *ret)
{
	const uint8_t *p = c->payload;

	if (is(c, "CgBI"))
		return RECODE_CHUNKS;
	if (!is(c, "IHDR") || c->len != HEAD_LEN)
		return RECODE_DAMAGED;
	ret->width = number(p);
	ret->height = number(p + 4);
	ret->depth = p[8];
	ret->colour = p[9];
	ret->interlaced = p[12] == 1;
	ret->bits = channels(ret->colour) * ret->depth;
	if (ret->bits == 0 || !good_depth(ret->depth, ret->colour) || p[10] != 0 || p[11] != 0 ||
	    p[12] > 1 || ret->width == 0 || ret->height == 0 || ret->width > PAYLOAD_MAX ||
	    ret->height > PAYLOAD_MAX)
		return RECODE_DAMAGED;
	return ret->depth == 16 ? RECODE_16BIT : RECODE_DONE;
}

/* --- The rest --------------------------------------------------------------------------- */

/* Those that are not safe to copy may depend on the image data, in ways that only who knows them
 * can tell; of these here none depends on how it is coded. */
static bool is_kept(const struct chunk *c)
{
	static const char *const names[] = {
		"PLTE", "IDAT", "IEND", "bKGD", "cHRM", "cICP", "cLLI", "eXIf", "gAMA", "gIFg",
		"gIFx", "hIST", "iCCP", "iTXt", "mDCV", "oFFs", "pCAL", "pHYs", "sBIT", "sCAL",
		"sPLT", "sRGB", "sTER", "tEXt", "tIME", "tRNS", "zTXt",
	};

	for (size_t i = 0; i < DL_COUNT(names); i++)
		if (is(c, names[i]))
			return true;
	return (c->name[0] & SAFE_TO_COPY) != 0 && (c->name[3] & SAFE_TO_COPY) != 0;
}

static bool is_animation(const struct chunk *c)
{
	return is(c, "acTL") || is(c, "fcTL") || is(c, "fdAT");
}

/* Everything behind IHDR. */
static enum recode_reason parse_rest(struct bytes file, size_t offset, struct png_parts *ret)
{
	const uint8_t *start = (const uint8_t *)file.at + offset, *data = NULL, *end = NULL;
	bool palette = ret->colour != 3;
	struct chunk c = { .at = start };

	while (!is(&c, "IEND")) {
		if (!next_chunk(file, &offset, &c))
			return RECODE_DAMAGED;
		if (is_animation(&c))
			return RECODE_ANIMATED;
		if (!is_kept(&c))
			return RECODE_CHUNKS;
		palette |= is(&c, "PLTE") && !data;
		if (!is(&c, "IDAT"))
			continue;
		data = data ? data : c.at;
		if (end && end != c.at)
			return RECODE_DAMAGED;
		end = c.at + CHUNK_LEN + c.len;
	}
	if (!data || !palette || c.len > 0)
		return RECODE_DAMAGED;
	if (offset != file.len)
		return RECODE_TRAILER;
	ret->before = (struct bytes){ start, (size_t)(data - start) };
	ret->data = (struct bytes){ data, (size_t)(end - data) };
	ret->after = (struct bytes){ end, file.len - (size_t)(end - (const uint8_t *)file.at) };
	return RECODE_DONE;
}

enum recode_reason png_parse(struct bytes file, struct png_parts *ret)
{
	size_t offset = SIGNATURE_LEN;
	struct chunk c;
	enum recode_reason why;

	if (file.len < SIGNATURE_LEN || memcmp(file.at, signature, SIGNATURE_LEN) != 0)
		return RECODE_UNKNOWN;
	if (!next_chunk(file, &offset, &c))
		return RECODE_DAMAGED;
	why = parse_head(&c, ret);
	return why == RECODE_DONE ? parse_rest(file, offset, ret) : why;
}

int png_gather(const struct png_parts *p, struct buf *ret)
{
	size_t offset = 0;
	struct chunk c;
	int r = buf_reserve(ret, p->data.len);

	while (r == 0 && offset < p->data.len && next_chunk(p->data, &offset, &c))
		r = buf_append(ret, c.payload, c.len);
	return r;
}

size_t png_frame(const struct png_parts *p)
{
	return HEAD_END + p->before.len + CHUNK_LEN + p->after.len;
}

/* --- Composing -------------------------------------------------------------------------- */

static int append_number(struct buf *b, uint32_t n)
{
	uint8_t at[4] = { (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n };

	return buf_append(b, at, sizeof(at));
}

static int append_chunk(struct buf *b, const char *name, const void *payload, size_t len)
{
	int r = append_number(b, (uint32_t)len);
	size_t start = b->len;

	if (r == 0)
		r = buf_append(b, name, 4);
	if (r == 0)
		r = buf_append(b, payload, len);
	if (r == 0)
		r = append_number(b, zip_crc(b->at + start, 4 + len));
	return r;
}

static int append_head(struct buf *b, const struct png_parts *p)
{
	uint8_t head[HEAD_LEN] = { [8] = p->depth, [9] = p->colour };

	for (unsigned i = 0; i < 4; i++) {
		head[i] = (uint8_t)(p->width >> (24 - 8 * i));
		head[4 + i] = (uint8_t)(p->height >> (24 - 8 * i));
	}
	return append_chunk(b, "IHDR", head, sizeof(head));
}

int png_compose(const struct png_parts *p, struct bytes zlib, struct buf *ret)
{
	int r = buf_reserve(ret, png_frame(p) + zlib.len);

	if (r == 0)
		r = buf_append(ret, signature, SIGNATURE_LEN);
	if (r == 0)
		r = append_head(ret, p);
	if (r == 0)
		r = buf_append(ret, p->before.at, p->before.len);
	if (r == 0)
		r = append_chunk(ret, "IDAT", zlib.at, zlib.len);
	if (r == 0)
		r = buf_append(ret, p->after.at, p->after.len);
	return r;
}
