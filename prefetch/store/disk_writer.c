#include "prefetch/store/disk_writer.h"

#include <string.h>
#include <sys/stat.h>

#include "base/log.h"

#define STOP_MOST (2 * CLOCK_S)
#define STOP_MORE CLOCK_S              /* for the write that goes on then */

/* --- Segments ------------------------------------------------------------------------------ */

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

/* --- Samples ------------------------------------------------------------------------------- */

static bool known(struct disk *d, const struct record *r)
{
	const struct writer *w = &d->writer;

	for (size_t i = 0; i < w->batched; i++)
		if (same_key(&w->batch[i].record.key, &r->key) &&
		    same_identity(&w->batch[i].record.id, &r->id))
			return true;
	return disk_has(d, &r->key, &r->id);
}

static struct bytes pack(struct disk *d, const struct queued *q)
{
	struct writer *w = &d->writer;
	struct bytes all = { q->bytes, q->record.length }, packed;
	int level = d->zstd;
	double waiting;

	if (!w->packer)
		return all;
	if (level == DISK_AUTO) {
		dl_lock_take(&d->lock);
		waiting = (double)(d->queued_bytes - record_bytes(&q->record)) /
			(double)d->queue_most;
		dl_lock_drop(&d->lock);
		level = effort_level(&w->effort, waiting);
	}
	if (level == 0)
		return all;
	packed = packer_pack(w->packer, all, level);
	return packed.at ? packed : all;
}

static int keep(struct disk *d, const struct queued *q)
{
	struct record record = q->record;
	struct bytes bytes = pack(d, q);
	int r;

	record.stored = bytes.len;
	r = reclaim(d, record_bytes(&record));
	if (r == 0)
		r = writer_append(d, &record, bytes.at, (struct place){ 0 });
	if (r < 0)
		fault_seen(d, r);
	else
		fault_over(d);
	return r;
}

static void write_one(struct disk *d, const struct queued *q)
{
	if (d->online && known(d, &q->record))
		return;
	if (!d->online || writer_suspended(d) || keep(d, q) < 0)
		atomic_fetch_add(&d->dropped, 1);
	else
		atomic_fetch_add(&d->written, 1);
}

/* --- Queue and thread ---------------------------------------------------------------------- */

bool writer_put(struct disk *d, struct queued *q)
{
	bool room;

	DL_HOLD(&d->lock);
	room = d->queued_bytes + record_bytes(&q->record) <= d->queue_most && !d->closing;
	if (!room) {
		free(q);
		return false;
	}
	q->next = NULL;
	*d->last = q;
	d->last = &q->next;
	d->queued_bytes += record_bytes(&q->record);
	pthread_cond_signal(&d->wake);
	return true;
}

int disk_key_order(const void *a, const void *b)
{
	const struct disk_key *x = a, *y = b;

	return memcmp(x->hash, y->hash, sizeof(x->hash));
}

void disk_drop_waiting(struct disk *d, const struct disk_key *keys, size_t count)
{
	struct queued *q, **at = &d->first;

	DL_HOLD(&d->lock);
	while ((q = *at) != NULL) {
		if (!bsearch(&q->record.key, keys, count, sizeof(*keys), disk_key_order)) {
			at = &q->next;
			continue;
		}
		*at = q->next;
		d->queued_bytes -= record_bytes(&q->record);
		atomic_fetch_add(&d->dropped, 1);
		free(q);
	}
	d->last = at;
}

bool disk_settle(struct disk *d, uint64_t deadline)
{
	DL_HOLD(&d->lock);
	while (d->first || !d->idle)
		if (!dl_cond_wait_until(&d->idled, &d->lock, deadline))
			return false;
	return true;
}

/* Until something is queued or, while it is offline, it may be tried again.  true: the store is
 * to be closed. */
static bool rest(struct disk *d)
{
	uint64_t until = d->online ? UINT64_MAX : d->suspended_until;

	d->idle = true;
	pthread_cond_broadcast(&d->idled);
	if (until == UINT64_MAX)
		dl_cond_wait(&d->wake, &d->lock);
	else if (!dl_cond_wait_until(&d->wake, &d->lock, until))
		return true;
	return false;
}

/* NULL: there is none; wait: only when it is closing, or offline and to be tried again. */
static struct queued *take(struct disk *d, bool wait)
{
	struct queued *q;
	bool over = false;

	DL_HOLD(&d->lock);
	while (wait && !over && !d->first && !d->closing && !d->trim)
		over = rest(d);
	d->idle = false;
	q = d->first;
	if (!q)
		return NULL;
	d->first = q->next;
	if (!d->first)
		d->last = &d->first;
	return q;
}

static bool take_trim(struct disk *d)
{
	DL_HOLD(&d->lock);
	if (!d->trim || d->closing)
		return false;
	d->trim = false;
	return true;
}

static void trim(struct disk *d)
{
	if (!d->online || writer_suspended(d))
		return;
	writer_end_segments(d);
	reclaim_empty(d);
}

static void written(struct disk *d, const struct queued *q)
{
	DL_HOLD(&d->lock);
	d->queued_bytes -= record_bytes(&q->record);
}

void writer_drain(struct disk *d)
{
	DL_HOLD(&d->lock);
	while (d->first || !d->idle)
		dl_cond_wait(&d->idled, &d->lock);
}

static void flush_all(struct disk *d)
{
	int r = writer_flush(d);

	if (r < 0)
		fault_seen(d, r);
}

/* What is queued when the time to stop is over, is dropped. */
static bool too_late(struct disk *d)
{
	DL_HOLD(&d->lock);
	return d->closing && clock_now() > d->deadline;
}

static void abandon(struct disk *d)
{
	writer_end_segments(d);
	d->writer.batched = 0;
}

static void come(struct disk *d)
{
	int pid = 0, r = disk_come(d, &pid);

	if (r < 0 && !d->closing)
		fault_open(d, r);
	if (r == 0) {
		atomic_store(&d->suspended_until, 0);
		atomic_store(&d->error, 0);
	}
	DL_HOLD(&d->lock);
	if (d->opened == -EINPROGRESS)
		d->opened = r;
	pthread_cond_broadcast(&d->idled);
}

/* After a fault the store that is at the path may not be ours any more. */
static void look_again(struct disk *d)
{
	if (d->online && !writer_suspended(d) && index_broken(d->index))
		fault_seen(d, -EBADMSG);
	if (d->online && writer_suspended(d) && disk_lost(d)) {
		abandon(d);
		disk_go(d);
	}
	if (!d->online && !writer_suspended(d) && !d->closing)
		come(d);
}

static void work(struct disk *d, struct queued *q)
{
	if (!q)
		flush_all(d);
	else if (too_late(d))
		atomic_fetch_add(&d->dropped, 1);
	else
		write_one(d, q);
	if (q)
		written(d, q);
	free(q);
}

static void *run(void *context)
{
	struct disk *d = context;
	struct queued *q;

	if (d->zstd != DISK_RAW && packer_new(&d->writer.packer) < 0)
		log_warning("%s: no memory is left to make samples smaller", d->path);
	come(d);
	for (;;) {
		q = take(d, d->writer.batched == 0);
		if (q || d->writer.batched > 0)
			work(d, q);
		else if (take_trim(d))
			trim(d);
		else if (d->closing)
			break;
		look_again(d);
	}
	abandon(d);
	packer_free(d->writer.packer);
	DL_HOLD(&d->lock);
	d->ended = true;
	pthread_cond_broadcast(&d->idled);
	return NULL;
}

int writer_start(struct disk *d)
{
	struct writer *w = &d->writer;

	d->last = &d->first;
	d->opened = -EINPROGRESS;
	w->fd = w->before = -1;
	w->pause = PAUSE_FIRST;
	return -pthread_create(&w->thread, NULL, run, d);
}

int writer_await_open(struct disk *d, uint64_t deadline)
{
	DL_HOLD(&d->lock);
	while (d->opened == -EINPROGRESS && clock_now() < deadline) {
		if (deadline == UINT64_MAX)
			dl_cond_wait(&d->idled, &d->lock);
		else
			dl_cond_wait_until(&d->idled, &d->lock, deadline);
	}
	return d->opened;
}

void writer_retry(struct disk *d)
{
	DL_HOLD(&d->lock);
	atomic_store(&d->suspended_until, 1);
	pthread_cond_signal(&d->wake);
}

bool writer_stop(struct disk *d)
{
	bool ended;

	dl_lock_take(&d->lock);
	d->closing = true;
	d->deadline = clock_now() + STOP_MOST;
	pthread_cond_signal(&d->wake);
	while (!d->ended && dl_cond_wait_until(&d->idled, &d->lock, d->deadline + STOP_MORE))
		;
	ended = d->ended;
	dl_lock_drop(&d->lock);
	if (ended)
		pthread_join(d->writer.thread, NULL);
	else
		pthread_detach(d->writer.thread);
	return ended;
}
