#include "prefetch/recode/png_zip.h"

#include <limits.h>
#include <zlib.h>

#define LEVEL 6
#define MEMORY_LEVEL 9                 /* longer blocks: fewer tables to build when decoding */

uint32_t zip_crc(const void *at, size_t len)
{
	return (uint32_t)crc32_z(0, at, len);
}

/* --- Inflate ------------------------------------------------------------------------------ */

/* At the boundary of two blocks: whether the next one is stored.  Its first bit says whether it is
 * the last, the next two are 0; some of them are in the byte that was read last. */
static bool is_stored(const z_stream *z)
{
	unsigned left = (unsigned)z->data_type & 7;
	unsigned bits = left > 0 ? z->next_in[-1] >> (8 - left) : 0;

	if (z->avail_in > 0)
		bits |= (unsigned)z->next_in[0] << left;
	return (bits & 6) == 0;
}

static int inflate_blocks(z_stream *z, size_t *ret_coded)
{
	bool stored = true;            /* the head of the stream costs nothing */
	size_t coded = 0;
	int r;

	do {
		const uint8_t *from = z->next_in;

		r = inflate(z, Z_BLOCK);
		if (!stored)
			coded += (size_t)(z->next_in - from);
		if (r == Z_OK && !(z->data_type & 128))
			return -EBADMSG;       /* ended in the midst of a block */
		stored = r == Z_OK && is_stored(z);
	} while (r == Z_OK);
	*ret_coded = coded;
	return r == Z_STREAM_END ? 0 : r == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
}

int zip_inflate(struct bytes zlib, void *at, size_t size, size_t *ret_coded)
{
	z_stream z = {
		.next_in = (uint8_t *)zlib.at, .avail_in = (unsigned)zlib.len,
		.next_out = at, .avail_out = (unsigned)size,
	};
	int r;

	if (zlib.len > UINT_MAX || size > UINT_MAX)
		return -EBADMSG;
	if (inflateInit(&z) != Z_OK)
		return -ENOMEM;
	r = inflate_blocks(&z, ret_coded);
	if (r == 0 && (z.avail_in > 0 || z.avail_out > 0))
		r = -EBADMSG;
	inflateEnd(&z);
	return r;
}

/* --- Deflate ------------------------------------------------------------------------------ */

static int deflate_piece(z_stream *z, const struct zip_piece *p, int flush)
{
	int r;

	z->next_in = (uint8_t *)p->at;
	z->avail_in = (unsigned)p->len;
	r = deflate(z, flush);
	if (flush == Z_FINISH)
		return r == Z_STREAM_END ? 0 : -ENOSPC;
	return z->avail_in == 0 && z->avail_out > 0 ? 0 : -ENOSPC;
}

static int deflate_all(z_stream *z, const struct zip_piece *pieces, size_t count, int strategy)
{
	bool stored = false;
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		if (pieces[i].stored != stored) {
			stored = pieces[i].stored;
			/* Ends the block, and with it what was compressed so far. */
			if (deflateParams(z, stored ? Z_NO_COMPRESSION : LEVEL, strategy) != Z_OK)
				return -ENOSPC;
		}
		r = deflate_piece(z, &pieces[i], i + 1 < count ? Z_NO_FLUSH : Z_FINISH);
	}
	return r;
}

int zip_deflate(const struct zip_piece *pieces, size_t count, bool filtered, size_t most,
		struct buf *ret)
{
	int strategy = filtered ? Z_FILTERED : Z_DEFAULT_STRATEGY;
	z_stream z = { 0 };
	int r = buf_reserve(ret, most);

	if (r < 0)
		return r;
	if (deflateInit2(&z, LEVEL, Z_DEFLATED, MAX_WBITS, MEMORY_LEVEL, strategy) != Z_OK)
		return -ENOMEM;
	z.next_out = ret->at + ret->len;
	z.avail_out = (unsigned)DL_MIN(most, (size_t)UINT_MAX);
	r = deflate_all(&z, pieces, count, strategy);
	if (r == 0)
		ret->len += z.total_out;
	deflateEnd(&z);
	return r;
}
