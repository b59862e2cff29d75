#include <sys/statvfs.h>

#include "prefetch/store/disk_writer.h"

/* Kept free so that live records can be moved before their segment is deleted. */
static uint64_t reserve(const struct disk *d)
{
	return d->segment_most + d->margin;
}

static int move(struct disk *d, const struct record *r, struct place at)
{
	dl_cleanup(buf_free) struct buf bytes = BUF_EMPTY;
	int error = segment_read(d->folder, at, r, &bytes);

	if (error == -EBADMSG || error == -EIO) {
		atomic_fetch_add(&d->bad, 1);
		disk_forget(d, r, at);
		return 0;
	}
	return error < 0 ? error : writer_append(d, r, bytes.at, at);
}

struct emptying {
	struct disk *disk;
	bool keep;                     /* what is live */
};

static int empty_one(void *context, const struct record *r, struct place at)
{
	struct emptying *e = context;
	struct record live;
	struct place where;

	if (index_get(e->disk->index, &r->key, &live, &where) < 0 || !same_place(at, where))
		return 0;
	if (e->keep && space_wanted(e->disk, &live))
		return move(e->disk, &live, at);
	disk_forget(e->disk, &live, at);
	return 0;
}

/* Records behind a damaged head are lost; the index forgets them when they are asked for. */
static int empty_segment(struct disk *d, const struct segment *s, bool keep)
{
	struct emptying e = { d, keep };
	int r = 0;

	if (s->records > 0)
		r = segment_scan(d->folder, s->number, 0, empty_one, &e);
	if (r == 0)
		r = writer_flush(d);
	return r < 0 && r != -ENOENT ? r : space_remove(d, s->number);
}

static int check_free(const struct disk *d, uint64_t bytes)
{
	struct statvfs v;

	if (fstatvfs(d->folder, &v) < 0)
		return -errno;
	return v.f_bavail * v.f_frsize < d->keep_free + bytes ? -ENOSPC : 0;
}

static bool has_room(struct disk *d, uint64_t bytes)
{
	uint64_t index = index_bytes(d->index), anew;

	DL_HOLD(&d->lock);
	/* It must find room when it is made anew, too. */
	anew = space_records(d) * INDEX_ENTRY;
	return space_used(d) + DL_MAX(anew, index) - index + reserve(d) + bytes <= d->size &&
	       index_room(d->index) >= d->margin && anew + d->margin <= INDEX_MOST(d->size);
}

/* keep: it has records that are to be moved. */
static bool find_victim(struct disk *d, struct segment *ret, bool *keep)
{
	uint32_t newest = d->writer.fd < 0 ? SEGMENT_NONE : d->writer.end.segment;

	DL_HOLD(&d->lock);
	if (!space_victim(d, newest, ret))
		return false;
	*keep = ret->records > 0 && (!d->has_source || ret->source == d->source);
	return true;
}

static bool find_empty(struct disk *d, struct segment *ret)
{
	DL_HOLD(&d->lock);
	for (size_t i = 0; i < d->count; i++)
		if (d->segments[i].records == 0) {
			*ret = d->segments[i];
			return true;
		}
	return false;
}

void reclaim_empty(struct disk *d)
{
	struct segment s;

	while (find_empty(d, &s))
		if (space_remove(d, s.number) < 0)
			return;
}

int reclaim(struct disk *d, uint64_t bytes)
{
	for (;;) {
		int lack = check_free(d, bytes), r;
		struct segment victim;
		bool keep;

		if (lack == 0 && has_room(d, bytes))
			return 0;
		/* A segment looks empty as long as its records wait for the index. */
		r = writer_flush(d);
		if (r < 0)
			return r;
		writer_let_go(d);
		if (space_recount(d))
			continue;
		if (!find_victim(d, &victim, &keep))
			return lack < 0 ? lack : -ENOBUFS;
		if (lack < 0 && keep)
			return lack;
		r = empty_segment(d, &victim, keep);
		if (r < 0)
			return r;
	}
}
