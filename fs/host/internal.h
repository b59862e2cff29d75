/* The same questions with the files of another machine: `root` stands before every path.
 * Thread-safety: as in host.h.
 */
#pragma once
#include "fs/host/host.h"

uint64_t memory_default(const char *root, char what[64]);
uint64_t memory_cgroup_limit(const char *root);
uint64_t memory_fits(const char *root, uint64_t waiting, uint64_t pushed);

/* Make a call that a server may never answer, in a child.  What it returns (0 or -errno), or
 * -ETIMEDOUT: it was given up after so many milliseconds, and killed with all that it had started.
 * One that cannot be killed yet is nobody's to reap: it is there until this process ends. */
int child_call(int (*call)(const void *context), const void *context, int ms) DL_MUST_CHECK;

/* The last line of a mountinfo text whose mount point is `path`, or, with `prefix`, the one
 * that covers it.  1, 0: none, -ENOMEM. */
int mounts_find(char *mountinfo, const char *path, bool prefix, struct host_mount *ret)
	DL_MUST_CHECK;
/* Where a path lies within its file system, whatever bind mounts lead there. */
int path_in_filesystem(const struct host_mount *m, const char *path, struct buf *ret) DL_MUST_CHECK;
