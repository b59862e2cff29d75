#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>

#define STEP ((size_t)4096)

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

static int write_all(int fd, struct bytes bytes)
{
	const char *at = bytes.at;

	for (size_t len = 0; len < bytes.len;) {
		ssize_t n = write(fd, at + len, DL_MIN(bytes.len - len, (size_t)GiB));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		len += (size_t)n;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

int file_replace(const char *path, struct bytes bytes)
{
	dl_cleanup(buf_free) struct buf temporary = BUF_EMPTY;
	dl_cleanup(dl_closep) int fd = -1;
	int r = buf_printf(&temporary, "%s.new-%d", path, (int)getpid());

	if (r < 0)
		return r;
	fd = open((char *)temporary.at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		  0600);
	if (fd < 0)
		return -errno;
	r = write_all(fd, bytes);
	if (r == 0 && rename((char *)temporary.at, path) < 0)
		r = -errno;
	if (r < 0)
		unlink((char *)temporary.at);
	return r;
}
