#include <criterion/criterion.h>
#include <string.h>

#include "prefetch/order/lessons.h"

static struct lessons l;

static struct lesson epoch(uint32_t seed) { return (struct lesson){ .n = 100, .seed = seed }; }

static void run(uint32_t from, uint32_t to)
{
	lessons_begin(&l);
	for (uint32_t seed = from; seed <= to; seed++)
		lessons_add(&l, epoch(seed));
}

static uint32_t after(uint32_t seed)
{
	struct lesson now = epoch(seed);
	const struct lesson *next = lessons_after(&l, &now);

	return next ? next->seed : 0;
}

static void forget(void) { l.count = 0; }

Test(lessons, say_what_came_after, .init = forget)
{
	run(10, 13);
	run(20, 21);
	cr_assert_eq(after(10), 11);
	cr_assert_eq(after(12), 13);
	cr_assert_eq(after(13), 0, "another run's epoch is no successor");
	cr_assert_eq(after(20), 21);
	cr_assert_eq(after(21), 0);
	cr_assert_eq(after(99), 0);
}

/* A validation set's epochs are in between, at least one. */
Test(lessons, say_what_came_after_of_the_same_list, .init = forget)
{
	struct lesson validation = { .n = 10, .seed = 11 };

	lessons_begin(&l);
	lessons_add(&l, epoch(10));
	lessons_add(&l, validation);
	lessons_add(&l, epoch(11));
	cr_assert_eq(after(10), 11);
	cr_assert_null(lessons_after(&l, &validation));
	cr_assert(lessons_has(&l, &validation));
	cr_assert(lessons_has(&l, &(struct lesson){ .n = 100, .seed = 11 }));
	cr_assert(!lessons_has(&l, &(struct lesson){ .n = 100, .seed = 10 }), "not the last");
	lessons_begin(&l);
	cr_assert(!lessons_has(&l, &validation), "of another run");
}

Test(lessons, know_the_last_run, .init = forget)
{
	const struct lesson *last;

	cr_assert_eq(lessons_last_run(&l, &last), 0);
	run(10, 13);
	run(20, 21);
	cr_assert_eq(lessons_last_run(&l, &last), 2);
	cr_assert_eq(last[0].seed, 20);
	lessons_begin(&l);
	cr_assert_eq(lessons_last_run(&l, &last), 2, "nothing was learned since");
	cr_assert_eq(last[1].seed, 21);
}

Test(lessons, take_what_was_worked_out, .init = forget)
{
	struct lesson worked[] = { epoch(31), epoch(32), epoch(33) };
	const struct lesson *last;

	run(10, 13);
	run(30, 31);
	cr_assert_eq(after(31), 0);
	lessons_insert(&l, worked, 3);
	cr_assert_eq(after(31), 32);
	cr_assert_eq(after(32), 33);
	cr_assert_eq(after(33), 0);
	lessons_add(&l, epoch(39));            /* it was wrong */
	cr_assert_eq(after(31), 39);
	cr_assert_eq(lessons_last_run(&l, &last), 3);
	run(2000, 2000 + LESSONS_MAX);
	lessons_insert(&l, worked, 3);
	cr_assert_leq(l.count, (size_t)LESSONS_MAX);
	cr_assert_eq(after(32), 33);
}

Test(lessons, are_another_ones_in_another_world, .init = forget)
{
	struct lesson shared = { .n = 100, .seed = 10, .world = 8 };

	run(10, 11);
	cr_assert_null(lessons_after(&l, &shared));
}

Test(lessons, are_kept_once, .init = forget)
{
	size_t count;

	run(10, 13);
	lessons_begin(&l);
	count = l.count;
	run(10, 13);                           /* the same again */
	lessons_begin(&l);
	cr_assert_eq(l.count, count);
	run(10, 11);                           /* broken off */
	lessons_begin(&l);
	cr_assert_eq(l.count, count);
	run(10, 15);                           /* and further */
	lessons_begin(&l);
	cr_assert_eq(l.count, count + 2);
	cr_assert_eq(after(14), 15);
}

Test(lessons, forget_the_oldest_run_first, .init = forget)
{
	run(10, 12);
	run(1000, 1000 + LESSONS_MAX - 10);
	cr_assert_eq(after(10), 11);
	run(2000, 2010);
	cr_assert_leq(l.count, (size_t)LESSONS_MAX);
	cr_assert_eq(after(10), 0);
	cr_assert_eq(after(2009), 2010);
	run(3000, 3000 + 3 * LESSONS_MAX);     /* one that is too long for all */
	cr_assert_leq(l.count, (size_t)LESSONS_MAX);
	cr_assert_eq(after(3000 + 3 * LESSONS_MAX - 1), 3000 + 3 * LESSONS_MAX);
}

Test(lessons, are_read_as_they_were_written, .init = forget)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	static struct lessons got;

	run(10, 12);
	lessons_begin(&l);
	lessons_add(&l, (struct lesson){ .n = 7, .seed = UINT32_MAX, .skip = 2, .world = 64 });
	lessons_add(&l, (struct lesson){ .n = 7, .seed = 5, .buffer = 256 });
	cr_assert_eq(lessons_print(&l, &text), 0);
	cr_assert_eq(text.len, strlen("100 10 0 0\n100 11 0 0\n100 12 0 0\n\n7 4294967295 2 64\n"
				      "7 5 0 0 256\n"));
	lessons_parse((struct bytes){ text.at, text.len }, &got);
	cr_assert_eq(got.count, l.count);
	cr_assert_eq(memcmp(got.at, l.at, l.count * sizeof(l.at[0])), 0);
}

Test(lessons, pass_over_what_makes_no_sense, .init = forget)
{
	static const char text[] = "x\n100 1 0\n100 2 0 0 0\n0 1 0 0\n100 3 99999999999 0\n"
				   "100 4 0 99999\n100 4 0 0x8\n100 4 0 0 4096\n-1\n"
				   "100 5 0 0\n100 6 0 0";
	static struct lessons got;

	lessons_parse((struct bytes){ text, sizeof(text) - 1 }, &got);
	cr_assert_eq(got.count, 2);
	cr_assert_eq(got.at[0].seed, 5);
	cr_assert_eq(got.at[1].seed, 6);
	lessons_parse((struct bytes){ NULL, 0 }, &got);
	cr_assert_eq(got.count, 0);
}
