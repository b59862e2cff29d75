#include "prefetch/source/queue.h"

#include <assert.h>

static bool sooner(const struct fetch *a, const struct fetch *b)
{
	return a->due != b->due ? a->due < b->due : a->stamp_ < b->stamp_;
}

static void swap(struct queue *q, size_t a, size_t b)
{
	struct fetch *f = q->heap[a];

	q->heap[a] = q->heap[b];
	q->heap[b] = f;
}

static void rise(struct queue *q, size_t at)
{
	while (at > 0 && sooner(q->heap[at], q->heap[(at - 1) / 2])) {
		swap(q, at, (at - 1) / 2);
		at = (at - 1) / 2;
	}
}

static void sink(struct queue *q, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < q->count && sooner(q->heap[child + 1], q->heap[child]))
			child++;
		if (child >= q->count || !sooner(q->heap[child], q->heap[at]))
			return;
		swap(q, at, child);
		at = child;
	}
}

static bool waits_in_turn(const struct fetch *f)
{
	return f->in_turn && f->hurried_ > 0 && f->due > 0;
}

static void expect_patience_to_end(struct queue *q, const struct fetch *f)
{
	uint64_t at = f->hurried_ + QUEUE_PATIENCE;

	q->overdue_at = q->overdue_at ? DL_MIN(q->overdue_at, at) : at;
}

int queue_return(struct queue *q, struct fetch *f)
{
	if (q->count == q->cap) {
		size_t cap = q->cap ? 2 * q->cap : 64;
		struct fetch **heap = reallocarray(q->heap, cap, sizeof(struct fetch *));

		if (!heap)
			return -ENOMEM;
		q->heap = heap;
		q->cap = cap;
	}
	q->heap[q->count++] = f;
	rise(q, q->count - 1);
	if (waits_in_turn(f))
		expect_patience_to_end(q, f);
	return 0;
}

int queue_push(struct queue *q, struct fetch *f)
{
	f->stamp_ = q->stamps++;
	return queue_return(q, f);
}

/* A fetch only ever swaps places with its ancestors, which were looked at before, so one pass
 * upwards through the array misses none. */
static void let_go_first(struct queue *q, uint64_t now)
{
	q->overdue_at = 0;
	for (size_t i = 0; i < q->count; i++) {
		struct fetch *f = q->heap[i];

		if (!waits_in_turn(f))
			continue;
		if (f->hurried_ + QUEUE_PATIENCE > now) {
			expect_patience_to_end(q, f);
			continue;
		}
		f->due = 0;
		rise(q, i);
	}
}

struct fetch *queue_first(struct queue *q, uint64_t now)
{
	if (q->overdue_at && q->overdue_at <= now)
		let_go_first(q, now);
	return q->count ? q->heap[0] : NULL;
}

struct fetch *queue_pop(struct queue *q, uint64_t now)
{
	struct fetch *first;

	if (q->count == 0)
		return NULL;
	first = q->heap[0];
	q->heap[0] = q->heap[--q->count];
	sink(q, 0);
	(void)queue_first(q, now);
	return first;
}

static bool holds(const struct fetch *f, sample_id id, uint64_t offset)
{
	return f->id == id && offset >= f->offset && offset - f->offset < DL_MAX(f->len, 1u);
}

void queue_hurry(struct queue *q, sample_id id, uint64_t offset, uint64_t now)
{
	for (size_t i = 0; i < q->count; i++) {        /* upwards, as above */
		struct fetch *f = q->heap[i];

		if (f->due == 0 || !holds(f, id, offset))
			continue;
		if (f->hurried_ == 0)
			f->hurried_ = now;
		if (f->in_turn) {
			expect_patience_to_end(q, f);
			continue;
		}
		f->due = 0;
		rise(q, i);
	}
}

void queue_fini(struct queue *q)
{
	assert(q->count == 0);
	free(q->heap);
	*q = (struct queue){ 0 };
}
