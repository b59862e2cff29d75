#include "prefetch/recode/recode.h"

#include <assert.h>
#include <string.h>

#include "prefetch/recode/kinds.h"
#include "prefetch/recode/room.h"

static const struct recode_limits defaults = {
	.pixels = 100000000, .memory = 512 * MiB, .scans = 100, .work = 16000000,
};

static const char *const names[RECODE_REASONS] = {
	[RECODE_DONE] = "recoded",
	[RECODE_OFF] = "not asked for",
	[RECODE_UNKNOWN] = "not an image",
	[RECODE_NO_GAIN] = "no gain",
	[RECODE_DAMAGED] = "damaged",
	[RECODE_COLOUR] = "RGB or CMYK",
	[RECODE_MPO] = "several pictures",
	[RECODE_TRAILER] = "bytes after the image",
	[RECODE_ARITHMETIC] = "arithmetic coding",
	[RECODE_12BIT] = "12 bits",
	[RECODE_16BIT] = "16 bits",
	[RECODE_LOSSLESS] = "lossless",
	[RECODE_ANIMATED] = "animated",
	[RECODE_CHUNKS] = "unknown chunks",
	[RECODE_LIMITS] = "too large",
	[RECODE_NO_MEMORY] = "no memory",
	[RECODE_UNREADABLE] = "cannot be read",
};

static bool begins(struct bytes b, const char *with, size_t len)
{
	return b.len >= len && memcmp(b.at, with, len) == 0;
}

static bool is_jpeg(struct bytes b)
{
	return begins(b, "\xff\xd8\xff", 3);
}

static bool is_png(struct bytes b)
{
	return begins(b, "\x89PNG\r\n\x1a\n", 8);
}

static void fill_in(struct recode_limits *l)
{
	l->pixels = l->pixels ? l->pixels : defaults.pixels;
	l->memory = l->memory ? l->memory : defaults.memory;
	l->scans = l->scans ? l->scans : defaults.scans;
	l->work = l->work ? l->work : defaults.work;
}

enum recode_reason recode_in(struct recode_room *room, const struct recode_want *want,
			     const void *bytes, size_t size, struct recoded *ret)
{
	struct bytes source = { bytes, size };
	struct recode_want full = *want;
	enum recode_reason reason;

	fill_in(&full.limits);
	if (is_jpeg(source)) {
		reason = recode_jpeg(&full, source, room, ret);
		room_clear(room);
		return reason;
	}
	if (is_png(source))
		return recode_png(&full, source, ret);
	return RECODE_UNKNOWN;
}

struct recode_need recode_need(const struct recode_want *want, const void *bytes, size_t size)
{
	struct bytes source = { bytes, size };
	struct recode_want full = *want;
	enum recode_reason reason = RECODE_UNKNOWN;
	struct recode_need need;

	fill_in(&full.limits);
	if (is_jpeg(source))
		reason = jpeg_wants(&full, source, &need);
	else if (is_png(source))
		reason = png_wants(&full, source, &need);
	return reason == RECODE_DONE ? need : (struct recode_need){ 0 };
}

enum recode_reason recode(const struct recode_want *want, const void *bytes, size_t size,
			  struct recoded *ret)
{
	struct recode_room *room = recode_room_new(0);
	enum recode_reason reason;

	if (!room)
		return RECODE_NO_MEMORY;
	reason = recode_in(room, want, bytes, size, ret);
	recode_room_free(room);
	return reason;
}

const char *recode_reason_name(enum recode_reason reason)
{
	assert(reason < RECODE_REASONS);
	return names[reason];
}
