/* Going to the background, without losing an error on the way.
 * Thread-safety: none; before there is a second thread.
 */
#pragma once
#include "base/dl.h"

/* Fork.  In the child: 0, and *ret_ready_fd takes a byte 0 or an error sentence; it has a
 * session of its own, nothing open but that and stdio, and stdio is /dev/null.  In the parent,
 * once the child has said how it went: 1, with reterr empty if all is well.  -errno. */
int daemon_start(int *ret_ready_fd, char reterr[512]) DL_MUST_CHECK;
