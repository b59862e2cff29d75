/* Watching folder by folder: each gets its mark as soon as it is known.  One thread adds marks and
 * takes what they report. */
#pragma once
#include "fs/watch/watch.h"

struct folders;

/* Both on the thread; mark() for the root also on the caller's, before. */
struct folders_ops {
	/* path leads through the mount.  -ENOSPC: there are no more. */
	int (*mark)(void *own, const char *path, node_id folder);
	size_t (*take_all)(void *own); /* what fd has, without waiting; returns how many */
};

/* The root's mark tells at once whether any can be had.  fd is the caller's, until after
 * folders_free(). */
int folders_start(struct watch *w, const struct folders_ops *ops, void *own, int fd,
		  struct folders **ret) DL_MUST_CHECK;
/* Folders are numbered as they are found: the highest number says it all.  Any thread. */
void folders_known(struct folders *f, node_id folder);
void folders_stop(struct folders *f);
void folders_free(struct folders *f);  /* after stop */
