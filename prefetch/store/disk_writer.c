#include "prefetch/store/disk_writer.h"

#include <string.h>

#include "base/log.h"

#define STOP_MOST (2 * CLOCK_S)
#define STOP_MORE CLOCK_S              /* for the write that goes on then */

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

/* --- The thread ----------------------------------------------------------------------------- */

static bool is_asked(struct disk *d, bool *what)
{
	DL_HOLD(&d->lock);
	if (!*what || d->closing)
		return false;
	*what = false;
	return true;
}

/* Also while nothing is written: for want of room, it may be. */
static void trim(struct disk *d)
{
	if (!d->online)
		return;
	writer_end_segments(d);
	reclaim_empty(d);
}

static void weed(struct disk *d)
{
	if (d->online && space_weed(d))
		disk_trim(d);
}

static void flush_all(struct disk *d)
{
	int r = writer_flush(d);

	if (r < 0)
		fault_seen(d, r);
	writer_settle(d);
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
	d->weed |= r == 0;
	d->recount |= r == 0;
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
		writer_took(d, q);
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
		q = writer_take(d, d->writer.batched == 0);
		if (q || d->writer.batched > 0)
			work(d, q);
		else if (is_asked(d, &d->weed))
			weed(d);
		else if (is_asked(d, &d->trim))
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
