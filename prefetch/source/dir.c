#include "prefetch/source/dir.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/vfs.h>

#include "base/clock.h"
#include "prefetch/source/layer.h"

#define STOP_NS (5 * CLOCK_S)
#define HANGS_NS (5 * CLOCK_S)

/* Told by the type of the root; of what is mounted below it nothing is known. */
static bool is_remote(int root)
{
	static const uint32_t types[] = {
		NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, CIFS_SUPER_MAGIC, SMB2_SUPER_MAGIC,
		CEPH_SUPER_MAGIC, V9FS_MAGIC, AFS_FS_MAGIC, CODA_SUPER_MAGIC, FUSE_SUPER_MAGIC,
		0x0bd00bd0 /* Lustre */, 0x19830326 /* BeeGFS */, 0x47504653 /* GPFS */,
	};
	struct statfs fs;

	if (fstatfs(root, &fs) < 0)
		return true;
	for (size_t i = 0; i < DL_COUNT(types); i++)
		if ((uint32_t)fs.f_type == types[i])
			return true;
	return false;
}

static int set_up(struct dir *d, unsigned width)
{
	struct attr root;
	int r = manifest_attr(d->manifest, NODE_ROOT, &root);

	if (r < 0)
		return r;
	d->jobs = calloc(DIR_JOBS, sizeof(*d->jobs));
	d->threads = calloc(DIR_JOBS, sizeof(*d->threads));
	if (!d->jobs || !d->threads)
		return -ENOMEM;
	d->root = fcntl(manifest_root_fd(d->manifest), F_DUPFD_CLOEXEC, 0);
	if (d->root < 0)
		return -errno;
	if (!is_remote(d->root))
		d->dev = root.dev;
	for (unsigned i = 0; i < DIR_JOBS; i++)
		d->jobs[i] = (struct dir_job){ .fd = -1, .folder = -1, .dir = d };
	d->width = d->depth = width;
	return 0;
}

int dir_new(const struct source *s, unsigned width, struct dir **ret)
{
	struct dir *d;
	int r;

	if (s->args)
		return -EINVAL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->manifest = s->manifest;
	d->root = -1;
	d->no_atime = true;
	dl_lock_init(&d->lock);
	dl_cond_init(&d->posted);
	dl_cond_init(&d->quiet);
	r = set_up(d, width);
	if (r < 0) {
		dir_free(d);
		return r;
	}
	*ret = d;
	return 0;
}

void dir_free(struct dir *d)
{
	queue_fini(&d->queue);
	pthread_cond_destroy(&d->posted);
	pthread_cond_destroy(&d->quiet);
	dl_lock_fini(&d->lock);
	for (unsigned i = 0; i < DIR_JOBS; i++)
		buf_free(&d->jobs[i].path);
	free(d->jobs);
	free(d->threads);
	dl_closep(&d->root);
	free(d);
}

unsigned dir_depth(const struct source *s)
{
	return dl_container_of(s, struct dir_source, source)->dir->width;
}

void dir_hurry(struct source *s, sample_id id, uint64_t offset)
{
	struct dir *d = dl_container_of(s, struct dir_source, source)->dir;

	DL_HOLD(&d->lock);
	queue_hurry(&d->queue, id, offset, clock_now());
}

int dir_queue(struct dir *d, struct fetch *f)
{
	int r;

	DL_HOLD(&d->lock);
	if (d->stopping)
		return -ESHUTDOWN;
	r = queue_push(&d->queue, f);
	if (r < 0)
		return r;
	pthread_cond_signal(&d->posted);
	r = d->idle;
	d->idle = false;
	return r;
}

int dir_thread(struct dir *d, void *(*run)(void *))
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&d->threads[d->thread_count], NULL, run, d);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r == 0)
		d->thread_count++;
	return -r;
}

/* How many come on, and when the first of them may hang. */
static unsigned count_busy(const struct dir *d, uint64_t now, uint64_t *ret_hangs_at)
{
	unsigned busy = 0;

	*ret_hangs_at = UINT64_MAX;
	for (unsigned i = 0; i < DIR_JOBS; i++) {
		const struct dir_job *j = &d->jobs[i];
		uint64_t hangs_at = j->since + HANGS_NS;

		if (!j->running || hangs_at <= now)
			continue;
		*ret_hangs_at = DL_MIN(*ret_hangs_at, hangs_at);
		busy++;
	}
	return busy;
}

static bool may_run(struct dir *d, uint64_t now)
{
	d->look_at = UINT64_MAX;
	return d->running < d->depth ||
	       (d->running < DIR_JOBS && count_busy(d, now, &d->look_at) < d->depth);
}

struct dir_job *dir_take(struct dir *d)
{
	struct dir_job *j = d->jobs;
	uint64_t now = clock_now();

	dl_assert_held(&d->lock);
	d->idle = may_run(d, now);
	if (d->queue.count == 0 || !d->idle || d->stopping)
		return NULL;
	while (j->running)
		j++;
	j->fetch = queue_pop(&d->queue, now);
	j->since = now;
	j->running = true;
	d->running++;
	dir_prepare(j);
	return j;
}

/* --- Ending --------------------------------------------------------------------------- */

/* No descriptor is left for so many at once.  As long as others come on they give theirs back. */
static bool put_back(struct dir *d, struct dir_job *j)
{
	uint64_t hangs_at;
	unsigned busy;

	if ((j->result != -EMFILE && j->result != -ENFILE) || d->stopping)
		return false;
	busy = count_busy(d, clock_now(), &hangs_at);
	if (busy < 2 || queue_return(&d->queue, j->fetch) < 0)
		return false;
	d->depth = DL_MIN(d->depth, busy - 1);
	return true;
}

/* With the lock: the fetch to end; NULL: none, since it was given up or put back. */
static struct fetch *release(struct dir *d, struct dir_job *j)
{
	struct fetch *f = j->fetch;

	if (f && put_back(d, j))
		f = NULL;
	j->fetch = NULL;
	j->running = false;
	d->running--;
	if (f)
		d->delivering++;
	pthread_cond_signal(&d->posted);
	pthread_cond_broadcast(&d->quiet);
	return f;
}

static void delivered(struct dir *d)
{
	DL_HOLD(&d->lock);
	d->delivering--;
	pthread_cond_broadcast(&d->quiet);
}

void dir_finish(struct dir_job *j)
{
	struct dir *d = j->dir;
	struct buf bytes = buf_take(&j->bytes);
	int result = j->result;
	int fd = dir_let_go(j);
	struct fetch *f;

	if (fd >= 0)
		close(fd);
	dl_lock_take(&d->lock);
	f = release(d, j);
	dl_lock_drop(&d->lock);
	if (!f) {
		buf_free(&bytes);
		return;
	}
	f->bytes = bytes;
	layer_done(f, result);
	delivered(d);
}

static void end_waiting(struct dir *d)
{
	for (;;) {
		struct fetch *f;

		dl_lock_take(&d->lock);
		f = queue_pop(&d->queue, clock_now());
		dl_lock_drop(&d->lock);
		if (!f)
			return;
		layer_done(f, -ESHUTDOWN);
	}
}

static struct fetch *give_up_one(struct dir *d)
{
	DL_HOLD(&d->lock);
	for (unsigned i = 0; i < DIR_JOBS; i++)
		if (d->jobs[i].fetch)
			return DL_TAKE(d->jobs[i].fetch);
	return NULL;
}

static bool wait_quiet(struct dir *d, uint64_t deadline)
{
	DL_HOLD(&d->lock);
	while (d->running > 0 && dl_cond_wait_until(&d->quiet, &d->lock, deadline))
		;
	while (d->delivering > 0)      /* done() never blocks */
		dl_cond_wait(&d->quiet, &d->lock);
	return d->running == 0;
}

bool dir_stop(struct dir *d)
{
	uint64_t deadline = clock_now() + STOP_NS;
	struct fetch *f;

	dl_lock_take(&d->lock);
	d->stopping = true;
	pthread_cond_broadcast(&d->posted);
	dl_lock_drop(&d->lock);
	end_waiting(d);
	if (wait_quiet(d, deadline))
		return true;
	while ((f = give_up_one(d)))
		layer_done(f, -ETIMEDOUT);
	return wait_quiet(d, 0);
}
