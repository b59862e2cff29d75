/* Files: read to their end, whatever interrupts it, and replaced in one step.
 * Thread-safety: every call on any thread. */
#pragma once
#include <sys/uio.h>
#include "base/buf.h"

/* Read until `size` bytes are there, or no more come.  How many; -errno. */
ssize_t file_fill(int fd, void *at, size_t size) DL_MUST_CHECK;
/* The first `most` bytes of a file, with a NUL after them that is not counted. */
int file_read(const char *path, size_t most, struct buf *ret) DL_MUST_CHECK;
/* Pages of this part of it (len 0: up to its end) that are in the page cache; -errno: that cannot
 * be seen (Linux 6.5 lets one see it; 6.14 only who may write to the file). */
int64_t file_cached(int fd, uint64_t offset, uint64_t len) DL_MUST_CHECK;
/* Make it a file with these bytes (mode 0600), in one step: whatever happens, there is the old file
 * or the new one, whole.  By a file beside it (path.new), which is on the disk before it takes the
 * name; one that a killed process left is used again.  -EBUSY: somebody else is just at it.  Where
 * the file system has no locks, path.new-XXXXXX (any letters), which is not. */
int file_replace(const char *path, struct bytes bytes) DL_MUST_CHECK;
/* The same of several parts, one after the other. */
int file_replace_parts(const char *path, const struct iovec *parts, size_t count) DL_MUST_CHECK;
