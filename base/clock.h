/* Time, in nanoseconds.  Parts that decide take it as an argument; only the edges ask. */
#pragma once
#include "base/dl.h"

#define CLOCK_MS UINT64_C(1000000)
#define CLOCK_S  UINT64_C(1000000000)

uint64_t clock_now(void);              /* monotonic, since boot */
uint64_t clock_cpu(void);              /* processor time of this thread */
