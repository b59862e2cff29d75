#include "prefetch/source/dir.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include "base/clock.h"
#include "prefetch/source/layer.h"

#define STOP_NS (5 * CLOCK_S)
#define AGAIN_MAX 1000                 /* a call that only says EAGAIN is given up then */

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

struct cache_range { uint64_t offset, len; };
struct cache_state { uint64_t cached, dirty, writeback, evicted, recently_evicted; };

/* Told by the type of the root, which can only cost time if other kinds are mounted below. */
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

static int set_up(struct dir *d, unsigned jobs)
{
	d->jobs = calloc(jobs, sizeof(*d->jobs));
	d->threads = calloc(jobs, sizeof(*d->threads));
	if (!d->jobs || !d->threads)
		return -ENOMEM;
	d->root = fcntl(manifest_root_fd(d->manifest), F_DUPFD_CLOEXEC, 0);
	if (d->root < 0)
		return -errno;
	d->remote = is_remote(d->root);
	for (unsigned i = 0; i < jobs; i++)
		d->jobs[i] = (struct dir_job){ .fd = -1, .folder = -1, .dir = d };
	d->jobs_max = d->depth = jobs;
	return 0;
}

int dir_new(const struct source *s, unsigned jobs, struct dir **ret)
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
	r = set_up(d, jobs);
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
	for (unsigned i = 0; i < d->jobs_max; i++)
		buf_free(&d->jobs[i].path);
	free(d->jobs);
	free(d->threads);
	dl_closep(&d->root);
	free(d);
}

unsigned dir_depth(const struct source *s)
{
	return dl_container_of(s, struct dir_source, source)->dir->jobs_max;
}

void dir_hurry(struct source *s, sample_id id, uint64_t offset)
{
	struct dir *d = dl_container_of(s, struct dir_source, source)->dir;

	DL_HOLD(&d->lock);
	queue_hurry(&d->queue, id, offset);
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

/* --- One job -------------------------------------------------------------------------- */

/* The file, or the folder that is as far on the way as one call can go. */
static void prepare_open(struct dir_job *j, char *rest)
{
	bool whole = strnlen(rest, PATH_MAX) < PATH_MAX;
	bool no_atime = atomic_load_explicit(&j->dir->no_atime, memory_order_relaxed);

	j->rest = rest;
	if (!whole)
		*(char *)memrchr(rest, '/', PATH_MAX) = '\0';
	/* O_NONBLOCK: a FIFO that took the file's place must not make us wait for a writer. */
	j->how = (struct open_how){
		.flags = O_NOFOLLOW | O_CLOEXEC | (!whole ? O_PATH | O_DIRECTORY :
			 O_RDONLY | O_NONBLOCK | (no_atime ? O_NOATIME : 0)),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
}

/* The manifest is asked with the lock held: it never blocks, and a stop that gives jobs up
 * can then be sure that none of them touches it afterwards. */
static int prepare(struct dir_job *j)
{
	const struct manifest *m = j->dir->manifest;
	node_id node = node_of_sample(j->fetch->id);
	int r;

	j->path.len = 0;
	r = manifest_path(m, node, &j->path);
	if (r == 0)
		r = buf_append(&j->path, "", 1);
	if (r == 0)
		r = manifest_attr(m, node, &j->version);
	if (r < 0)
		return r;
	j->offset = j->fetch->offset;
	j->len = j->fetch->len;
	prepare_open(j, (char *)j->path.at);
	return 0;
}

struct dir_job *dir_take(struct dir *d)
{
	struct dir_job *j = d->jobs;
	int r;

	dl_assert_held(&d->lock);
	if (d->queue.count == 0 || d->running >= d->depth || d->stopping) {
		d->idle = d->running < d->depth;
		return NULL;
	}
	while (j->running)
		j++;
	j->fetch = queue_pop(&d->queue);
	j->running = true;
	d->running++;
	j->again = 0;
	j->checked = j->cached = false;
	j->result = 0;
	r = prepare(j);
	j->want = r < 0 ? DIR_END : DIR_OPEN;
	j->result = r;
	return j;
}

static enum dir_want end_with(struct dir_job *j, int result)
{
	j->result = result;
	return j->want = DIR_END;
}

/* Whether pages of the range are cached already.  cachestat (Linux 6.5) knows; it is refused
 * for files that we may not write to, and then one byte read without waiting tells enough.
 * When in doubt: yes, so that nobody else's pages are dropped. */
static bool dir_cached(const struct dir_job *j)
{
	struct cache_range range = { j->offset, j->len };
	struct cache_state state = { 0 };
	struct iovec one;
	char byte;

	if (syscall(SYS_cachestat, j->fd, &range, &state, 0) == 0)
		return state.cached > 0;
	one = (struct iovec){ &byte, 1 };
	return preadv2(j->fd, &one, 1, (off_t)j->offset, RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

static int64_t nanoseconds(struct statx_timestamp t)
{
	return t.tv_sec * (int64_t)CLOCK_S + t.tv_nsec;
}

static bool same_version(const struct statx *now, const struct attr *known)
{
	return S_ISREG(now->stx_mode) && now->stx_ino == known->ino &&
	       now->stx_size == known->size && nanoseconds(now->stx_mtime) == known->mtime_ns &&
	       nanoseconds(now->stx_ctime) == known->ctime_ns;
}

/* Something else took the file's place: for the caller that is another version of it. */
static int open_error(int error)
{
	switch (error) {
	case -ELOOP:                   /* a symlink */
	case -EXDEV:                   /* ... or one that leads out */
	case -ENOTDIR:
	case -ENXIO:                   /* a socket */
	case -ENODEV:
		return -ESTALE;
	default:
		return error;
	}
}

static void leave_folder(struct dir_job *j)
{
	dl_closep(&j->folder);
	j->folder = -1;
}

static enum dir_want after_open(struct dir_job *j, int fd)
{
	if (fd == -EPERM && j->how.flags & O_NOATIME) {
		/* Not our file.  The others hardly are. */
		atomic_store_explicit(&j->dir->no_atime, false, memory_order_relaxed);
		j->how.flags &= ~(uint64_t)O_NOATIME;
		return DIR_OPEN;
	}
	if (fd < 0)
		return end_with(j, open_error(fd));
	if (j->how.flags & O_PATH) {
		leave_folder(j);
		j->folder = fd;
		prepare_open(j, j->rest + strlen(j->rest) + 1);
		return DIR_OPEN;
	}
	j->fd = fd;
	return j->want = DIR_STAT;
}

static enum dir_want prepare_read(struct dir_job *j)
{
	if (j->len == 0)
		return end_with(j, 0);
	/* A read of a file that says O_NONBLOCK may end with EAGAIN instead of waiting. */
	if (fcntl(j->fd, F_SETFL, (int)(j->how.flags & O_NOATIME)) < 0)
		return end_with(j, -errno);
	j->cached = dir_cached(j);
	posix_fadvise(j->fd, 0, 0, POSIX_FADV_RANDOM);
	j->bytes.at = malloc(j->len);
	if (!j->bytes.at)
		return end_with(j, -ENOMEM);
	j->bytes.cap = j->len;
	return j->want = DIR_READ;
}

int dir_fstat(struct dir_job *j)
{
	return statx(j->fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &j->now) < 0 ? -errno : 0;
}

static enum dir_want after_stat(struct dir_job *j, int result)
{
	if (result < 0)
		return end_with(j, result);
	if (!same_version(&j->now, &j->version))
		return end_with(j, -ESTALE);
	if (j->checked)
		return end_with(j, 0);
	j->checked = true;
	return prepare_read(j);
}

static enum dir_want after_read(struct dir_job *j, int result)
{
	if (result < 0)
		return end_with(j, result);
	if (result == 0)
		return end_with(j, -ESTALE);           /* cut short since the stat */
	j->bytes.len += (size_t)result;
	return j->want = j->bytes.len < j->len ? DIR_READ : DIR_STAT;
}

enum dir_want dir_step(struct dir_job *j, int result)
{
	if ((result == -EINTR || result == -EAGAIN) && ++j->again < AGAIN_MAX)
		return j->want;
	switch (j->want) {
	case DIR_OPEN:
		return after_open(j, result);
	case DIR_STAT:
		return after_stat(j, result);
	case DIR_READ:
		return after_read(j, result);
	case DIR_END:
		break;
	}
	return DIR_END;
}

/* --- Ending --------------------------------------------------------------------------- */

static void let_go(struct dir_job *j)
{
	leave_folder(j);
	if (j->fd < 0)
		return;
	if (j->checked && !j->cached)
		posix_fadvise(j->fd, (off_t)j->offset, (off_t)j->len, POSIX_FADV_DONTNEED);
	close(j->fd);
	j->fd = -1;
}

/* No descriptor is left for so many at once.  As long as others run they give theirs back. */
static bool put_back(struct dir *d, struct dir_job *j)
{
	if ((j->result != -EMFILE && j->result != -ENFILE) || d->running < 2 || d->stopping ||
	    queue_return(&d->queue, j->fetch) < 0)
		return false;
	d->depth = DL_MIN(d->depth, d->running - 1);
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
	struct fetch *f;

	let_go(j);
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
		f = queue_pop(&d->queue);
		dl_lock_drop(&d->lock);
		if (!f)
			return;
		layer_done(f, -ESHUTDOWN);
	}
}

static struct fetch *give_up_one(struct dir *d)
{
	DL_HOLD(&d->lock);
	for (unsigned i = 0; i < d->jobs_max; i++)
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
