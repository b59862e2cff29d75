/* Time, in nanoseconds.  Parts that decide take it as an argument; only the edges ask.
 * Thread-safety: every call.
 */
#pragma once
#include "base/dl.h"

#define CLOCK_MS UINT64_C(1000000)
#define CLOCK_S  UINT64_C(1000000000)

uint64_t clock_now(void);              /* monotonic, since boot */
uint64_t clock_cpu(void);              /* processor time of this thread */
int64_t clock_wall(void);              /* since 1970, as the times of files; may be set back */
/* That all processors together had nothing to do since the machine started, in steps of 10 ms;
 * waiting for a disk is in it.  0: it cannot be seen. */
uint64_t clock_idle(void);
