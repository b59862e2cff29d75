#include "prefetch/store/disk_internal.h"

#include <string.h>

#include "prefetch/store/disk_trust.h"

#define BATCH ((size_t)65536)

/* No reason not to read what is there; the next open tries again. */
static bool lacks_room(int error)
{
	return error == -ENOSPC || error == -EDQUOT || error == -ENOBUFS;
}

static int on_segment(void *context, uint32_t number, uint64_t bytes)
{
	return space_add(context, number, bytes);
}

/* The store may have had a larger size before. */
static int trim(struct disk *d)
{
	int r = 0;

	while (r == 0 && d->count > 0 && space_used(d) > d->size)
		r = space_remove(d, d->segments[0].number);
	return r;
}

/* --- What the index has -------------------------------------------------------------------- */

static int on_entry(void *context, const struct record *r, struct place at)
{
	struct disk *d = context;
	const struct segment *s = space_find(d, at.segment);

	if (d->closing)
		return -ECANCELED;
	if (!s || at.offset > s->file_bytes || record_bytes(r) > s->file_bytes - at.offset)
		return 1;
	space_gain(d, at, r);
	return 0;
}

/* In an index that is damaged nothing is believed. */
static int read_index(struct disk *d)
{
	int r = index_each(d->index, on_entry, d);

	if (r != -EBADMSG)
		return lacks_room(r) ? 0 : r;
	for (size_t i = 0; i < d->count; i++)
		d->segments[i].records = 0, d->segments[i].live_bytes = 0,
		d->segments[i].lengths = 0;
	index_close(d->index);
	d->index = NULL;
	return index_open(d->path, INDEX_MOST(d->size), &d->index);
}

/* --- What the segments have beyond --------------------------------------------------------- */

struct tail {
	struct disk *disk;
	struct index_change *batch;
	size_t batched;
	struct mark mark;
};

/* Of those with the same key the later one comes later. */
static int by_key(const void *a, const void *b)
{
	const struct index_change *x = a, *y = b;
	int order = memcmp(&x->record.key, &y->record.key, sizeof(x->record.key));

	if (order != 0)
		return order;
	if (x->place.segment != y->place.segment)
		return x->place.segment < y->place.segment ? -1 : 1;
	return (x->place.offset > y->place.offset) - (x->place.offset < y->place.offset);
}

/* In the order of the keys, so that a page of the index is changed once; and in steps, so that the
 * index grows by no more than the writer's own changes let it: pages that a step has replaced are
 * used again by the next but one. */
static int apply(struct tail *t)
{
	struct disk *d = t->disk;
	struct mark before = index_mark(d->index);
	size_t done = 0;
	int r;

	qsort(t->batch, t->batched, sizeof(*t->batch), by_key);
	do {
		size_t count = DL_MIN(t->batched - done, d->batch_most);
		bool last = done + count == t->batched;

		r = index_apply(d->index, t->batch + done, count, last ? t->mark : before);
		if (r == 0)
			space_applied(d, t->batch + done, count);
		done += count;
	} while (r == 0 && done < t->batched);
	t->batched = 0;
	return r;
}

static int on_record(void *context, const struct record *r, struct place at)
{
	struct tail *t = context;

	if (t->disk->closing)
		return -ECANCELED;
	t->batch[t->batched++] = (struct index_change){ .record = *r, .place = at };
	t->mark = (struct mark){ at.segment, at.offset + record_bytes(r) };
	return t->batched == BATCH ? apply(t) : 0;
}

/* A segment that cannot be read has nothing; one write that fails is enough. */
static int scan_segments(struct tail *t, struct mark from)
{
	struct disk *d = t->disk;
	int r = 0;

	for (size_t i = 0; r == 0 && i < d->count; i++) {
		const struct segment *s = &d->segments[i];
		uint64_t offset = s->number == from.segment ? from.offset : 0;

		if (s->number < from.segment || offset >= s->file_bytes)
			continue;
		r = segment_scan(d->folder, s->number, offset, on_record, t);
		if (r == -EIO || r == -EBADMSG || r == -EACCES)
			r = 0;
		t->mark = (struct mark){ s->number, s->file_bytes };
	}
	return r;
}

static int read_tail(struct disk *d)
{
	struct mark mark = index_mark(d->index);
	struct tail t = { .disk = d, .mark = mark, .batch = calloc(BATCH, sizeof(*t.batch)) };
	int r;

	if (!t.batch)
		return -ENOMEM;
	r = scan_segments(&t, mark);
	if (r == 0 && (t.batched > 0 || t.mark.segment != mark.segment ||
		       t.mark.offset != mark.offset))
		r = apply(&t);
	free(t.batch);
	d->writer.end.segment = t.mark.segment;
	if (d->count > 0)
		d->writer.end.segment = DL_MAX(t.mark.segment, d->segments[d->count - 1].number);
	return lacks_room(r) ? 0 : r;
}

/* --- What is too much ---------------------------------------------------------------------- */

struct excess {
	struct disk *disk;
	uint32_t last;                 /* segment; all records before it go, and of its own: */
	uint64_t left;
	struct index_change *batch;    /* the first of them */
	size_t batched;
};

static int on_excess(void *context, const struct record *r, struct place at)
{
	struct excess *e = context;

	if (e->disk->closing)
		return -ECANCELED;
	if (e->batched == BATCH || at.segment > e->last || (at.segment == e->last && e->left == 0))
		return 0;
	e->left -= at.segment == e->last;
	e->batch[e->batched++] = (struct index_change){ .record = *r, .place = at };
	return 0;
}

/* One by one: all at once could replace every page of the index, which may have no room for as many
 * more.  *ret: how many are gone. */
static int forget_oldest(struct excess *e, size_t *ret)
{
	struct disk *d = e->disk;
	const struct segment *s = d->segments;
	int r;

	for (e->left = space_records(d) - d->records_most; s->records <= e->left; s++)
		e->left -= s->records;
	e->last = s->number;
	e->batched = *ret = 0;
	r = index_each(d->index, on_excess, e);
	for (size_t i = 0; r == 0 && i < e->batched; i++) {
		r = disk_forget(d, &e->batch[i].record, e->batch[i].place);
		*ret += r == 1;
		r = d->closing ? -ECANCELED : DL_MIN(r, 0);
	}
	return r;
}

/* The store may have had a larger bound on records before: the oldest go. */
static int shrink(struct disk *d)
{
	struct excess e = { .disk = d };
	size_t gone = 1;
	int r = 0;

	if (space_records(d) <= d->records_most)
		return 0;
	e.batch = calloc(BATCH, sizeof(*e.batch));
	if (!e.batch)
		return -ENOMEM;
	while (r == 0 && gone > 0 && space_records(d) > d->records_most)
		r = forget_oldest(&e, &gone);
	free(e.batch);
	if (r == 0)
		reclaim_empty(d);
	return lacks_room(r) ? 0 : r;
}

int disk_load(struct disk *d)
{
	int r = segment_list(d->folder, on_segment, d);

	if (r == 0 && d->distrust)
		r = trust_remove(d->path);
	if (r == 0)
		r = index_open(d->path, INDEX_MOST(d->size), &d->index);
	if (r == 0)
		r = trim(d);
	if (r == 0)
		r = read_index(d);
	if (r == 0)
		r = read_tail(d);
	return r < 0 ? r : shrink(d);
}
