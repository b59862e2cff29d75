#include <criterion/criterion.h>
#include <signal.h>

#include "base/clock.h"
#include "base/lock.h"

static struct dl_lock lock;
static pthread_cond_t changed;
static bool flag;

static void set_up(void)
{
	dl_lock_init(&lock);
	dl_cond_init(&changed);
}

static void tear_down(void)
{
	pthread_cond_destroy(&changed);
	dl_lock_fini(&lock);
}

TestSuite(lock, .init = set_up);

static void *ask_whether_mine(void *ret)
{
	*(bool *)ret = dl_lock_mine(&lock);
	return NULL;
}

Test(lock, knows_its_owner, .fini = tear_down)
{
	pthread_t other;
	bool others = true;

	cr_assert(!dl_lock_mine(&lock));
	{
		DL_HOLD(&lock);
		cr_assert(dl_lock_mine(&lock));
		cr_assert_eq(pthread_create(&other, NULL, ask_whether_mine, &others), 0);
		cr_assert_eq(pthread_join(other, NULL), 0);
		cr_assert(!others);
	}
	cr_assert(!dl_lock_mine(&lock), "the block's end drops it");
}

static void *set_flag(void *unused)
{
	DL_HOLD(&lock);
	flag = true;
	pthread_cond_signal(&changed);
	return unused;
}

Test(lock, is_ours_again_after_a_wait, .fini = tear_down)
{
	pthread_t other;

	dl_lock_take(&lock);
	cr_assert_eq(pthread_create(&other, NULL, set_flag, NULL), 0);
	while (!flag)
		dl_cond_wait(&changed, &lock);
	cr_assert(dl_lock_mine(&lock));
	dl_lock_drop(&lock);
	cr_assert_eq(pthread_join(other, NULL), 0);
}

Test(lock, says_when_the_deadline_has_passed, .fini = tear_down)
{
	uint64_t deadline = clock_now() + 5 * CLOCK_MS;

	dl_lock_take(&lock);
	while (dl_cond_wait_until(&changed, &lock, deadline))
		;                              /* woken for no reason: allowed, not the deadline */
	cr_assert_geq(clock_now(), deadline);
	cr_assert(dl_lock_mine(&lock));
	cr_assert(!dl_cond_wait_until(&changed, &lock, 0));
	dl_lock_drop(&lock);
}

Test(lock, waits_for_ever_until_it_is_woken, .fini = tear_down)
{
	pthread_t other;

	dl_lock_take(&lock);
	cr_assert_eq(pthread_create(&other, NULL, set_flag, NULL), 0);
	while (!flag)
		cr_assert(dl_cond_wait_until(&changed, &lock, UINT64_MAX));
	dl_lock_drop(&lock);
	cr_assert_eq(pthread_join(other, NULL), 0);
}

Test(lock, refuses_to_be_taken_twice, .signal = SIGABRT)
{
	dl_lock_take(&lock);
	dl_lock_take(&lock);
}

Test(lock, refuses_to_be_dropped_when_free, .signal = SIGABRT)
{
	dl_lock_drop(&lock);
}

Test(lock, refuses_a_wait_without_it, .signal = SIGABRT)
{
	dl_cond_wait(&changed, &lock);
}

static void *drop_it(void *unused)
{
	dl_lock_drop(&lock);
	return unused;
}

Test(lock, refuses_to_be_dropped_by_another, .signal = SIGABRT)
{
	pthread_t other;

	dl_lock_take(&lock);
	if (pthread_create(&other, NULL, drop_it, NULL) == 0)
		pthread_join(other, NULL);
}
