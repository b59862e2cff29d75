/* Was an open a hit?  Reports of opens and of late reads in any order. */
#include <criterion/criterion.h>

#include "prefetch/judge.h"

static struct judge judge;
static struct stats stats;

static void begin(void)
{
	judge = (struct judge){ .first = 0 };
	stats = (struct stats){ .opens = 0 };
	judge_init(&judge, &stats);
}

static void expect(uint64_t opens, uint64_t page_cache, uint64_t memory, uint64_t late)
{
	cr_assert_eq(judge_settle(&judge, UINT64_MAX / 2), UINT64_MAX, "something still waits");
	cr_assert_eq(stats.opens, opens, "opens %lu", (unsigned long)stats.opens);
	cr_assert_eq(stats.hits_page_cache, page_cache);
	cr_assert_eq(stats.hits_memory, memory);
	cr_assert_eq(stats.late, late);
	cr_assert_eq(stats.hits + stats.late, stats.opens);
}

Test(judge, a_waiting_read_before_or_after_its_open_is_one_late_open)
{
	begin();
	judge_open(&judge, 1, false, 10);
	cr_assert(judge_late(&judge, 1, 20));
	cr_assert(!judge_late(&judge, 1, 21), "the second read of the same open");
	cr_assert(judge_late(&judge, 2, 30));
	judge_open(&judge, 2, true, 40);
	expect(2, 0, 0, 2);
}

Test(judge, an_open_that_nobody_saw_counts_when_it_is_settled)
{
	begin();
	judge_late(&judge, 1, 10);
	cr_assert_eq(stats.opens, 0);
	expect(1, 0, 0, 1);
}

Test(judge, who_waited_for_the_size_and_opens_it_was_late)
{
	begin();
	judge_asked(&judge, 1, 10);
	judge_open(&judge, 1, true, 20);
	judge_open(&judge, 2, false, 30);
	judge_asked(&judge, 2, 40);
	judge_asked(&judge, 3, 50);
	expect(2, 0, 0, 2);
}

Test(judge, a_read_that_waits_after_its_size_is_the_same_open)
{
	begin();
	judge_asked(&judge, 1, 10);
	judge_open(&judge, 1, false, 20);
	cr_assert(judge_late(&judge, 1, 30));
	cr_assert(!judge_late(&judge, 1, 31));
	judge_asked(&judge, 2, 40);
	cr_assert(judge_late(&judge, 2, 50), "an open that nobody saw");
	judge_asked(&judge, 2, 60);
	expect(2, 0, 0, 2);
}

Test(judge, hits_are_told_apart)
{
	begin();
	judge_open(&judge, 1, false, 10);
	judge_open(&judge, 2, true, 10);
	judge_open(&judge, 1, false, 11);
	expect(3, 2, 1, 0);
}

Test(judge, waits_as_long_as_it_says)
{
	begin();
	judge_open(&judge, 1, false, 10);
	cr_assert_eq(judge_settle(&judge, 11), 10 + JUDGE_NS);
	cr_assert_eq(stats.hits, 0);
	cr_assert_eq(judge_settle(&judge, 10 + JUDGE_NS), UINT64_MAX);
	cr_assert_eq(stats.hits, 1);
}

/* The next server finds judge and stats where the one that was killed has left them. */
Test(judge, what_one_who_is_gone_has_left_is_judged)
{
	begin();
	judge_open(&judge, 1, false, 10);
	judge_settle(&judge, 10 + JUDGE_NS);
	judge_open(&judge, 2, false, 20 + JUDGE_NS);
	judge_open(&judge, 3, true, 21 + JUDGE_NS);
	judge_late(&judge, 4, 22 + JUDGE_NS);
	judge_asked(&judge, 5, 23 + JUDGE_NS);
	judge_init(&judge, &stats);
	cr_assert(judge_late(&judge, 3, 30 + JUDGE_NS), "the read that was sent again");
	judge_open(&judge, 4, false, 31 + JUDGE_NS);
	expect(4, 2, 0, 2);
}

Test(judge, one_who_is_gone_in_the_midst_of_counting)
{
	begin();
	judge_open(&judge, 1, false, 10);
	stats_add(&stats.opens, 1);
	judge_init(&judge, &stats);
	expect(2, 2, 0, 0);
	judge_open(&judge, 2, false, 20);
	stats_add(&stats.hits, 1);
	stats_add(&stats.hits_page_cache, 1);
	judge_init(&judge, &stats);
	expect(4, 4, 0, 0);
}

Test(judge, more_opens_at_once_than_it_remembers)
{
	begin();
	for (uint32_t i = 0; i < 3 * JUDGE_RING; i++)
		judge_open(&judge, i * 64, false, 10);
	expect(3 * JUDGE_RING, 3 * JUDGE_RING, 0, 0);
}
