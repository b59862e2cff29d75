/* Questions to a planner that is held up: they end, and nothing is written once they have. */
#include "tests/lib/engine_stage.h"

static _Atomic bool held, hold;

static void hold_up(void)
{
	held = true;
	while (hold)
		usleep(500);
	held = false;
}

/* On the planner's thread, as it takes up that a fetch has failed. */
static void begin_held_up(void)
{
	struct reader r;

	also_stale = hold_up;
	begin(MEMORY, 2);
	read_at(&r, g, 0);
	hold = true;
	end_fetch(g, 0, -ESTALE);
	wait_until(held);
	expect_error(&r, -ESTALE);
}

static void let_go(void)
{
	hold = false;
	wait_until(!held);
}

Test(ask, a_planner_that_is_held_up_is_not_waited_for)
{
	char why[160] = "";
	struct buf text = BUF_EMPTY;
	struct engine_report report;
	uint64_t bytes, turn;

	patience = 20 * CLOCK_MS;
	begin_held_up();
	cr_assert_eq(engine_report(engine, &report), -ETIMEDOUT);
	cr_assert_str_empty(report.spec);
	cr_assert_eq(engine_order(engine, "sequential", "/nowhere", why), -ETIMEDOUT);
	cr_assert_not_null(strstr(why, "busy"), "%s", why);
	cr_assert_eq(engine_epoch(engine, 3, why), -ETIMEDOUT);
	cr_assert_eq(engine_order_text(engine, false, &text), -ETIMEDOUT);
	cr_assert_eq(engine_order_describe(engine, &text), -ETIMEDOUT);
	cr_assert_eq(engine_order_turn(engine, &turn), -ETIMEDOUT);
	cr_assert_eq(engine_warm(engine, &f, 1), -ETIMEDOUT);
	cr_assert_eq(engine_forget(engine, &f, 1, &bytes), -ETIMEDOUT);
	cr_assert_eq(text.len, 0u);
	let_go();
	/* The planner comes to them now, and must leave them alone. */
	while (engine_report(engine, &report) < 0)
		;
	cr_assert_str_eq(report.spec, "");
	cr_assert_eq(fake_source_count(&source), 1u, "neither the order nor the warm");
	end();
}

struct late_answer {
	pthread_t thread;
	struct engine_report report;
	_Atomic bool there;
	int result;
};

static void *ask_main(void *arg)
{
	struct late_answer *a = arg;

	a->result = engine_report(engine, &a->report);
	a->there = true;
	return NULL;
}

Test(ask, who_has_patience_gets_the_answer)
{
	struct late_answer a[3] = { 0 };

	begin_held_up();
	for (size_t i = 0; i < DL_COUNT(a); i++)
		cr_assert_eq(pthread_create(&a[i].thread, NULL, ask_main, &a[i]), 0);
	usleep(20000);                 /* so that they most likely wait by now */
	for (size_t i = 0; i < DL_COUNT(a); i++)
		cr_assert_not(a[i].there);
	let_go();
	for (size_t i = 0; i < DL_COUNT(a); i++) {
		pthread_join(a[i].thread, NULL);
		cr_assert_eq(a[i].result, 0);
		cr_assert_gt(a[i].report.plan.room, 0u);
	}
	end();
}

Test(ask, an_engine_whose_planner_was_held_up_stops)
{
	pthread_t stop;

	patience = 20 * CLOCK_MS;
	begin_held_up();
	stop = begin_stop();
	usleep(100000);
	cr_assert_not(ended);
	let_go();
	end_stop(stop);
}
