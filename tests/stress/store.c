/* Threads that fill, give up, look at, hold and drop the same blocks: each has one filler at a
 * time, every waiter is woken once, bytes stay as long as they are pinned, and the sums are right.
 */
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/random.h"
#include "prefetch/store/store.h"

#define THREADS 6
#define STEPS 50000u
#define SAMPLES 200u                   /* of NUMBERS blocks each: the table has to grow */
#define NUMBERS 3u
#define HELD 16u                       /* fills, and pins, that a thread has at once */
#define LONGEST 400u

static struct store *store;
static _Atomic bool filling[SAMPLES][NUMBERS];

struct sleeper {                       /* for one call of store_begin() */
	struct waiter waiter;
	struct block block;
	bool asked;
	_Atomic unsigned woken;
};

struct worker {
	pthread_t thread;
	struct random random;
	struct sleeper sleepers[STEPS];
	struct entry *fills[HELD], *pins[HELD];
	unsigned joined, given_up, dropped;
};

static uint32_t below(struct worker *w, uint32_t n)
{
	return random_below(&w->random, n);
}

/* --- Bytes that say where they belong ----------------------------------------------------- */

static uint64_t length_of(struct block b)
{
	return (b.id * 31 + b.number * 7) % LONGEST + 1;
}

static uint8_t byte_of(struct block b, uint64_t at)
{
	return (uint8_t)(b.id * 13 + b.number * 5 + at);
}

static void check_bytes(const struct entry *e, struct block b)
{
	struct bytes view = store_view(e);

	assert(store_block(e).id == b.id && store_block(e).number == b.number);
	assert(view.len == length_of(b));
	for (uint64_t i = 0; i < view.len; i++)
		assert(((const uint8_t *)view.at)[i] == byte_of(b, i));
}

static void fill(struct buf *bytes, struct block b)
{
	assert(buf_reserve(bytes, length_of(b)) == 0);
	for (; bytes->len < length_of(b); bytes->len++)
		bytes->at[bytes->len] = byte_of(b, bytes->len);
}

/* --- What a thread does ------------------------------------------------------------------- */

static void on_wake(struct waiter *w, int result, struct entry *e)
{
	struct sleeper *s = dl_container_of(w, struct sleeper, waiter);

	assert(s->woken++ == 0);
	w->next_ = w;                  /* it is ours again, and could be gone */
	if (result < 0) {
		assert(result == -EIO && !e);
		return;
	}
	check_bytes(e, s->block);
	store_unpin(e);
}

static void end_fill(struct worker *w, struct entry **fill_of)
{
	struct entry *e = DL_TAKE(*fill_of);
	struct buf bytes = BUF_EMPTY;
	struct block b;

	if (!e)
		return;
	b = store_block(e);
	assert(atomic_exchange(&filling[b.id][b.number], false));
	if (below(w, 8) == 0) {
		w->given_up++;
		store_abort(e, -EIO);
		return;
	}
	fill(&bytes, b);
	store_commit(e, &bytes);
	check_bytes(e, b);
	store_unpin(e);
}

static void end_pin(struct entry **pin)
{
	struct entry *e = DL_TAKE(*pin);

	if (!e)
		return;
	check_bytes(e, store_block(e));
	store_unpin(e);
}

/* The filler lets others wait for a while; a reader keeps what it got for a while. */
static void keep(struct entry **places, struct worker *w, struct entry *e, bool fills)
{
	struct entry **place = &places[below(w, HELD)];

	if (fills)
		end_fill(w, place);
	else
		end_pin(place);
	*place = e;
}

static void ask(struct worker *w, struct sleeper *s, struct block b)
{
	struct entry *e;
	bool waits = below(w, 4) > 0;
	int got;

	*s = (struct sleeper){ .waiter.wake = on_wake, .block = b };
	got = store_begin(store, b, waits ? &s->waiter : NULL, &e);
	s->asked = waits && got != STORE_READY;
	if (got == STORE_MINE) {
		assert(!atomic_exchange(&filling[b.id][b.number], true));
		keep(w->fills, w, e, true);
	} else if (got == STORE_READY) {
		check_bytes(e, b);
		keep(w->pins, w, e, false);
	} else {
		assert(got == STORE_BUSY);
		w->joined += waits;
	}
}

static void look(struct worker *w, struct block b)
{
	struct entry *e;
	int got = store_peek(store, b, &e);

	assert(got == STORE_READY || got == STORE_BUSY || got == STORE_ABSENT);
	if (got == STORE_READY)
		keep(w->pins, w, e, false);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	for (unsigned i = 0; i < STEPS; i++) {
		struct block b = { below(w, SAMPLES), below(w, NUMBERS) };
		unsigned what = below(w, 1000);

		if (what < 600)
			ask(w, &w->sleepers[i], b);
		else if (what < 750)
			look(w, b);
		else if (what < 999)
			w->dropped += store_drop(store, b);
		else
			assert(store_check(store));
		if (i == STEPS / 2)
			store_empty(store);
	}
	for (unsigned i = 0; i < HELD; i++) {
		end_fill(w, &w->fills[i]);
		end_pin(&w->pins[i]);
	}
	return NULL;
}

/* --- Afterwards --------------------------------------------------------------------------- */

static void check_worker(const struct worker *w)
{
	for (unsigned i = 0; i < STEPS; i++)
		assert(w->sleepers[i].woken == w->sleepers[i].asked);
	assert(w->joined > 0 && w->given_up > 0 && w->dropped > 0);
	printf("joined %u fills, gave up %u, dropped %u\n", w->joined, w->given_up, w->dropped);
}

static void check_store(void)
{
	uint64_t bytes = 0;
	struct entry *e;

	assert(store_check(store));
	for (uint32_t i = 0; i < SAMPLES * NUMBERS; i++) {
		struct block b = { i / NUMBERS, i % NUMBERS };
		int got = store_peek(store, b, &e);

		assert(got == STORE_READY || got == STORE_ABSENT);
		if (got == STORE_ABSENT)
			continue;
		check_bytes(e, b);
		bytes += length_of(b);
		store_unpin(e);
	}
	assert(bytes == store_bytes(store));
	store_empty(store);
	assert(store_bytes(store) == 0 && store_check(store));
}

int main(void)
{
	static struct worker workers[THREADS];

	assert(store_new(&store) == 0);
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i].random = (struct random){ i };
		assert(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	for (unsigned i = 0; i < THREADS; i++)
		check_worker(&workers[i]);
	check_store();
	store_free(store);
	return 0;
}
