#include "prefetch/find/spare.h"

#include <time.h>

#include "base/clock.h"

#define LOOK (60 * CLOCK_MS)            /* clock_idle() counts in 10 ms */
#define WORK (500 * CLOCK_MS)           /* between two looks */
#define WORK_LEAST (4 * CLOCK_MS)       /* after a rest; and a rest is as if it had been so much */
#define REST_MOST (10 * CLOCK_S)
#define REST_PER_WORK 50u
#define WINDOW (20 * CLOCK_MS)          /* of pieces that are looked at together */
#define PUSHED_SHARE 8u                 /* of them, and ... */
#define PUSHED_LEAST (2 * CLOCK_MS)     /* ... so much: an interrupt is nobody who waits */

static void sleep_for(uint64_t ns, const _Atomic bool *stop)
{
	for (uint64_t end = clock_now() + ns; !*stop && clock_now() < end;)
		nanosleep(&(struct timespec){ .tv_nsec = (long)DL_MIN(ns, LOOK) }, NULL);
}

/* Half a processor, while we want none: another's work has pauses. */
static bool is_spare(const _Atomic bool *stop)
{
	uint64_t from = clock_now(), idle = clock_idle(), later;

	sleep_for(LOOK, stop);
	later = clock_idle();           /* waiting for a disk may be taken back */
	return later > idle && later - idle >= (clock_now() - from) / 2;
}

/* What the last pieces kept from somebody who wanted the processor as well; 0: nothing of note.
 * After a rest he may still be there, and it would never come to anything. */
static uint64_t taken(const struct spare *s, uint64_t now, uint64_t cpu)
{
	uint64_t took = now - s->seen_at, had = cpu - s->seen_cpu, lost = took - DL_MIN(had, took);

	if (s->rest_at == 0 || lost < DL_MAX(took / PUSHED_SHARE, PUSHED_LEAST))
		return 0;
	return DL_MIN(lost, had);
}

/* Who has only begun goes on: the little that was kept from him so far does not say how long. */
static void rest(struct spare *s, uint64_t work, const _Atomic bool *stop)
{
	work = DL_MAX(work, WORK_LEAST);
	sleep_for(DL_MIN(work * REST_PER_WORK, REST_MOST), stop);
	s->rest_at = 0;                /* look after some pieces */
	s->began_cpu = clock_cpu();
}

static void look_or_rest(struct spare *s, uint64_t work, const _Atomic bool *stop)
{
	if (!is_spare(stop)) {
		rest(s, work, stop);
		return;
	}
	s->rest_at = clock_now() + WORK;
	s->began_cpu = clock_cpu();
}

void spare_rest(struct spare *s, const _Atomic bool *stop)
{
	uint64_t now = clock_now(), cpu = clock_cpu(), work = cpu - s->began_cpu;
	uint64_t other = taken(s, now, cpu);

	if (other > 0)
		rest(s, other, stop);
	else if (s->seen_at == 0 || (now >= s->rest_at && work >= WORK_LEAST))
		look_or_rest(s, work, stop);
	else if (now < s->seen_at + WINDOW)
		return;
	s->seen_at = clock_now();
	s->seen_cpu = clock_cpu();
}
