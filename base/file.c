#include "base/file.h"

#include <fcntl.h>

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
