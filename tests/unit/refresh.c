#include <criterion/criterion.h>
#include <semaphore.h>

#include "fs/control.h"
#include "fs/errand.h"
#include "fs/refresh.h"

#define CHECKS 100                     /* more than errands may wait */

static sem_t go;

static void wait_for_go(struct errand *e, struct serve *s)
{
	(void)e;
	(void)s;
	sem_wait(&go);
}

static void do_nothing(struct errand *e, struct serve *s)
{
	(void)e;
	(void)s;
}

static int woken;

static void wake(struct refresh_waiter *w, int changed)
{
	(void)w;
	(void)changed;
	woken++;
}

/* While the source is slow, checks that are due do not keep out what users tell; and who was
 * interrupted before he began to wait does not wait. */
Test(refresh, checks_do_not_pile_up)
{
	struct serve s = { .stopping = true };        /* what runs at last does nothing */
	struct refresh_waiter waiter = { .wake = wake }, early = { .wake = wake };
	struct errand busy = { .run = wait_for_go }, told = { .run = do_nothing };
	int changed;

	cr_assert_eq(sem_init(&go, 0, 0), 0);
	cr_assert_eq(errands_start(&s, &s.errands), 0);
	cr_assert_eq(control_start(&s.control), 0);
	cr_assert_eq(errands_post(s.errands, &busy), 0);
	for (int i = 0; i < CHECKS; i++)
		cr_assert_eq(refresh_check(&s), 0, "check %d", i);
	cr_assert_eq(errands_post(s.errands, &told), 0);
	cr_assert_eq(refresh_await(&s, &waiter, &changed), 0, "none was begun");
	cr_assert_eq(refresh_stop_waiting(&s, &early), false);
	cr_assert_eq(refresh_await(&s, &early, &changed), -EINTR, "it waits for ever");
	sem_post(&go);
	errands_stop(s.errands);
	cr_assert_eq(woken, 1);
	cr_assert_eq(refresh_await(&s, &waiter, &changed), 1);
	control_stop(s.control);
	errands_free(s.errands);
}
