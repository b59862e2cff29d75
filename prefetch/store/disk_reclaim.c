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

/* Of the bound on records, what is forgotten at once: no more than a segment is of the size. */
#define SPARE_PART 256

enum wanted { MOVE, LEAVE, FORGET };   /* what becomes of records that are wanted */

struct emptying {
	struct disk *disk;
	enum wanted wanted;
	uint64_t most;                 /* to be forgotten; then it ends with -ECANCELED */
};

static int empty_one(void *context, const struct record *r, struct place at)
{
	struct emptying *e = context;
	struct record live;
	struct place where;

	if (index_get(e->disk->index, &r->key, &live, &where) < 0 || !same_place(at, where))
		return 0;
	if (e->wanted != FORGET && space_wanted(e->disk, &live))
		return e->wanted == MOVE ? move(e->disk, &live, at) : 0;
	disk_forget(e->disk, &live, at);
	return --e->most == 0 ? -ECANCELED : 0;
}

/* Records behind a damaged head are lost; the index forgets them when they are asked for. */
static int empty_segment(struct disk *d, const struct segment *s, enum wanted wanted)
{
	struct emptying e = { d, wanted, UINT64_MAX };
	int r = 0;

	if (s->records > 0)
		r = segment_scan(d->folder, s->number, 0, empty_one, &e);
	if (r == 0)
		r = writer_flush(d);
	return r < 0 && r != -ENOENT ? r : space_remove(d, s->number);
}

static int thin_out(struct disk *d, const struct segment *s)
{
	struct emptying e = { d, LEAVE, d->records_most / SPARE_PART + 1 };
	int r = segment_scan(d->folder, s->number, 0, empty_one, &e);

	if (r == -ECANCELED)
		return 0;
	DL_HOLD(&d->lock);
	space_spent(d, s->number);
	return r == -ENOENT ? 0 : r;
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

static bool has_place(struct disk *d)
{
	DL_HOLD(&d->lock);
	return space_records(d) + d->writer.batched < d->records_most;
}

static bool is_ours(const struct disk *d, const struct segment *s)
{
	return !d->has_source || s->source == d->source;
}

static bool find_victim(struct disk *d, struct segment *ret, enum wanted *wanted)
{
	uint32_t newest = d->writer.fd < 0 ? SEGMENT_NONE : d->writer.end.segment;

	DL_HOLD(&d->lock);
	if (!space_victim(d, newest, ret))
		return false;
	*wanted = ret->records > 0 && is_ours(d, ret) ? MOVE : FORGET;
	return true;
}

static bool find_spare(struct disk *d, struct segment *ret, enum wanted *wanted)
{
	DL_HOLD(&d->lock);
	if (!space_spare(d, ret))
		return false;
	*wanted = is_ours(d, ret) ? LEAVE : FORGET;
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

/* Room for bytes. */
static int reclaim_bytes(struct disk *d, int lack)
{
	enum wanted wanted;
	struct segment victim;

	if (!find_victim(d, &victim, &wanted))
		return lack < 0 ? lack : -ENOBUFS;
	if (lack < 0 && wanted == MOVE)
		return lack;
	return empty_segment(d, &victim, wanted);
}

/* Room for a record. */
static int reclaim_place(struct disk *d)
{
	enum wanted wanted;
	struct segment spare;

	if (!find_spare(d, &spare, &wanted))
		return -ENOBUFS;
	if (wanted == LEAVE)
		return thin_out(d, &spare);
	writer_end_segments(d);        /* it may be the newest */
	return empty_segment(d, &spare, FORGET);
}

int reclaim(struct disk *d, uint64_t bytes)
{
	for (;;) {
		int lack = check_free(d, bytes), r;
		bool place = has_place(d), waits = d->writer.batched > 0;

		if (lack == 0 && place && has_room(d, bytes))
			return 0;
		/* A segment looks empty as long as its records wait for the index; and those that
		 * replace another are no more than there were. */
		r = writer_flush(d);
		if (r < 0)
			return r;
		writer_let_go(d);
		if (waits || space_recount(d))
			continue;
		r = place ? reclaim_bytes(d, lack) : reclaim_place(d);
		if (r < 0)
			return r;
	}
}
