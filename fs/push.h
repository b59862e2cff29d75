/* The page cache of the mount, driven by the engine: the sink of prefetch/engine.h.
 *
 * push: fuse_lowlevel_notify_store of a whole sample, on a push thread, never beyond its
 * size, never in a request handler, no lock of ours held (libfuse#1153, #341).
 * drop: POSIX_FADV_DONTNEED on the file opened through the mount; notify_inval_inode would
 * also throw away the attributes and cost the next reader a GETATTR.
 *
 * Thread-safety: the sink's calls, and push_forget(), on any thread.
 */
#pragma once
#include "fs/serve.h"

struct push;
int push_start(struct serve *s, unsigned threads, struct push **ret) DL_MUST_CHECK;
/* From its return on the kernel is not called any more; what was asked of it is over.  Pushes that
 * wait, or come later, end with -ESHUTDOWN, drops with 0.  Requests must still be answered: a drop
 * opens a file of the mount.  NULL is fine. */
void push_quieten(struct push *p);
/* Whoever pushes or drops has stopped.  NULL is fine. */
void push_stop(struct push *p);
struct sink *push_sink(struct push *p);
/* Drop what the kernel has of it, and nobody has mapped, as a drop does, but at once; the bytes, as
 * far as the kernel tells (Linux 6.5; since 6.14 who may write to it).  Requests must be answered
 * until it returns. */
uint64_t push_forget(struct push *p, sample_id id);
/* The mount can be opened from now on (for drops). */
void push_mounted(struct push *p);
