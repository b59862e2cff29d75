#include "base/clock.h"

#include <stdio.h>
#include <time.h>

static uint64_t read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * CLOCK_S + (uint64_t)now.tv_nsec;
}

uint64_t clock_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_cpu(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_wall(void)
{
	return (int64_t)read_clock(CLOCK_REALTIME);
}

uint64_t clock_idle(void)
{
	unsigned long long idle = 0, waiting = 0;
	FILE *f = fopen("/proc/stat", "re");

	if (!f)
		return 0;
	if (fscanf(f, "cpu %*u %*u %*u %llu %llu", &idle, &waiting) != 2)
		idle = waiting = 0;
	fclose(f);
	return (idle + waiting) * (CLOCK_S / (uint64_t)sysconf(_SC_CLK_TCK));
}
