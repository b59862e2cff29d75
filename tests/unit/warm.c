/* Filling memory while the source or the planner stands still, and forgetting what the kernel has
 * while it is told to end. */
#include "fs/push.h"
#include "fs/warm.h"
#include "prefetch/engine_internal.h"
#include "tests/lib/engine_stage.h"
#include "tests/lib/open_instead.h"

static struct serve s;
static _Atomic unsigned opens;
static _Atomic bool held, hold;

int open_instead(const char *path)
{
	if (strncmp(path, "/the-mount/", 11) != 0)
		return 0;
	if (opens++ == 0)
		warm_cancel(s.warm);
	return ENOENT;
}

static bool says(const char *text)
{
	dl_cleanup(buf_free) struct buf report = BUF_EMPTY;

	cr_assert_eq(warm_report(s.warm, &report), 0);
	return strstr((char *)report.at, text);
}

static void begin_serve(void)
{
	static struct serve_options options = { .mountpoint = "/the-mount" };

	s = (struct serve){ .options = &options, .manifest = m, .engine = engine, .stats = &stats };
	cr_assert_eq(warm_start(&s, &s.warm), 0);
}

static void end_serve(void)
{
	warm_stop(s.warm);
	end();
	warm_free(s.warm);
}

Test(warm, what_was_taken_from_a_drop_that_ends_is_forgotten)
{
	begin(MEMORY, 4);
	begin_serve();
	cr_assert_eq(push_start(&s, 1, &s.push), 0);
	push_mounted(s.push);
	for (unsigned i = 0; i < SMALL; i++)
		flags_set(&engine->flags, f + i, FLAG_READ);
	cr_assert_eq(warm_drop(s.warm, ""), 0);
	wait_until(!says("running"));
	cr_expect_eq(opens, SMALL);
	warm_stop(s.warm);
	push_quieten(s.push);
	push_stop(s.push);
	end();
	warm_free(s.warm);
}

/* --- Into memory ---------------------------------------------------------------------------- */

static bool is_asked_for(unsigned count)
{
	return fake_source_count(&source) >= count;
}

/* Nothing is shown by a moment in which nothing comes but that it goes on. */
static void stand_still(useconds_t us)
{
	usleep(us);
	cr_assert(says("\"running\""));
}

static void fetch_until_it_is_over(void)
{
	wait_until((fetch_all(), !says("\"running\"")));
}

Test(warm, a_source_that_stands_still_is_waited_for)
{
	begin(MEMORY, 2);
	begin_serve();
	cr_assert_eq(warm_fill(s.warm, "f*"), 0);
	wait_until(is_asked_for(4));
	stand_still(6000000);
	fetch_until_it_is_over();
	cr_assert(says("\"done\"") && says("\"files\": 16, ") && says("\"failed\": 0, "));
	end_serve();
}

Test(warm, what_is_on_its_way_when_memory_is_full_is_waited_for)
{
	begin(LITTLE, SMALL);
	begin_serve();
	cr_assert_eq(warm_fill(s.warm, "f*"), 0);
	wait_until(is_asked_for(6));
	stand_still(1500000);
	fetch_until_it_is_over();
	cr_assert(says("\"done\"") && says("\"bound\": \"memory\"") && !says("\"files\": 0, "));
	end_serve();
}

static void end_all(int result)
{
	for (unsigned i; fake_source_next(&source, &i);)
		fake_source_end(&source, i, result);
}

static void hold_up(void)
{
	held = true;
	while (hold)
		usleep(500);
	held = false;
}

Test(warm, a_planner_that_is_busy_is_waited_for)
{
	struct reader r;

	patience = 20 * CLOCK_MS;
	also_stale = hold_up;
	begin(MEMORY, 2);
	begin_serve();
	hold = true;
	read_at(&r, g, 0);
	end_fetch(g, 0, -ESTALE);
	wait_until(held);
	cr_assert_eq(warm_fill(s.warm, "f*"), 0);
	stand_still(1000000);
	patience = PATIENCE;
	hold = false;
	wait_until((end_all(0), says("\"done\"")));
	cr_assert(says("\"files\": 16, ") && says("\"failed\": 0, "));
	end_serve();
}

Test(warm, what_failed_is_tried_again_and_then_said)
{
	begin(MEMORY, SMALL);
	begin_serve();
	cr_assert_eq(warm_fill(s.warm, "f*"), 0);
	wait_until(is_asked_for(SMALL));
	end_fetch(f, 0, -EIO);
	end_fetch(f + 1, 0, -EIO);
	end_all(0);
	wait_until(is_asked_for(SMALL + 2));
	end_fetch(f, 0, 0);
	end_fetch(f + 1, 0, -EIO);
	wait_until(is_asked_for(SMALL + 3));
	end_fetch(f + 1, 0, -EIO);
	wait_until(is_asked_for(SMALL + 4));
	end_fetch(f + 1, 0, -EIO);
	wait_until(says("\"done\""));
	cr_assert(says("\"files\": 15, ") && says("\"failed\": 1, ") && says("Input/output"));
	end_serve();
}

Test(warm, what_others_took_away_is_not_said_to_be_unreadable)
{
	begin(MEMORY, SMALL);
	begin_serve();
	cr_assert_eq(warm_fill(s.warm, "f00"), 0);
	for (unsigned i = 1; i <= 3; i++) {
		wait_until(is_asked_for(i));
		end_fetch(f, 0, -EIO);
	}
	wait_until(is_asked_for(4));
	end_fetch(f, 0, 0);
	wait_until(says("\"done\""));
	cr_assert(says("\"files\": 0, ") && says("\"failed\": 0, ") && says("\"left_out\": 1, "));
	end_serve();
}

Test(warm, a_source_that_could_not_be_read_is_not_waited_for)
{
	begin_tree();
	m = open_manifest(&tree);
	begin_serve();
	cr_assert_eq(warm_fill(s.warm, ""), 0);
	stand_still(50000);
	s.unread = -EIO;
	wait_until(!says("\"running\""));
	cr_assert(says("Input/output error") && says("dlfs refresh"));
	warm_stop(s.warm);
	warm_free(s.warm);
	dataset_drop();
}
