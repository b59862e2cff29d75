/* Handlers of extended attributes; what they mean is in control.h.
 * Thread-safety: on any request thread.
 */
#pragma once
#include "fs/fuse.h"

/* What the kernel is told of this error (0: of none): never ENOSYS, after which it would answer all
 * such calls itself, for as long as the mount lives; nor EOPNOTSUPP, which reads as if it had. */
int xattr_error(int error) DL_MUST_CHECK;
void xattr_get(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size);
void xattr_list(fuse_req_t req, fuse_ino_t ino, size_t size);
void xattr_set(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size,
	       int flags);
void xattr_remove(fuse_req_t req, fuse_ino_t ino, const char *name);
