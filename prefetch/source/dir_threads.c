/* A folder read by a pool of threads, where io_uring cannot be had. */
#include <fcntl.h>
#include <sys/syscall.h>

#include "prefetch/source/dir.h"
#include "prefetch/source/layer.h"

#define JOBS 16                        /* a thread each, made when it is needed */

static int result_of(long r)
{
	return r < 0 ? -errno : (int)r;
}

static int open_below(struct dir_job *j)
{
	int r = result_of(syscall(SYS_openat2, dir_from(j), j->rest, &j->how, sizeof(j->how)));

	/* Before Linux 5.6.  A link on the way is not noticed then, but what it leads to is
	 * another inode than the manifest's. */
	if (r == -ENOSYS)
		r = result_of(openat(dir_from(j), j->rest, (int)j->how.flags));
	return r;
}

static int make_call(struct dir_job *j)
{
	size_t got = j->bytes.len;

	switch (j->want) {
	case DIR_OPEN:
		return open_below(j);
	case DIR_STAT:
		return dir_fstat(j);
	case DIR_READ:
		return result_of(pread(j->fd, j->bytes.at + got, DL_MIN(j->len - got, GiB),
				       (off_t)(j->offset + got)));
	case DIR_END:
		break;
	}
	return 0;
}

static void *run(void *arg);

/* One waits, to take over from those that hang. */
static void keep_one_waiting(struct dir *d)
{
	int r = 0;

	if (d->running == d->thread_count && d->thread_count < DIR_JOBS)
		r = dir_thread(d, run);
	(void)r;                       /* if there can be no more, these have to do */
}

/* The next job, waiting for it; NULL: the source is being stopped. */
static struct dir_job *wait_job(struct dir *d)
{
	struct dir_job *j = NULL;

	DL_HOLD(&d->lock);
	while (!d->stopping && !(j = dir_take(d)))
		(void)dl_cond_wait_until(&d->posted, &d->lock, d->look_at);
	if (j)
		keep_one_waiting(d);
	return j;
}

static void *run(void *arg)
{
	struct dir *d = arg;
	struct dir_job *j;

	while ((j = wait_job(d))) {
		while (j->want != DIR_END)
			dir_step(j, make_call(j));
		dir_finish(j);
	}
	return NULL;
}

static void threads_stop(struct source *s)
{
	struct dir_source *ds = dl_container_of(s, struct dir_source, source);
	bool quiet = dir_stop(ds->dir);

	for (unsigned i = 0; i < ds->dir->thread_count; i++) {
		if (quiet)
			pthread_join(ds->dir->threads[i], NULL);
		else
			pthread_detach(ds->dir->threads[i]);
	}
	if (!quiet)
		ds->dir = NULL;
}

static void threads_close(struct source *s)
{
	struct dir *d = dl_container_of(s, struct dir_source, source)->dir;

	if (d)
		dir_free(d);
}

static int threads_open(struct source *s)
{
	struct dir_source *ds = dl_container_of(s, struct dir_source, source);
	int r = dir_new(s, JOBS, &ds->dir);

	if (r < 0)
		return r;
	r = dir_thread(ds->dir, run);
	if (r < 0)
		dir_free(ds->dir);
	return r;
}

static int threads_submit(struct source *s, struct fetch *f)
{
	return DL_MIN(dir_queue(dl_container_of(s, struct dir_source, source)->dir, f), 0);
}

const struct source_ops source_threads = {
	.name = "threads",
	.size = sizeof(struct dir_source),
	.open = threads_open,
	.submit = threads_submit,
	.hurry = dir_hurry,
	.depth = dir_depth,
	.stop = threads_stop,
	.close = threads_close,
};
