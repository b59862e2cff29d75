#include "prefetch/spare.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"

#define LOOK (60 * CLOCK_MS)            /* /proc/stat counts in 10 ms */
#define WORK (500 * CLOCK_MS)           /* between two looks */
#define REST_LEAST (CLOCK_S / 2)
#define REST_MOST (10 * CLOCK_S)
#define REST_PER_WORK 50u
#define PUSHED_SHARE 8u                 /* of a piece, at least ... */
#define PUSHED_LEAST (2 * CLOCK_MS)     /* ... this was waited for: an interrupt is none */

/* Of all processors since the machine started, in ns; 0: it cannot be seen. */
static uint64_t idle_time(void)
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

static void sleep_for(uint64_t ns, const _Atomic bool *stop)
{
	for (uint64_t end = clock_now() + ns; !*stop && clock_now() < end;)
		nanosleep(&(struct timespec){ .tv_nsec = (long)DL_MIN(ns, LOOK) }, NULL);
}

/* Half a processor, while we want none: another's work has pauses. */
static bool is_spare(const _Atomic bool *stop)
{
	uint64_t from = clock_now(), idle = idle_time(), later;

	sleep_for(LOOK, stop);
	later = idle_time();           /* waiting for a disk may be taken back */
	return later > idle && later - idle >= (clock_now() - from) / 2;
}

static uint64_t thread_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * CLOCK_S + (uint64_t)t.tv_nsec;
}

/* Somebody else wanted the processor during the last piece. */
static bool was_pushed_aside(const struct spare *s, uint64_t now)
{
	uint64_t took = now - s->piece_at, had = thread_time() - s->piece_cpu;

	return s->piece_at > 0 && took > had + DL_MAX(took / PUSHED_SHARE, PUSHED_LEAST);
}

static void begin_piece(struct spare *s)
{
	s->piece_at = clock_now();
	s->piece_cpu = thread_time();
}

static void look_or_rest(struct spare *s, uint64_t worked, bool look, const _Atomic bool *stop)
{
	uint64_t rest = DL_MIN(worked * REST_PER_WORK, REST_MOST);

	if (look && is_spare(stop)) {
		s->began = clock_now();
		s->rest_at = s->began + WORK;
		return;
	}
	if (s->began > 0)
		sleep_for(DL_MAX(rest, REST_LEAST), stop);
	s->began = s->rest_at = clock_now();
}

void spare_rest(struct spare *s, const _Atomic bool *stop)
{
	uint64_t now = clock_now();

	if (was_pushed_aside(s, now))
		look_or_rest(s, now - s->piece_at, false, stop);
	else if (now >= s->rest_at)
		look_or_rest(s, now - s->began, true, stop);
	begin_piece(s);
}
