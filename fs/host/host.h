/* What this machine allows and what is mounted on it.  Questions, but for host_unmount(), a dead
 * mount that host_check_mountpoint() detaches, and the folder that host_state_file() makes.
 *
 * Nothing here but host_check_mountpoint() asks a mounted file system anything from the calling
 * process: a server that hangs must not make the command hang that is to end it.
 *
 * Thread-safety: every call on any thread.
 */
#pragma once
#include "base/buf.h"
#include "base/refuse.h"

/* Bytes that dlfs may hold by default: half of what is free, less 16 MiB for dlfs
 * itself, of the tightest memory cgroup (v1 or v2, all levels) or of the machine.
 * `what` (64 bytes) names which one it was. */
uint64_t host_memory(char what[64]);
/* How much of the kernel's memory we may hold now so that nobody's allocation fails, if `waiting`
 * bytes of what we hold are memory of this process, and about `pushed` are in the page cache: of
 * the tightest cgroup (limits may have changed since the start) or of the machine, of which a 16th
 * (at most 1 GiB) stays free.  UINT64_MAX: it cannot be seen.  Reads some small files of the
 * kernel. */
uint64_t host_memory_fits(uint64_t waiting, uint64_t pushed);
/* The tightest cgroup limit; UINT64_MAX: none. */
uint64_t host_cgroup_limit(void);

struct host_mount {
	char *mountpoint, *type, *source;
	char *root;                    /* the part of the file system that is shown */
	uint32_t major, minor;         /* st_dev; a FUSE connection has the minor for its name */
	bool shared;                   /* other mount namespaces see what is mounted below it */
	bool dead;                     /* FUSE, and nobody answers any more */
};
/* The topmost mount at exactly this path: 1 and *ret (free with host_mount_fini), 0: none; -errno.
 * Waits up to 3 s for a FUSE server. */
int host_mounted(const char *path, struct host_mount *ret) DL_MUST_CHECK;
/* The mount that an absolute path without symlinks lies in; `dead` is not looked at. */
int host_mount_of(const char *path, struct host_mount *ret) DL_MUST_CHECK;
void host_mount_fini(struct host_mount *m);
bool host_mount_is_dlfs(const struct host_mount *m);

/* Absolute and without symlinks, also where the last folder cannot be asked because its
 * server is gone.  *ret is the caller's to free.  -ENOENT, -ENOTDIR, -EACCES, … */
int host_resolve(const char *path, char **ret) DL_MUST_CHECK;
/* The same of what need not be there yet; what is above it must (-ENOENT). */
int host_resolve_new(const char *path, char **ret) DL_MUST_CHECK;

/* Take a mount away, as root or by fusermount3.  -EBUSY: it is in use (never if `lazily`);
 * -EPERM, -EINVAL: not ours, not mounted; -ENOENT: there is no fusermount3; -ETIMEDOUT: a server
 * that hangs keeps the kernel from it (10 s), until its connection is ended. */
int host_unmount(const char *mountpoint, bool lazily) DL_MUST_CHECK;

/* Is `mountpoint` a good place for showing `source`?  Both as host_resolve() gives them.
 * Detaches a dead dlfs mount that lies there.  0, or -errno and a sentence with the cure.
 *
 * Others who check the same place wait until *ret_lock is closed (the folder below the mount, with
 * an flock; -1 where it cannot be locked), but no longer than a start may take. */
int host_check_mountpoint(const char *source, const char *mountpoint, bool nonempty,
			  int *ret_lock, char reterr[REFUSE_MAX]) DL_MUST_CHECK;

/* $XDG_STATE_HOME/dlfs, ~/.local/state/dlfs, root: /var/lib/dlfs; made if it is not there.
 * The file of a kind for a source: hash of its real path, and the kind for an extension.
 * -ENOENT: no home. */
int host_state_file(const char *source, const char *kind, struct buf *ret) DL_MUST_CHECK;

/* Whether files can be kept in that folder; -errno.  *ret is its name, or that of one above it
 * which could not be made; empty: no home. */
int host_state_check(struct buf *ret) DL_MUST_CHECK;

/* Whether a program can be found and run: in PATH, or where libfuse looks. */
bool host_has_program(const char *name);
/* /etc/fuse.conf lets ordinary users say allow_other. */
bool host_user_allow_other(void);
