/* One fetch as a step machine, see dir.h: which call is next, and what its result means. */
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/file.h"
#include "prefetch/source/dir.h"

#define AGAIN_MAX 1000                 /* a call that only says EAGAIN is given up then */

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
static int prepare_all(struct dir_job *j)
{
	const struct manifest *m = j->dir->manifest;
	node_id node = node_of_sample(j->fetch->id);
	int r;

	j->path.len = 0;
	r = manifest_path(m, node, &j->path);
	if (r == 0)
		r = manifest_attr(m, node, &j->version);
	if (r < 0)
		return r;
	j->remote = j->version.dev != j->dir->dev;
	j->offset = j->fetch->offset;
	j->len = j->fetch->len;
	prepare_open(j, (char *)j->path.at);
	return 0;
}

void dir_prepare(struct dir_job *j)
{
	j->again = 0;
	j->checked = j->cached = false;
	j->result = prepare_all(j);
	j->want = j->result < 0 ? DIR_END : DIR_OPEN;
}

static enum dir_want end_with(struct dir_job *j, int result)
{
	j->result = result;
	return j->want = DIR_END;
}

/* Whether pages of the range are cached already.  Where that cannot be seen, one byte read without
 * waiting tells enough.  When in doubt: yes, so that nobody else's pages are dropped. */
static bool dir_cached(const struct dir_job *j)
{
	int64_t pages = file_cached(j->fd, j->offset, j->len);
	char byte;
	struct iovec one = { &byte, 1 };

	if (pages >= 0)
		return pages > 0;
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
	j->since = clock_now();
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

int dir_let_go(struct dir_job *j)
{
	int fd = j->fd;

	leave_folder(j);
	if (fd >= 0 && j->checked && !j->cached)
		posix_fadvise(fd, (off_t)j->offset, (off_t)j->len, POSIX_FADV_DONTNEED);
	j->fd = -1;
	return fd;
}
