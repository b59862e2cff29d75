#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "prefetch/find/spare.h"

#define PATIENCE 60                    /* seconds */
#define PIECE (10 * CLOCK_MS)
#define RESTED (200 * CLOCK_MS)
#define OTHERS 64                      /* processors at most */
#define TRIES 10

static _Atomic bool stop;

static uint64_t thread_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * CLOCK_S + (uint64_t)t.tv_nsec;
}

static void work(uint64_t piece)
{
	for (uint64_t end = thread_time() + piece; thread_time() < end;)
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

/* Both begin when nothing was done yet, and the first piece is work as any other. */
Test(spare, rests_before_its_first_piece_while_no_processor_is_idle, .timeout = PATIENCE)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t others[OTHERS];
	uint64_t rested = 0;

	if (processors < 1 || processors > OTHERS)
		cr_skip_test("%ld processors", processors);
	for (long i = 0; i < processors; i++)
		cr_assert_eq(pthread_create(&others[i], NULL, keep_busy, NULL), 0);
	/* A thread may be late to begin, or another machine may have the processors. */
	for (unsigned tries = 0; tries < TRIES && rested < RESTED; tries++) {
		struct spare s = { 0 };
		uint64_t before = clock_now(), idle = clock_idle();

		spare_rest(&s, &stop);
		rested = clock_now() - before;
		if (clock_idle() > idle + PIECE)
			rested = RESTED;       /* it was not so busy after all */
	}
	stop = true;
	for (long i = 0; i < processors; i++)
		pthread_join(others[i], NULL);
	cr_assert_geq(rested, RESTED);
}

static long sleeps(void)
{
	struct rusage u;

	cr_assert_eq(getrusage(RUSAGE_THREAD, &u), 0);
	return u.ru_nvcsw;
}

/* The processor was idle when it was looked at last; a training step begins right after.  Most of
 * the pieces that are used are so short that the other has had next to nothing to wait for: it is
 * left alone for as long all the same. */
static void expect_rest(uint64_t piece)
{
	struct spare s = {
		.rest_at = UINT64_MAX, .seen_at = clock_now(), .seen_cpu = thread_time(),
	};
	uint64_t rested = 0, worked = thread_time();
	pthread_t other;
	long slept;

	stop = false;
	cr_assert_eq(pthread_create(&other, NULL, keep_busy, NULL), 0);
	for (slept = sleeps(); sleeps() == slept;) {
		uint64_t before;

		cr_assert_lt(thread_time() - worked, 2 * CLOCK_S, "two seconds beside another");
		work(piece);
		before = clock_now();
		spare_rest(&s, &stop);
		rested = clock_now() - before;
	}
	cr_assert_geq(rested, RESTED);
	stop = true;
	pthread_join(other, NULL);
}

Test(spare, rests_as_soon_as_another_wants_the_processor, .timeout = PATIENCE)
{
	stay_on_one_processor();               /* the other thread, too */
	expect_rest(PIECE);
	expect_rest(PIECE / 20);
}
