#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "prefetch/spare.h"

#define PATIENCE 60                    /* seconds */
#define PIECE (10 * CLOCK_MS)
#define RESTED (200 * CLOCK_MS)

static _Atomic bool stop;

static uint64_t thread_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * CLOCK_S + (uint64_t)t.tv_nsec;
}

static void work(void)
{
	for (uint64_t end = thread_time() + PIECE; thread_time() < end;)
		;
}

static void *keep_busy(void *arg)
{
	(void)arg;
	while (!stop)
		;
	return NULL;
}

static void stay_on_one_processor(void)
{
	cpu_set_t all, one;

	CPU_ZERO(&one);
	cr_assert_eq(sched_getaffinity(0, sizeof(all), &all), 0);
	for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	cr_assert_eq(sched_setaffinity(0, sizeof(one), &one), 0);
}

/* The processor was idle when it was looked at last; a training step begins right after. */
Test(spare, rests_as_soon_as_another_wants_the_processor, .timeout = PATIENCE)
{
	struct spare s = { .rest_at = UINT64_MAX };
	uint64_t before = 0, rested = 0;
	pthread_t other;

	stay_on_one_processor();               /* the other thread, too */
	cr_assert_eq(pthread_create(&other, NULL, keep_busy, NULL), 0);
	for (unsigned pieces = 0; rested < RESTED; pieces++) {
		cr_assert_lt(pieces, 200, "a second's work beside another");
		work();
		before = clock_now();
		spare_rest(&s, &stop);
		rested = clock_now() - before;
	}
	stop = true;
	pthread_join(other, NULL);
}
