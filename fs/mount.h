/* Getting and leaving a mount: /dev/fuse, fusermount3 for ordinary users (both by libfuse). */
#pragma once
#include "config/config.h"

struct mount;
/* Mount at c->mountpoint (absolute).  Failure: a sentence with the cure in reterr. */
int mount_open(const struct config *c, struct mount **ret, char reterr[256]) DL_MUST_CHECK;
int mount_fd(const struct mount *m);
void mount_close(struct mount *m);     /* unmounts (lazily if busy); NULL is fine */
