#include "base/clock.h"

#include <time.h>

uint64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * CLOCK_S + (uint64_t)now.tv_nsec;
}
