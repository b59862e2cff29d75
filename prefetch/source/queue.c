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
	return 0;
}

int queue_push(struct queue *q, struct fetch *f)
{
	f->stamp_ = q->stamps++;
	return queue_return(q, f);
}

struct fetch *queue_pop(struct queue *q)
{
	struct fetch *first;

	if (q->count == 0)
		return NULL;
	first = q->heap[0];
	q->heap[0] = q->heap[--q->count];
	sink(q, 0);
	return first;
}

static bool holds(const struct fetch *f, sample_id id, uint64_t offset)
{
	return f->id == id && offset >= f->offset && offset - f->offset < DL_MAX(f->len, 1u);
}

void queue_hurry(struct queue *q, sample_id id, uint64_t offset)
{
	/* A fetch only ever swaps places with its ancestors, which were looked at before, so
	 * one pass upwards through the array misses none. */
	for (size_t i = 0; i < q->count; i++) {
		if (q->heap[i]->due == 0 || !holds(q->heap[i], id, offset))
			continue;
		q->heap[i]->hurried_ = true;
		if (q->heap[i]->in_turn)
			continue;
		q->heap[i]->due = 0;
		rise(q, i);
	}
}

void queue_fini(struct queue *q)
{
	assert(q->count == 0);
	free(q->heap);
	*q = (struct queue){ 0 };
}
