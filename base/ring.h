/* io_uring, as far as dlfs uses it: file calls that are made without waiting for each other.
 *
 * Thread-safety: one thread owns a ring and makes every call; only ring_wake() is for all.
 */
#pragma once
#include <linux/openat2.h>
#include <sys/stat.h>
#include "base/dl.h"

struct ring;

/* calls: how many may be in flight; the owner keeps to it.
 * -EPERM, -ENOSYS, -ENOMEM: io_uring, or a call that we need, cannot be had here. */
int ring_open(unsigned calls, struct ring **ret) DL_MUST_CHECK;
/* Calls in flight are abandoned: the kernel may still write to what they point at. */
void ring_close(struct ring *r);       /* NULL is fine */

/* Start a call; its result arrives with `tag` in a later ring_wait().  What the pointers
 * point at stays until then.  A result is what the system call returns, or -errno. */
/* waits: it may have to ask a server.  The kernel makes an open at once as far as it knows the way,
 * and would wait for the server then and there: so it is given to a thread of its own. */
void ring_openat2(struct ring *r, int folder, const char *path, struct open_how *how, bool waits,
		  void *tag);
/* Closing may have to ask a server as well: a thread of the kernel's does it. */
void ring_shut(struct ring *r, int fd, void *tag);
void ring_fstat(struct ring *r, int fd, struct statx *ret, void *tag);
void ring_read(struct ring *r, int fd, void *at, size_t len, uint64_t offset, void *tag);

struct ring_result {
	void *tag;
	int result;
};
/* Hand over what was started and wait for results, until a wake-up or the deadline
 * (clock_now(); UINT64_MAX: for ever).  Returns how many there are, 0 after a wake-up. */
size_t ring_wait(struct ring *r, struct ring_result *at, size_t max, uint64_t deadline);
void ring_wake(struct ring *r);        /* the running or the next wait returns */
