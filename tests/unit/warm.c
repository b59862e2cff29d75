/* Forgetting what the kernel has, while it is told to end. */
#include "fs/push.h"
#include "fs/warm.h"
#include "prefetch/engine_internal.h"
#include "tests/lib/engine_stage.h"
#include "tests/lib/open_instead.h"

static struct serve s;
static _Atomic unsigned opens;

int open_instead(const char *path)
{
	if (strncmp(path, "/the-mount/", 11) != 0)
		return 0;
	if (opens++ == 0)
		warm_cancel(s.warm);
	return ENOENT;
}

static bool is_over(void)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;

	cr_assert_eq(warm_report(s.warm, &text), 0);
	return !strstr((char *)text.at, "running");
}

Test(warm, what_was_taken_from_a_drop_that_ends_is_forgotten)
{
	struct serve_options options = { .mountpoint = "/the-mount" };

	begin(MEMORY, 4);
	s = (struct serve){ .options = &options, .manifest = m, .engine = engine, .stats = &stats };
	cr_assert_eq(push_start(&s, 1, &s.push), 0);
	push_mounted(s.push);
	cr_assert_eq(warm_start(&s, &s.warm), 0);
	for (unsigned i = 0; i < SMALL; i++)
		flags_set(&engine->flags, f + i, FLAG_READ);
	cr_assert_eq(warm_drop(s.warm, ""), 0);
	wait_until(is_over());
	cr_expect_eq(opens, SMALL);
	warm_stop(s.warm);
	push_quieten(s.push);
	push_stop(s.push);
	end();
	warm_free(s.warm);
}
