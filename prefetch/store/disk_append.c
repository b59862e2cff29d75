/* The newest segment: records are appended to it, and are in the index once a batch of them is. */
#include <sys/stat.h>

#include "prefetch/store/disk_writer.h"

/* So that nobody has the one before the newest open: its room is free once it is deleted. */
void writer_let_go(struct disk *d)
{
	struct writer *w = &d->writer;

	if (w->before < 0)
		return;
	segment_clean(w->before);
	close(w->before);
	w->before = -1;
}

/* Its pages are written while the next segment is filled, and then dropped. */
static void end_segment(struct disk *d)
{
	struct writer *w = &d->writer;

	if (w->fd < 0)
		return;
	writer_let_go(d);
	segment_written(w->fd);
	w->before = w->fd;
	w->fd = -1;
}

void writer_end_segments(struct disk *d)
{
	end_segment(d);
	writer_let_go(d);
}

/* A segment has records of one source, so that another dataset's can be dropped as a whole. */
static int begin_segment(struct disk *d, uint64_t source)
{
	struct writer *w = &d->writer;
	uint32_t number = w->end.segment + 1;
	int fd = segment_create(d->folder, number), r;

	if (fd == -EEXIST)
		w->end.segment++;      /* not ours, so it is not touched */
	if (fd < 0)
		return fd;
	end_segment(d);
	w->fd = fd;
	w->end = (struct mark){ number, 0 };
	w->source = source;
	dl_lock_take(&d->lock);
	r = space_add(d, number, 0);
	if (r == 0)
		space_find(d, number)->source = source;
	dl_lock_drop(&d->lock);
	if (r < 0)
		end_segment(d);
	return r;
}

static bool fits(const struct disk *d, const struct record *r)
{
	const struct writer *w = &d->writer;

	return w->fd >= 0 && w->source == r->key.hash[0] &&
		(w->end.offset == 0 || w->end.offset + record_bytes(r) <= d->segment_most);
}

/* What is written to a file without a name is lost. */
static int check_segment(struct disk *d)
{
	struct writer *w = &d->writer;
	struct stat st;

	if (w->fd < 0 || (fstat(w->fd, &st) == 0 && st.st_nlink > 0))
		return 0;
	end_segment(d);
	return -ENOENT;
}

int writer_flush(struct disk *d)
{
	struct writer *w = &d->writer;
	int r;

	if (w->batched == 0)
		return 0;
	r = index_apply(d->index, w->batch, w->batched, w->end);
	if (r == 0)
		space_applied(d, w->batch, w->batched);
	w->batched = 0;
	return r;
}

int writer_append(struct disk *d, const struct record *r, const void *bytes, struct place from)
{
	struct writer *w = &d->writer;
	struct place at;
	int error = check_segment(d);

	if (error == 0 && !fits(d, r))
		error = begin_segment(d, r->key.hash[0]);
	if (error == 0)
		error = segment_append(w->fd, w->end.offset, r, bytes);
	if (error < 0)
		return error;
	at = (struct place){ w->end.segment, (uint32_t)w->end.offset };
	w->end.offset += record_bytes(r);
	w->batch[w->batched++] = (struct index_change){ .record = *r, .place = at, .from = from };
	dl_lock_take(&d->lock);
	space_find(d, at.segment)->file_bytes = w->end.offset;
	dl_lock_drop(&d->lock);
	return w->batched == d->batch_most ? writer_flush(d) : 0;
}
