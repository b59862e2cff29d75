#include "prefetch/store/disk_internal.h"

#include <string.h>

/* A segment whose records are live for the most part is not worth moving them. */
#define GAIN_LEAST(file_bytes) ((file_bytes) / 8)

static size_t place_of(const struct disk *d, uint32_t number)
{
	size_t low = 0, high = d->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (d->segments[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int space_add(struct disk *d, uint32_t number, uint64_t bytes)
{
	size_t at = place_of(d, number);

	if (d->count == d->cap) {
		size_t cap = DL_MAX(d->cap * 2, (size_t)64);
		struct segment *more = reallocarray(d->segments, cap, sizeof(*more));

		if (!more)
			return -ENOMEM;
		d->segments = more;
		d->cap = cap;
	}
	memmove(d->segments + at + 1, d->segments + at, (d->count - at) * sizeof(*d->segments));
	d->segments[at] = (struct segment){ .number = number, .file_bytes = bytes };
	d->count++;
	return 0;
}

struct segment *space_find(struct disk *d, uint32_t number)
{
	size_t at = place_of(d, number);

	return at < d->count && d->segments[at].number == number ? &d->segments[at] : NULL;
}

void space_gain(struct disk *d, struct place at, const struct record *r)
{
	struct segment *s = space_find(d, at.segment);

	if (!s)
		return;
	s->source = r->key.hash[0];
	s->records++;
	s->live_bytes += record_bytes(r);
	s->lengths += r->length;
}

static void lose(struct disk *d, struct place at, const struct record *r)
{
	struct segment *s = space_find(d, at.segment);

	if (!s)
		return;
	s->records--;
	s->live_bytes -= record_bytes(r);
	s->lengths -= r->length;
	atomic_store(&d->full, false);
}

uint64_t space_used(struct disk *d)
{
	uint64_t bytes = index_bytes(d->index);

	for (size_t i = 0; i < d->count; i++)
		bytes += d->segments[i].file_bytes;
	return bytes;
}

uint64_t space_records(const struct disk *d)
{
	uint64_t records = 0;

	for (size_t i = 0; i < d->count; i++)
		records += d->segments[i].records;
	return records;
}

void space_sums(const struct disk *d, uint64_t *ret_bytes, uint64_t *ret_lengths)
{
	*ret_bytes = *ret_lengths = 0;
	for (size_t i = 0; i < d->count; i++) {
		*ret_bytes += d->segments[i].live_bytes;
		*ret_lengths += d->segments[i].lengths;
	}
}

static uint64_t wanted_bytes(const struct segment *s)
{
	return s->live_bytes - DL_MIN(s->unwanted, s->live_bytes);
}

static bool foreign(const struct disk *d, const struct segment *s)
{
	return d->has_source && s->source != d->source;
}

/* The oldest of another dataset; else the one with the least that is wanted. */
bool space_victim(struct disk *d, uint32_t newest, struct segment *ret)
{
	const struct segment *best = NULL;

	for (size_t i = 0; i < d->count; i++) {
		const struct segment *s = &d->segments[i];

		if (s->number == newest)
			continue;
		if (s->records == 0 || foreign(d, s)) {
			*ret = *s;
			return true;
		}
		if (s->file_bytes - wanted_bytes(s) > GAIN_LEAST(s->file_bytes) &&
		    (!best || wanted_bytes(s) < wanted_bytes(best)))
			best = s;
	}
	if (best)
		*ret = *best;
	return best;
}

bool space_spare(struct disk *d, struct segment *ret)
{
	const struct segment *best = NULL;

	for (size_t i = 0; i < d->count; i++) {
		const struct segment *s = &d->segments[i];

		if (s->records > 0 && foreign(d, s)) {
			*ret = *s;
			return true;
		}
		if (s->unwanted_records > (best ? best->unwanted_records : 0))
			best = s;
	}
	if (best)
		*ret = *best;
	return best;
}

void space_spent(struct disk *d, uint32_t number)
{
	struct segment *s = space_find(d, number);

	if (s)
		s->unwanted = s->unwanted_records = 0;
}

int space_remove(struct disk *d, uint32_t number)
{
	int r = segment_remove(d->folder, number);
	size_t at;

	if (r < 0)
		return r;
	DL_HOLD(&d->lock);
	at = place_of(d, number);
	d->count--;
	memmove(d->segments + at, d->segments + at + 1, (d->count - at) * sizeof(*d->segments));
	return 0;
}

int disk_forget(struct disk *d, const struct record *r, struct place at)
{
	int gone = index_forget(d->index, &r->key, at);

	if (gone != 1)
		return gone;
	DL_HOLD(&d->lock);
	lose(d, at, r);
	return 1;
}

void space_applied(struct disk *d, const struct index_change *changes, size_t count)
{
	DL_HOLD(&d->lock);
	for (size_t i = 0; i < count; i++) {
		const struct index_change *c = &changes[i];

		if (!c->done)
			continue;
		space_gain(d, c->place, &c->record);
		if (c->old.segment != SEGMENT_NONE)
			lose(d, c->old, &c->was);
	}
}

/* --- What is wanted ------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* It is not needed, and so not held, before room lacks. */
static void learn_dataset(struct disk *d)
{
	struct buf *all = &d->dataset;

	buf_free(all);
	if (!d->ask_dataset || d->closing)
		return;
	if (d->ask_dataset(d->context, all) < 0)
		buf_free(all);
	if (all->len)
		qsort(all->at, all->len / sizeof(uint32_t), sizeof(uint32_t), by_value);
}

static bool in_dataset(const struct disk *d, const struct record *r)
{
	const struct buf *all = &d->dataset;
	uint32_t hash = (uint32_t)(r->key.hash[1] >> 32);

	dl_assert_held(&d->lock);
	return !d->has_source || r->key.hash[0] != d->source || all->len == 0 ||
		bsearch(&hash, all->at, all->len / sizeof(hash), sizeof(hash), by_value);
}

bool space_wanted(struct disk *d, const struct record *r)
{
	DL_HOLD(&d->lock);
	if (!in_dataset(d, r))
		return false;
	return !d->rule || !d->rule->firm || keep_wants(d->rule, r->key.hash[1], r->id.size);
}

/* A copy: a new rule may come meanwhile.  NULL: nothing, or no memory. */
static uint64_t *copy_nevers(struct disk *d, size_t *ret_count, uint64_t *ret_source)
{
	const struct keep_rule *r;
	uint64_t *nevers;

	DL_HOLD(&d->lock);
	r = d->rule;
	if (!r || r->never == 0)
		return NULL;
	nevers = malloc(r->never * sizeof(*nevers));
	if (nevers)
		memcpy(nevers, r->hashes + r->pinned, r->never * sizeof(*nevers));
	*ret_count = r->never;
	*ret_source = d->source;
	return nevers;
}

bool space_weed(struct disk *d)
{
	struct disk_key key = { .part = 0 };
	dl_cleanup(dl_freep) uint64_t *nevers = NULL;
	uint64_t bytes = 0;
	size_t count = 0;

	nevers = copy_nevers(d, &count, &key.hash[0]);
	for (size_t i = 0; nevers && i < count && !d->closing; i++) {
		uint64_t gone;

		key.hash[1] = nevers[i];
		if (disk_drop(d, &key, &gone) < 0)
			break;
		bytes += gone;
	}
	return bytes > 0;
}

static int count_unwanted(void *context, const struct record *r, struct place at)
{
	struct disk *d = context;
	struct segment *s;

	if (space_wanted(d, r))
		return 0;
	DL_HOLD(&d->lock);
	s = space_find(d, at.segment);
	if (!s)
		return 0;
	s->unwanted += record_bytes(r);
	s->unwanted_records++;
	return 0;
}

bool space_recount(struct disk *d)
{
	dl_lock_take(&d->lock);
	if (!d->recount) {
		dl_lock_drop(&d->lock);
		return false;
	}
	d->recount = false;
	for (size_t i = 0; i < d->count; i++)
		d->segments[i].unwanted = d->segments[i].unwanted_records = 0;
	dl_lock_drop(&d->lock);
	learn_dataset(d);
	return index_each(d->index, count_unwanted, d) == 0;
}
