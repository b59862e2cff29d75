/* What this machine allows and what is mounted on it.  Pure questions; no state. */
#pragma once
#include "base/buf.h"

/* Bytes that dlfs may hold by default: half of what is free of the tightest memory cgroup
 * (v1 or v2, all levels) or of the machine.  `what` (64 bytes) names which one it was. */
uint64_t host_memory(char what[64]);
/* The tightest cgroup limit; UINT64_MAX: none. */
uint64_t host_cgroup_limit(void);

struct host_mount { char *mountpoint, *type, *source; bool dead; };
/* The topmost mount at exactly this path: 1 and *ret (free with host_mount_fini), 0: none. */
int host_mounted(const char *path, struct host_mount *ret) DL_MUST_CHECK;
void host_mount_fini(struct host_mount *m);

/* Is `mountpoint` a good place for showing `source`?  Detaches a dead dlfs mount that lies
 * there.  0, or -errno and a sentence with the cure. */
int host_check_mountpoint(const char *source, const char *mountpoint, bool nonempty,
			  char reterr[256]) DL_MUST_CHECK;

/* $XDG_STATE_HOME/dlfs, ~/.local/state/dlfs, root: /var/lib/dlfs; made if it is not there.
 * The file for a source: hash of its real path. */
int host_state_file(const char *source, struct buf *ret) DL_MUST_CHECK;
