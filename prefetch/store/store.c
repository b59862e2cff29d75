#include "prefetch/store/store.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/lock.h"

#define BUCKETS_MIN 256

enum state { FILLING, READY, GONE };   /* GONE: dropped, but still pinned */

struct entry {
	struct store *store;
	struct block block;
	struct entry *next;            /* in its bucket; not while GONE */
	enum state state;
	unsigned pins;
	struct buf bytes;              /* written by the filler; immutable once READY */
	_Atomic uint64_t read;         /* bytes of it that went to readers */
	struct waiter *waiters;        /* while FILLING */
};

struct store {
	struct dl_lock lock;           /* guards everything below and every entry */
	struct entry **buckets;
	size_t bucket_count;           /* a power of two */
	size_t count;
	uint64_t bytes;                /* in READY entries */
};

int store_new(struct store **ret)
{
	struct store *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->bucket_count = BUCKETS_MIN;
	s->buckets = calloc(s->bucket_count, sizeof(*s->buckets));
	if (!s->buckets) {
		free(s);
		return -ENOMEM;
	}
	dl_lock_init(&s->lock);
	*ret = s;
	return 0;
}

static void entry_free(struct entry *e)
{
	buf_free(&e->bytes);
	free(e);
}

void store_free(struct store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->bucket_count; i++) {
		while (s->buckets[i]) {
			struct entry *e = s->buckets[i];

			assert(e->state == READY && e->pins == 0);
			s->buckets[i] = e->next;
			entry_free(e);
		}
	}
	free(s->buckets);
	dl_lock_fini(&s->lock);
	free(s);
}

static size_t bucket_of(const struct store *s, struct block b)
{
	uint64_t key = (uint64_t)b.id << 32 | b.number;

	return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (s->bucket_count - 1);
}

static struct entry **place_of(struct store *s, struct block b)
{
	struct entry **at = &s->buckets[bucket_of(s, b)];

	dl_assert_held(&s->lock);
	while (*at && ((*at)->block.id != b.id || (*at)->block.number != b.number))
		at = &(*at)->next;
	return at;
}

/* More buckets once entries outnumber them.  Without memory it stays as it is: slower. */
static void grow(struct store *s)
{
	size_t old_count = s->bucket_count;
	struct entry **old = s->buckets, **more;

	if (s->count <= old_count)
		return;
	more = calloc(old_count * 2, sizeof(*more));
	if (!more)
		return;
	s->buckets = more;
	s->bucket_count = old_count * 2;
	for (size_t i = 0; i < old_count; i++) {
		while (old[i]) {
			struct entry *e = old[i];
			size_t to = bucket_of(s, e->block);

			old[i] = e->next;
			e->next = more[to];
			more[to] = e;
		}
	}
	free(old);
}

static void queue_waiter(struct entry *e, struct waiter *w)
{
	struct waiter **at = &e->waiters;

	if (!w)
		return;
	while (*at)
		at = &(*at)->next_;
	w->next_ = NULL;
	*at = w;
}

static int found(struct entry *e, struct waiter *w, struct entry **ret)
{
	if (e->state == READY) {
		e->pins++;
		*ret = e;
		return STORE_READY;
	}
	queue_waiter(e, w);
	return STORE_BUSY;
}

int store_begin(struct store *s, struct block b, struct waiter *w, struct entry **ret)
{
	struct entry *e, **at;

	DL_HOLD(&s->lock);
	at = place_of(s, b);
	if (*at)
		return found(*at, w, ret);
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	*e = (struct entry){ .store = s, .block = b, .state = FILLING, .pins = 1 };
	queue_waiter(e, w);
	*at = e;
	s->count++;
	grow(s);
	*ret = e;
	return STORE_MINE;
}

int store_peek(struct store *s, struct block b, struct entry **ret)
{
	struct entry *e;

	DL_HOLD(&s->lock);
	e = *place_of(s, b);
	if (!e)
		return STORE_ABSENT;
	return found(e, NULL, ret);
}

/* Call every waiter of the list; each gets a pin of its own that was taken before. */
static void wake_all(struct waiter *w, int result, struct entry *e)
{
	while (w) {
		struct waiter *next = w->next_;

		w->wake(w, result, e);
		w = next;
	}
}

void store_commit(struct entry *e, struct buf *bytes)
{
	struct store *s = e->store;
	struct waiter *waiters;

	{
		DL_HOLD(&s->lock);
		assert(e->state == FILLING);
		e->bytes = buf_take(bytes);
		e->state = READY;
		s->bytes += e->bytes.len;
		waiters = DL_TAKE(e->waiters);
		for (struct waiter *w = waiters; w; w = w->next_)
			e->pins++;
	}
	wake_all(waiters, 0, e);
}

static void unlink_entry(struct store *s, struct entry *e)
{
	struct entry **at = place_of(s, e->block);

	assert(*at == e);
	*at = e->next;
	s->count--;
}

void store_abort(struct entry *e, int error)
{
	struct store *s = e->store;
	struct waiter *waiters;

	assert(error < 0);
	{
		DL_HOLD(&s->lock);
		assert(e->state == FILLING && e->pins == 1);
		waiters = DL_TAKE(e->waiters);
		unlink_entry(s, e);
	}
	entry_free(e);
	wake_all(waiters, error, NULL);
}

struct bytes store_view(const struct entry *e)
{
	return (struct bytes){ e->bytes.at, e->bytes.len };
}

bool store_add_read(struct entry *e, uint64_t len)
{
	uint64_t before = atomic_fetch_add_explicit(&e->read, len, memory_order_relaxed);

	return before < e->bytes.len && before + len >= e->bytes.len;
}

bool store_was_read(const struct entry *e)
{
	return atomic_load_explicit(&e->read, memory_order_relaxed) >= e->bytes.len;
}

struct block store_block(const struct entry *e)
{
	return e->block;
}

void store_unpin(struct entry *e)
{
	struct store *s = e->store;
	bool last;

	{
		DL_HOLD(&s->lock);
		assert(e->pins > 0 && e->state != FILLING);
		e->pins--;
		last = e->pins == 0 && e->state == GONE;
	}
	if (last)
		entry_free(e);
}

bool store_drop(struct store *s, struct block b)
{
	struct entry *e;
	bool last;

	{
		DL_HOLD(&s->lock);
		e = *place_of(s, b);
		if (!e || e->state != READY)
			return false;
		unlink_entry(s, e);
		s->bytes -= e->bytes.len;
		e->state = GONE;
		last = e->pins == 0;
	}
	if (last)
		entry_free(e);
	return true;
}

static bool any_ready(struct store *s, struct block *ret)
{
	DL_HOLD(&s->lock);
	for (size_t i = 0; i < s->bucket_count; i++) {
		for (const struct entry *e = s->buckets[i]; e; e = e->next) {
			if (e->state == READY) {
				*ret = e->block;
				return true;
			}
		}
	}
	return false;
}

void store_empty(struct store *s)
{
	struct block b;

	while (any_ready(s, &b))
		store_drop(s, b);
}

uint64_t store_bytes(struct store *s)
{
	DL_HOLD(&s->lock);
	return s->bytes;
}

bool store_check(struct store *s)
{
	uint64_t bytes = 0;
	size_t count = 0;

	DL_HOLD(&s->lock);
	for (size_t i = 0; i < s->bucket_count; i++) {
		for (const struct entry *e = s->buckets[i]; e; e = e->next) {
			if (e->state == GONE || bucket_of(s, e->block) != i)
				return false;
			if (e->state == READY)
				bytes += e->bytes.len;
			count++;
		}
	}
	return bytes == s->bytes && count == s->count;
}
