/* Reading files to their end, whatever interrupts it.  Thread-safety: every call on any thread. */
#pragma once
#include "base/buf.h"

/* Read until `size` bytes are there, or no more come.  How many; -errno. */
ssize_t file_fill(int fd, void *at, size_t size) DL_MUST_CHECK;
/* The first `most` bytes of a file, with a NUL after them that is not counted. */
int file_read(const char *path, size_t most, struct buf *ret) DL_MUST_CHECK;
/* Make it a file with these bytes, in one step: by a file beside it that takes its name. */
int file_replace(const char *path, struct bytes bytes) DL_MUST_CHECK;
