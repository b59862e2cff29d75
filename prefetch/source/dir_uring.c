/* A folder read through io_uring: one thread starts and collects every call. */
#include "base/ring.h"
#include "prefetch/source/dir.h"
#include "prefetch/source/layer.h"

/* More does not help a local disk, and hides 10 ms of latency at 6400 files a second. */
#define JOBS 64

static void start_call(struct dir *d, struct dir_job *j)
{
	if (j->want == DIR_OPEN)
		ring_openat2(d->ring, dir_from(j), j->rest, &j->how, j->remote, j);
	else if (j->want == DIR_STAT)
		ring_fstat(d->ring, j->fd, &j->now, j);
	else
		ring_read(d->ring, j->fd, j->bytes.at + j->bytes.len, j->len - j->bytes.len,
			  j->offset + j->bytes.len, j);
}

/* Start the next call.  The kernel leaves each fstat in a ring to a thread of its own, which
 * costs more than the call, so where it cannot wait for a server it is made here and now; a close
 * alike. */
static void go_on(struct dir *d, struct dir_job *j)
{
	int fd = -1;

	while (j->want == DIR_STAT && !j->remote)
		dir_step(j, dir_fstat(j));
	if (j->want == DIR_END && j->remote)
		fd = dir_let_go(j);
	if (fd >= 0)
		ring_shut(d->ring, fd, j);
	else if (j->want == DIR_END)
		dir_finish(j);
	else
		start_call(d, j);
}

static struct dir_job *take(struct dir *d, uint64_t *ret_look_at)
{
	struct dir_job *j;

	DL_HOLD(&d->lock);
	j = dir_take(d);
	*ret_look_at = d->look_at;
	return j;
}

/* Until when nothing is to be taken if nothing happens. */
static uint64_t take_all(struct dir *d)
{
	struct dir_job *j;
	uint64_t look_at;

	while ((j = take(d, &look_at)))
		go_on(d, j);
	return look_at;
}

/* true: no job is left to wait for. */
static bool ended(struct dir *d)
{
	DL_HOLD(&d->lock);
	return d->stopping && d->running == 0;
}

static void *run(void *arg)
{
	struct dir *d = arg;
	struct ring_result results[JOBS];

	while (!ended(d)) {
		uint64_t look_at = take_all(d);
		size_t count = ring_wait(d->ring, results, DL_COUNT(results), look_at);

		for (size_t i = 0; i < count; i++) {
			struct dir_job *j = results[i].tag;

			dir_step(j, results[i].result);
			go_on(d, j);
		}
	}
	return NULL;
}

static int uring_open(struct source *s)
{
	struct dir_source *ds = dl_container_of(s, struct dir_source, source);
	int r = dir_new(s, JOBS, &ds->dir);

	if (r < 0)
		return r;
	r = ring_open(DIR_JOBS, &ds->dir->ring);
	if (r == 0)
		r = dir_thread(ds->dir, run);
	if (r < 0) {
		ring_close(ds->dir->ring);
		dir_free(ds->dir);
	}
	return r;
}

static int uring_submit(struct source *s, struct fetch *f)
{
	struct dir *d = dl_container_of(s, struct dir_source, source)->dir;
	int r = dir_queue(d, f);

	if (r == 1)
		ring_wake(d->ring);
	return DL_MIN(r, 0);
}

static void uring_stop(struct source *s)
{
	struct dir_source *ds = dl_container_of(s, struct dir_source, source);
	bool quiet = dir_stop(ds->dir);

	ring_wake(ds->dir->ring);
	if (quiet) {
		pthread_join(ds->dir->threads[0], NULL);
		return;
	}
	pthread_detach(ds->dir->threads[0]);
	ds->dir = NULL;
}

static void uring_close(struct source *s)
{
	struct dir *d = dl_container_of(s, struct dir_source, source)->dir;

	if (!d)
		return;
	ring_close(d->ring);
	dir_free(d);
}

const struct source_ops source_uring = {
	.name = "uring",
	.size = sizeof(struct dir_source),
	.open = uring_open,
	.submit = uring_submit,
	.hurry = dir_hurry,
	.depth = dir_depth,
	.stop = uring_stop,
	.close = uring_close,
};
