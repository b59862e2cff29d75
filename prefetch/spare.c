#include "prefetch/spare.h"

#include <time.h>

#include "base/clock.h"

#define LOOK (60 * CLOCK_MS)            /* clock_idle() counts in 10 ms */
#define WORK (500 * CLOCK_MS)           /* between two looks */
#define WORK_LEAST (10 * CLOCK_MS)      /* as if it had been so much */
#define REST_MOST (10 * CLOCK_S)
#define REST_PER_WORK 50u
#define PUSHED_SHARE 8u                 /* of a piece, and ... */
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

/* What the last piece kept from somebody who wanted the processor as well; 0: nothing of note. */
static uint64_t taken(const struct spare *s, uint64_t had)
{
	uint64_t took = clock_now() - s->piece_at, lost = took - DL_MIN(had, took);

	if (s->piece_at == 0 || lost < DL_MAX(took / PUSHED_SHARE, PUSHED_LEAST))
		return 0;
	return DL_MIN(lost, had);
}

static void begin_piece(struct spare *s)
{
	s->piece_at = clock_now();
	s->piece_cpu = clock_cpu();
}

static void rest(struct spare *s, uint64_t work, const _Atomic bool *stop)
{
	sleep_for(DL_MIN(work * REST_PER_WORK, REST_MOST), stop);
	s->rest_at = 0;                /* look after the next piece */
	s->began_cpu = clock_cpu();
}

static void look_or_rest(struct spare *s, uint64_t work, const _Atomic bool *stop)
{
	if (!is_spare(stop)) {
		rest(s, DL_MAX(work, WORK_LEAST), stop);
		return;
	}
	s->rest_at = clock_now() + WORK;
	s->began_cpu = clock_cpu();
}

void spare_rest(struct spare *s, const _Atomic bool *stop)
{
	uint64_t cpu = clock_cpu(), other = taken(s, cpu - s->piece_cpu);

	if (other > 0)
		rest(s, other, stop);
	else if (clock_now() >= s->rest_at)
		look_or_rest(s, cpu - s->began_cpu, stop);
	begin_piece(s);
}
