#include "prefetch/source/coding.h"

#include "base/clock.h"
#include "prefetch/recode/decode.h"

/* 0: it cannot be decoded. */
static uint64_t decode_ns(struct bytes file)
{
	dl_cleanup(picture_fini) struct picture p = { 0 };
	uint64_t begin = clock_cpu();

	return picture_decode(file, 3, &p) < 0 ? 0 : clock_cpu() - begin;
}

static void time_decoding(struct served *s, struct bytes source, struct bytes coded)
{
	struct served_time t = { 1, source.len, decode_ns(source), decode_ns(coded) };

	if (t.source_ns > 0 && t.ns > 0)
		served_timed(s, &t);
}

int code_image(const struct coding *c, sample_id id, struct bytes source, struct buf *ret)
{
	struct recoded coded = { 0 };
	enum recode_reason reason = RECODE_NO_MEMORY;
	int r = 0;

	if (c->room)
		reason = recode_in(c->room, c->want, source.at, source.len, &coded);
	*ret = (struct buf){ coded.data, coded.size, coded.size };
	if (reason != RECODE_DONE)
		r = buf_append(ret, source.at, source.len);
	else if (c->may_decode && served_wants_time(c->served, id))
		time_decoding(c->served, source, (struct bytes){ coded.data, coded.size });
	if (r == 0)
		r = served_tell(c->served, id, reason, &coded);
	/* The file has another content than when its size was told, and looks the same. */
	if (r == -ESTALE && reason != RECODE_NO_MEMORY)
		served_forget(c->served, id);
	else if (r == -ESTALE)
		r = -ENOMEM;
	if (r < 0)
		buf_free(ret);
	return r;
}
