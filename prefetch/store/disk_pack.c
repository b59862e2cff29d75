#include "prefetch/store/disk_pack.h"

#include <zstd.h>

/* What is packed must be smaller by a sixteenth. */
#define WORTH(len) ((len) - (len) / 16)
#define LEAST 512u                     /* bytes: a file has a block of the disk anyway */
#define PROBE ((size_t)4096)
#define PROBES 3u
#define PROBE_LEVEL 1

struct packer {
	ZSTD_CCtx *context;
	struct buf packed;
};

int packer_new(struct packer **ret)
{
	struct packer *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->context = ZSTD_createCCtx();
	if (!p->context) {
		free(p);
		return -ENOMEM;
	}
	*ret = p;
	return 0;
}

void packer_free(struct packer *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->context);
	buf_free(&p->packed);
	free(p);
}

static struct bytes slice(struct bytes in, size_t from, size_t most)
{
	return (struct bytes){ (const char *)in.at + from, DL_MIN(in.len - from, most) };
}

/* Appends one frame.  false: no memory is left, or none of `most`. */
static bool add_frame(struct packer *p, struct bytes in, int level, size_t most)
{
	size_t room = ZSTD_compressBound(in.len), len;

	if (buf_reserve(&p->packed, room) < 0)
		return false;
	len = ZSTD_compressCCtx(p->context, p->packed.at + p->packed.len, room, in.at, in.len,
				level);
	if (ZSTD_isError(len))
		return false;
	p->packed.len += len;
	return p->packed.len <= most;
}

/* Its begin, its middle and its end. */
static bool seems_worth_it(struct packer *p, struct bytes in)
{
	if (in.len <= PROBES * PROBE)
		return true;
	p->packed.len = 0;
	for (size_t i = 0; i < PROBES; i++) {
		size_t from = (in.len - PROBE) / (PROBES - 1) * i;

		if (!add_frame(p, slice(in, from, PROBE), PROBE_LEVEL, SIZE_MAX))
			return false;
	}
	return p->packed.len <= WORTH(PROBES * PROBE);
}

struct bytes packer_pack(struct packer *p, struct bytes in, int level)
{
	if (in.len < LEAST || !seems_worth_it(p, in))
		return (struct bytes){ NULL, 0 };
	p->packed.len = 0;
	for (size_t at = 0; at < in.len; at += PACK_FRAME)
		if (!add_frame(p, slice(in, at, PACK_FRAME), level, WORTH(in.len)))
			return (struct bytes){ NULL, 0 };
	return (struct bytes){ p->packed.at, p->packed.len };
}

int unpack(struct bytes packed, void *to, size_t len)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	size_t n;

	if (!context)
		return -ENOMEM;
	n = ZSTD_decompressDCtx(context, to, len, packed.at, packed.len);
	ZSTD_freeDCtx(context);
	return n == len ? 0 : -EBADMSG;
}
