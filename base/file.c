#include "base/file.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define STEP ((size_t)4096)
#define CACHESTAT 451                  /* the number of the call: not every libc has it */

ssize_t file_fill(int fd, void *at, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = read(fd, (char *)at + len, DL_MIN(size - len, (size_t)GiB));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

int file_read(const char *path, size_t most, struct buf *ret)
{
	dl_cleanup(dl_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	size_t want;
	ssize_t n;

	if (fd < 0)
		return -errno;
	do {
		int r = buf_reserve(&text, STEP);

		if (r < 0)
			return r;
		want = DL_MIN(text.cap - text.len - 1, most - text.len);
		n = file_fill(fd, text.at + text.len, want);
		if (n < 0)
			return (int)n;
		text.len += (size_t)n;
	} while ((size_t)n == want && text.len < most);
	text.at[text.len] = '\0';
	*ret = buf_take(&text);
	return 0;
}

int64_t file_cached(int fd, uint64_t offset, uint64_t len)
{
	struct { uint64_t offset, len; } range = { offset, len };
	struct { uint64_t cached, dirty, writeback, evicted, lately_evicted; } pages;

	return syscall(CACHESTAT, fd, &range, &pages, 0) < 0 ? -errno : (int64_t)pages.cached;
}

static int write_all(int fd, const struct iovec *part)
{
	const char *at = part->iov_base;

	for (size_t len = 0; len < part->iov_len;) {
		ssize_t n = write(fd, at + len, DL_MIN(part->iov_len - len, (size_t)GiB));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		len += (size_t)n;
	}
	return 0;
}

static int write_parts(int fd, const struct iovec *parts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int r = write_all(fd, &parts[i]);

		if (r < 0)
			return r;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/* So that the rename is on the disk as well. */
static int sync_folder_of(const char *path)
{
	dl_cleanup(dl_freep) char *copy = strdup(path);
	dl_cleanup(dl_closep) int fd = -1;

	if (!copy)
		return -ENOMEM;
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

/* Whose lock it is may have given it its name a moment ago. */
static bool is_named(int fd, const char *name)
{
	struct stat is, named;

	return fstat(fd, &is) == 0 && lstat(name, &named) == 0 && is.st_dev == named.st_dev &&
		is.st_ino == named.st_ino;
}

/* NFS and Lustre may have none. */
static bool has_no_locks(int error)
{
	return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP;
}

/* Empty, and nobody else's: what a killed process left there is used again.  -ENOLCK: there are no
 * locks. */
static int open_beside(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), r = 0;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		r = errno == EWOULDBLOCK ? -EBUSY : has_no_locks(errno) ? -ENOLCK : -errno;
	else if (!is_named(fd, name))
		r = -EBUSY;
	else if (ftruncate(fd, 0) < 0)
		r = -errno;
	if (r < 0)
		close(fd);
	return r < 0 ? r : fd;
}

/* Without locks only a name of its own keeps two of them apart: threads, or processes, which may be
 * of two machines. */
static int open_new(const char *path, struct buf *ret_name)
{
	int fd, r = buf_printf(ret_name, "%s.new", path);

	if (r < 0)
		return r;
	fd = open_beside((char *)ret_name->at);
	if (fd != -ENOLCK)
		return fd;
	unlink((char *)ret_name->at);
	r = buf_printf(ret_name, "-XXXXXX");
	if (r < 0)
		return r;
	fd = mkostemp((char *)ret_name->at, O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int file_replace_parts(const char *path, const struct iovec *parts, size_t count)
{
	dl_cleanup(buf_free) struct buf beside = BUF_EMPTY;
	dl_cleanup(dl_closep) int fd = open_new(path, &beside);
	int r;

	if (fd < 0)
		return fd;
	r = write_parts(fd, parts, count);
	if (r == 0 && rename((char *)beside.at, path) < 0)
		r = -errno;
	if (r < 0)
		unlink((char *)beside.at);
	return r < 0 ? r : sync_folder_of(path);
}

int file_replace(const char *path, struct bytes bytes)
{
	struct iovec all = { (void *)(uintptr_t)bytes.at, bytes.len };

	return file_replace_parts(path, &all, 1);
}
