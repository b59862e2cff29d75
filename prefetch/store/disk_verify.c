#include "prefetch/store/disk_internal.h"

#include <string.h>

struct found {
	struct record record;
	struct place at;
};

struct all {
	struct buf found;              /* of struct found */
	uint64_t bytes;
};

static int on_entry(void *context, const struct record *r, struct place at)
{
	struct all *all = context;
	struct found f = { *r, at };

	all->bytes += record_bytes(r);
	return buf_append(&all->found, &f, sizeof(f));
}

static int by_place(const void *a, const void *b)
{
	struct place x = ((const struct found *)a)->at, y = ((const struct found *)b)->at;

	if (x.segment != y.segment)
		return x.segment < y.segment ? -1 : 1;
	return (x.offset > y.offset) - (x.offset < y.offset);
}

/* 1: bad; 0: good, or not there any more. */
static int verify_one(struct disk *d, const struct found *f, bool repair)
{
	dl_cleanup(buf_free) struct buf bytes = BUF_EMPTY;
	struct record now;
	struct place at;
	int r = segment_read(d->folder, f->at, &f->record, &bytes);

	if (r == 0 || r == -ENOMEM || index_get(d->index, &f->record.key, &now, &at) < 0 ||
	    !same_place(at, f->at))
		return r == -ENOMEM ? r : 0;
	if (repair)
		disk_forget(d, &f->record, f->at);
	return 1;
}

static int verify_all(struct disk *d, bool repair, void (*progress)(void *context, uint64_t done,
		      uint64_t all), void *context, uint64_t *ret_bad)
{
	struct all all = { .found = BUF_EMPTY };
	uint64_t done = 0, bad = 0;
	const struct found *f;
	size_t count;
	int r = index_each(d->index, on_entry, &all);

	count = all.found.len / sizeof(*f);
	f = (const struct found *)(const void *)all.found.at;
	if (r == 0 && count > 0)
		qsort(all.found.at, count, sizeof(*f), by_place);
	for (size_t i = 0; r >= 0 && i < count; i++) {
		r = verify_one(d, &f[i], repair);
		bad += r == 1;
		done += record_bytes(&f[i].record);
		if (progress && (i + 1 == count || f[i + 1].at.segment != f[i].at.segment))
			progress(context, done, all.bytes);
	}
	buf_free(&all.found);
	if (r >= 0)
		*ret_bad = bad;
	return r < 0 ? r : 0;
}

int disk_verify(struct disk *d, bool repair, void (*progress)(void *context, uint64_t done,
		uint64_t all), void *context, uint64_t *ret_bad)
{
	unsigned turn;
	int r;

	if (!disk_enter(d, &turn))
		return -EAGAIN;
	r = verify_all(d, repair, progress, context, ret_bad);
	disk_leave(d, turn);
	return r;
}
