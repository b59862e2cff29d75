/* A source that the test drives: it keeps what was submitted, in that order, and each fetch ends
 * when and how the test says; what is left ends with `at_stop` when the source is stopped.  The
 * test owns it; it outlives the source that the engine closes.
 *
 * Thread-safety: every call on any thread, except init and fini.
 */
#pragma once
#include <string.h>

#include "base/lock.h"
#include "prefetch/source/source.h"

#define FAKE_FETCHES 1024u

struct fake_fetch {                    /* as it was submitted */
	sample_id id;
	uint64_t offset, len, due;
	bool hurried;
	struct fetch *out;             /* NULL: it has ended */
};

struct fake_source {
	struct dl_lock lock;           /* guards everything below */
	struct fake_fetch fetches[FAKE_FETCHES];
	unsigned count, depth;
	int refusal;
	int at_stop;
	bool stopped, closed;
};

struct fake_front {                    /* the engine's own */
	struct source source;
	struct fake_source *fake;
};

static inline uint8_t fake_byte(sample_id id, uint64_t at)
{
	return (uint8_t)(id * 31 + at * 7 + (at >> 8));
}

static inline bool fake_bytes_right(struct bytes b, sample_id id, uint64_t offset, uint64_t len)
{
	for (uint64_t i = 0; i < b.len; i++)
		if (((const uint8_t *)b.at)[i] != fake_byte(id, offset + i))
			return false;
	return b.len == len;
}

static inline unsigned fake_source_count(struct fake_source *f)
{
	DL_HOLD(&f->lock);
	return f->count;
}

static inline struct fake_fetch fake_source_at(struct fake_source *f, unsigned i)
{
	DL_HOLD(&f->lock);
	assert(i < f->count);
	return f->fetches[i];
}

static inline bool fake_source_stopped(struct fake_source *f)
{
	DL_HOLD(&f->lock);
	return f->stopped;
}

static inline bool fake_source_closed(struct fake_source *f)
{
	DL_HOLD(&f->lock);
	return f->closed;
}

/* From now on submit says this; 0: it takes what comes. */
static inline void fake_source_refuse(struct fake_source *f, int error)
{
	DL_HOLD(&f->lock);
	f->refusal = error;
}

/* How what is left ends when the source is stopped. */
static inline void fake_source_at_stop(struct fake_source *f, int result)
{
	DL_HOLD(&f->lock);
	f->at_stop = result;
}

/* Bytes that are in flight. */
static inline uint64_t fake_source_bytes(struct fake_source *f)
{
	uint64_t bytes = 0;

	DL_HOLD(&f->lock);
	for (unsigned i = 0; i < f->count; i++)
		bytes += f->fetches[i].out ? f->fetches[i].len : 0;
	return bytes;
}

/* The next fetch to end, by urgency; false: none is out. */
static inline bool fake_source_next(struct fake_source *f, unsigned *ret)
{
	uint64_t best = UINT64_MAX;
	bool any = false;

	DL_HOLD(&f->lock);
	for (unsigned i = 0; i < f->count; i++) {
		uint64_t due = f->fetches[i].hurried ? 0 : f->fetches[i].due;

		if (!f->fetches[i].out || (any && due >= best))
			continue;
		best = due;
		*ret = i;
		any = true;
	}
	return any;
}

/* End a fetch that is out; result 0: with its bytes. */
static inline void fake_source_end(struct fake_source *f, unsigned i, int result)
{
	struct fetch *out;

	{
		DL_HOLD(&f->lock);
		assert(i < f->count && f->fetches[i].out);
		out = DL_TAKE(f->fetches[i].out);
	}
	if (result == 0 && out->len > 0) {
		if (buf_reserve(&out->bytes, out->len) < 0)
			abort();
		for (size_t at = 0; at < out->len; at++)
			out->bytes.at[at] = fake_byte(out->id, out->offset + at);
		out->bytes.len = out->len;
	}
	out->result = result;
	out->done(out);
}

/* --- What the engine sees ------------------------------------------------------------------ */

static inline struct fake_source *fake_of(const struct source *s)
{
	return dl_container_of(s, struct fake_front, source)->fake;
}

static inline int fake_submit(struct source *s, struct fetch *f)
{
	struct fake_source *fake = fake_of(s);

	DL_HOLD(&fake->lock);
	if (fake->stopped)
		return -ESHUTDOWN;
	if (fake->refusal < 0)
		return fake->refusal;
	assert(fake->count < FAKE_FETCHES);
	fake->fetches[fake->count++] = (struct fake_fetch){
		.id = f->id, .offset = f->offset, .len = f->len, .due = f->due, .out = f,
	};
	return 0;
}

static inline void fake_hurry(struct source *s, sample_id id, uint64_t offset)
{
	struct fake_source *fake = fake_of(s);

	DL_HOLD(&fake->lock);
	for (unsigned i = 0; i < fake->count; i++)
		if (fake->fetches[i].id == id && fake->fetches[i].offset == offset)
			fake->fetches[i].hurried |= fake->fetches[i].out &&
						    !fake->fetches[i].out->in_turn;
}

static inline unsigned fake_depth(const struct source *s)
{
	return fake_of(s)->depth;
}

static inline void fake_stop(struct source *s)
{
	struct fake_source *fake = fake_of(s);
	unsigned i;

	{
		DL_HOLD(&fake->lock);
		fake->stopped = true;
	}
	while (fake_source_next(fake, &i))
		fake_source_end(fake, i, fake->at_stop);
}

static inline void fake_close(struct source *s)
{
	struct fake_source *fake = fake_of(s);

	DL_HOLD(&fake->lock);
	fake->closed = true;
}

static inline void fake_source_init(struct fake_source *f, unsigned depth)
{
	*f = (struct fake_source){ .depth = depth, .at_stop = -ESHUTDOWN };
	dl_lock_init(&f->lock);
}

static inline void fake_source_fini(struct fake_source *f)
{
	dl_lock_fini(&f->lock);
}

/* For one engine; freed by source_close(). */
static inline struct source *fake_source_open(struct fake_source *f,
					      const struct manifest *manifest)
{
	static const struct source_ops ops = {
		.name = "fake", .size = sizeof(struct fake_front), .submit = fake_submit,
		.hurry = fake_hurry, .depth = fake_depth, .stop = fake_stop, .close = fake_close,
	};
	struct fake_front *front = calloc(1, sizeof(*front));

	if (!front)
		abort();
	*front = (struct fake_front){
		.source = { .ops = &ops, .manifest = manifest }, .fake = f,
	};
	return &front->source;
}

/* A layer with these options over it; freed by source_close(), together with it. */
static inline struct source *fake_source_under(struct fake_source *f,
					       const struct source_ops *layer,
					       const struct source_options *o)
{
	struct source *s = calloc(1, layer->size);

	if (!s)
		abort();
	*s = (struct source){
		.ops = layer, .next = fake_source_open(f, o->manifest), .manifest = o->manifest,
		.options = o,
	};
	if (layer->open(s) < 0)
		abort();
	s->options = NULL;
	return s;
}
