/* What is asked for ahead of any order: samples for the local disk's sake, or into memory as long
 * as there is room; and what shall be forgotten. */
#include <string.h>

#include "prefetch/engine_internal.h"

/* --- To the disk ----------------------------------------------------------------------------- */

static void on_brought(struct fetch *f)
{
	struct bringing *b = dl_container_of(f, struct bringing, fetch_);
	struct engine *e = b->engine_;
	struct stats *s = e->options.stats;

	fetch_count(s, f->result);
	if (f->result == 0)
		stats_add(&s->bytes_fetched, fetch_source_bytes(e, f));
	if (f->result == -ESTALE && e->options.stale)
		e->options.stale(e->options.context, f->id);
	buf_free(&f->bytes);
	b->result = f->result;
	b->stored = f->stored;
	late_release(e, b->reserved_);
	e->bringing--;
	b->done(b);                    /* b may be gone */
	e->in_flight--;
}

int engine_bring(struct engine *e, struct bringing *b)
{
	uint64_t len = block_len(e, (struct block){ b->id, 0 });
	int r;

	if (is_big(e, b->id) || len == 0)
		return -EFBIG;
	if (e->stopping)
		return -ESHUTDOWN;
	if (e->bringing >= source_depth(e->options.source) || !late_spare(e, len))
		return -EAGAIN;
	b->engine_ = e;
	b->reserved_ = len;
	b->fetch_ = (struct fetch){ .id = b->id, .len = len, .whole = true, .due = UINT64_MAX,
				    .done = on_brought };
	e->in_flight++;
	e->bringing++;
	r = source_submit(e->options.source, &b->fetch_);
	if (r < 0) {
		e->bringing--;
		e->in_flight--;
		late_release(e, len);
	}
	return r;
}

uint64_t engine_whole(const struct engine *e)
{
	return e->whole;
}

/* --- Into memory, and out of it --------------------------------------------------------------- */

struct ids_ask {
	struct ask ask;
	const sample_id *ids;
	size_t count;
	uint64_t bytes;
	int taken;
};

static void warm(struct engine *e, struct ask *a)
{
	struct ids_ask *i = dl_container_of(a, struct ids_ask, ask);

	i->taken = plan_warm(e->plan, i->ids, i->count);
}

int engine_warm(struct engine *e, const sample_id *ids, size_t count)
{
	struct ids_ask a = { .ask.run = warm, .ids = ids, .count = count };
	int r = ask(e, &a.ask);

	return r < 0 ? r : a.taken;
}

static void count_coming(struct engine *e, struct ask *a)
{
	struct ids_ask *i = dl_container_of(a, struct ids_ask, ask);

	for (size_t k = 0; k < i->count; k++)
		i->taken += plan_fetching(e->plan, i->ids[k]);
}

int engine_coming(struct engine *e, const sample_id *ids, size_t count)
{
	struct ids_ask a = { .ask.run = count_coming, .ids = ids, .count = count };
	int r = ask(e, &a.ask);

	return r < 0 ? r : a.taken;
}

static void forget(struct engine *e, struct ask *a)
{
	struct ids_ask *i = dl_container_of(a, struct ids_ask, ask);

	for (size_t k = 0; k < i->count; k++)
		i->bytes += plan_forget(e->plan, i->ids[k]);
}

int engine_forget(struct engine *e, const sample_id *ids, size_t count, uint64_t *ret_bytes)
{
	struct ids_ask a = { .ask.run = forget, .ids = ids, .count = count };
	int r = ask(e, &a.ask);

	*ret_bytes = a.bytes;
	return r;
}

bool engine_let_go(struct engine *e, sample_id id)
{
	if (flags_get(&e->flags, id) & (FLAG_MEMORY | FLAG_PUSHING | FLAG_PAGE_CACHE))
		return false;
	return flags_clear(&e->flags, id, FLAG_READ | FLAG_CACHED) & FLAG_READ || e->options.heir;
}

bool engine_is_coming(const struct engine *e, sample_id id)
{
	struct entry *entry;
	int got = store_peek(e->store, (struct block){ id, 0 }, &entry);

	if (got == STORE_READY)
		store_unpin(entry);
	return got == STORE_BUSY;
}
