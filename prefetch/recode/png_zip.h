/* zlib, as far as PNG needs it: all in memory, some of it stored and some of it compressed.
 * Thread-safety: every call on any thread.
 */
#pragma once
#include "base/buf.h"

uint32_t zip_crc(const void *at, size_t len);

/* Inflate a whole zlib stream into exactly `size` bytes.  *ret_coded: its bytes that are not in
 * stored blocks.  -EBADMSG: damaged, shorter or longer; -ENOMEM. */
int zip_inflate(struct bytes zlib, void *at, size_t size, size_t *ret_coded) DL_MUST_CHECK;

struct zip_piece {
	const uint8_t *at;
	size_t len;
	bool stored;                   /* not compressed */
};
/* Deflate pieces to one stream, appended.  filtered: they are differences, not colours.
 * -ENOSPC: it would be longer than `most`; -ENOMEM. */
int zip_deflate(const struct zip_piece *pieces, size_t count, bool filtered, size_t most,
		struct buf *ret) DL_MUST_CHECK;
