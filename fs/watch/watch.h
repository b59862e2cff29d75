/* A fact for each open, from the best of what the machine allows.
 *
 *     fanotify  a mark on each folder, or on the file system: with pid; CAP_SYS_ADMIN
 *     inotify   a watch on each folder: every open, no pid
 *     open      the OPEN request itself: pid, one round trip an open
 *     off       nothing but late reads
 *
 * A watcher never blocks a reader: its queue overflows instead, which is a fact as well.
 * Opens by dlfs itself (its pid and its threads) are left out.
 * Thread-safety: every call on any thread, but start, stop and free.
 */
#pragma once
#include "fs/serve.h"

struct watch;
struct watch_ops {
	const char *name;
	int (*start)(struct watch *w); /* -EPERM, -ENOSPC, …: try the next kind */
	void (*folder)(struct watch *w, node_id folder);       /* exists; optional */
	void (*own_open)(struct watch *w, sample_id id);       /* optional */
	void (*stop)(struct watch *w); /* no thread of it is left; the rest still works */
	void (*free)(struct watch *w); /* optional */
};
struct watch {
	const struct watch_ops *ops;
	struct serve *serve;
	void *own;
};
extern const struct watch_ops watch_fanotify, watch_inotify, watch_open, watch_off;

/* Call once the mount answers (the mark goes through it).  Picks by options->config->observe.
 * An explicit kind that is not allowed: its error, and shared->error says the cure. */
int watch_start(struct serve *s, struct watch **ret) DL_MUST_CHECK;
/* Stop while requests are still answered, since a watcher may ask the mount; free once no
 * request thread is left that may still call it.  NULL is fine. */
void watch_stop(struct watch *w);
void watch_free(struct watch *w);
void watch_folder(struct watch *w, node_id folder);
/* dlfs is about to open this file itself, through the mount: no reader.  Waits, for moments, while
 * many such opens have not been reported yet. */
void watch_own_open(struct watch *w, sample_id id);
/* An open of a node, by pid (0: unknown). */
void watch_opened(struct serve *s, node_id node, uint32_t pid);
/* The same for many: told when there are enough, and by watch_tell(). */
struct watch_batch {
	struct serve *serve;
	size_t count;
	struct open_seen opens[256];
};
void watch_add(struct watch_batch *b, node_id node, uint32_t pid);
void watch_tell(struct watch_batch *b);
