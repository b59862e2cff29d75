/* Which processes serve a mount, and which use it; found in /proc, so that a mount whose
 * server hangs is not asked.  Processes of other users are seen by root only.
 * Thread-safety: every call on any thread.
 */
#pragma once
#include <signal.h>
#include "base/dl.h"

struct holder { int pid, fd; };        /* fd: a pidfd, so that the number cannot be reused */
struct holders {
	struct holder *at;
	unsigned count;
};

/* Processes that have an unlinked file of this name open (see fs/mount.h). */
int holders_of_marker(const char *marker, struct holders *ret) DL_MUST_CHECK;
void holders_fini(struct holders *h);
void holders_kill(const struct holders *h, int number);
/* True: all have ended; false: the deadline (clock_now()). */
bool holders_wait(const struct holders *h, uint64_t deadline);
int holders_first(const struct holders *h);            /* pid of one that runs, or 0 */

/* "python3 (pid 12), bash (pid 7)": who has a file or folder of the mount open or mapped, or
 * its working directory there; without `servers`.  False: nobody that can be seen. */
bool holders_name_users(const char *mountpoint, const struct holders *servers, char *text,
			size_t size);
