/* Parts of a server that have stopped, while the last requests are still answered: what comes to
 * them is refused, or not done; they are there until they are freed.  (serve.c has the order.) */
#include <criterion/criterion.h>

#include "fs/announce.h"
#include "fs/errand.h"
#include "fs/notify.h"
#include "fs/warm.h"

static struct stats stats;
static struct serve s = { .stats = &stats };

static void never(struct errand *e, struct serve *serve)
{
	(void)e;
	(void)serve;
	cr_assert_fail("it has stopped");
}

Test(stopped, errands_are_refused)
{
	struct errand late = { .run = never };

	cr_assert_eq(errands_start(&s, &s.errands), 0);
	errands_stop(s.errands);
	cr_assert_eq(errands_post(s.errands, &late), -ESHUTDOWN);
	cr_assert(*errands_stopping(s.errands));
	errands_free(s.errands);
}

Test(stopped, nothing_is_told_to_the_kernel)
{
	struct manifest_change change;

	cr_assert_eq(notify_start(&s, &s.notify), 0);
	notify_stop(s.notify);
	notify_forget_pages(s.notify, NODE_ROOT);
	change = *notify_change(s.notify);
	change.replaced(change.context, NULL, NODE_ROOT, 0, 1);
	notify_free(s.notify);
}

Test(stopped, nothing_is_announced)
{
	cr_assert_eq(announce_start(&s, &s.announce), 0);
	announce_stop(s.announce);
	announce_reply(s.announce, 1);
	announce_free(s.announce);
}

Test(stopped, nothing_is_filled)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;

	cr_assert_eq(warm_start(&s, &s.warm), 0);
	warm_stop(s.warm);
	cr_assert_lt(warm_fill(s.warm, ""), 0);
	cr_assert_lt(warm_drop(s.warm, ""), 0);
	warm_cancel(s.warm);
	cr_assert_eq(warm_report(s.warm, &text), 0);
	warm_free(s.warm);
}
