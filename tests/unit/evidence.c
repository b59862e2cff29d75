/* What the finder goes by. */
#include "tests/lib/stage.h"

#include "prefetch/find/evidence.h"

Test(evidence, begins_with_the_first_open_that_was_not_foreseen)
{
	static struct evidence e;

	for (uint32_t i = 0; i < 50; i++)
		evidence_open(&e, i, 7, true, 1000);
	cr_assert_eq(e.count, 0);
	for (uint32_t i = 50; i < 90; i++)
		evidence_open(&e, i, 7, i % 5 == 2, 1000);
	cr_assert_eq(e.count, 40);
	cr_assert_eq(e.opens[0].id, 50);
	for (uint32_t i = 90; i < 98; i++)
		evidence_open(&e, i, 7, true, 1000);
	cr_assert_eq(e.count, 0);
}

/* Small batches: every fourth open begins one, and does not go on where one had been. */
Test(evidence, takes_no_batch_for_an_epoch)
{
	static struct evidence e;

	for (uint32_t i = 0; i < 900; i++) {
		evidence_open(&e, i, 7, i % 4 != 0, 1000);
		cr_assert_eq(evidence_stage(&e), EVIDENCE_NONE, "after %u opens", i);
	}
	for (uint32_t i = 0; i < 400 && evidence_stage(&e) < EVIDENCE_FULL; i++)
		evidence_open(&e, i, 8, i % 2, 1000);   /* another job beside it */
	cr_assert_eq(evidence_stage(&e), EVIDENCE_FULL);
}

/* A job that is followed reads in batches beside one that is not yet. */
Test(evidence, keeps_what_another_job_opened)
{
	static struct evidence e;
	struct list list = { 1, 0, 1000 };
	struct run runs[3];

	for (uint32_t i = 0; i < 320; i++) {
		evidence_open(&e, i, 7, i % 16 != 0, 1000);
		if (i >= 100 && i % 5 == 0)
			evidence_open(&e, 1000 - i, 8, false, 1000);
	}
	cr_assert_eq(evidence_stage(&e), EVIDENCE_FULL);
	cr_assert_geq(evidence_runs(&e, &list, runs, 3), 1);
	cr_assert_eq(runs[0].pid, 8);
	cr_assert_eq(runs[0].at[0], 900);
	cr_assert_eq(runs[0].at[1], 895);
}

Test(evidence, begins_anew_with_the_next_epoch)
{
	static struct evidence e;
	uint64_t turn;

	for (uint32_t i = 0; i < 100; i++)
		evidence_open(&e, i, 7, false, 100);
	cr_assert_eq(e.count, 100);
	turn = e.turn;
	evidence_open(&e, 5, 7, false, 100);
	cr_assert_eq(e.count, 1);
	cr_assert_eq(e.opens[0].id, 5);
	cr_assert_neq(e.turn, turn);
}

Test(evidence, takes_the_runs_of_the_lowest_and_of_the_first_process)
{
	static struct evidence e;
	struct list list = { 1, 100, 1000 };
	static const struct { sample_id id; uint32_t pid; } opens[] = {
		{ 105, 9 }, { 107, 8 }, { 107, 8 }, { 5, 7 }, { 109, 7 }, { 106, 9 }, { 108, 8 },
		{ 110, 7 }, { 300, 4 },
	};
	struct run runs[3];

	for (size_t i = 0; i < DL_COUNT(opens); i++)
		evidence_open(&e, opens[i].id, opens[i].pid, false, 1000);
	cr_assert_eq(evidence_runs(&e, &list, runs, 3), 3);
	cr_assert_eq(runs[0].pid, 7);           /* 4 has opened one only */
	cr_assert_eq(runs[0].count, 2);
	cr_assert_eq(runs[0].at[0], 9);         /* 5 is not in the list */
	cr_assert_eq(runs[1].pid, 9);
	cr_assert_eq(runs[2].pid, 8);
	cr_assert_eq(runs[2].count, 2);         /* the same twice is once */
	cr_assert_eq(runs[2].at[1], 8);
}

Test(evidence, allows_a_single_process_a_look_before_it_begins)
{
	static struct evidence e;
	struct list list = { 1, 0, 1000 };
	struct run runs[3];

	for (uint32_t i = 0; i < 8; i++)
		evidence_open(&e, 10 + i, 7, false, 1000);
	cr_assert_eq(evidence_runs(&e, &list, runs, 3), 3);
	for (unsigned r = 0; r < 3; r++) {
		cr_assert_eq(runs[r].count, RUN_MAX - r);
		cr_assert_eq(runs[r].at[0], 10 + r);
		cr_assert_eq(runs[r].at[RUN_MAX - r - 1], 10 + RUN_MAX - 1);
	}
}

/* Two jobs, of which one is explained and ends: the other one goes on. */
Test(evidence, keeps_another_job_beyond_an_epoch)
{
	static struct evidence e;
	static const uint32_t ended[] = { 7 };
	struct list list = { 1, 0, 1000 };
	struct run runs[3];

	for (uint32_t i = 0; i < 200; i++) {
		evidence_open(&e, i, 7, i % 16 != 0, 1000);
		evidence_open(&e, 1000 - i, 8, false, 1000);
	}
	evidence_open(&e, 500, 7, false, 1000);
	evidence_turn(&e, ended, 1);
	cr_assert_gt(e.count, 0, "the other job's opens are gone");
	for (size_t i = 0; i < e.count; i++)
		cr_assert_eq(e.opens[i].pid, 8);
	cr_assert_eq(evidence_runs(&e, &list, runs, 3), 3);
	cr_assert_eq(runs[0].at[0], 999, "%u", runs[0].at[0]);
	cr_assert_eq(evidence_stage(&e), EVIDENCE_NONE, "who comes next is waited for");
	for (uint32_t i = 200; i < 240; i++)
		evidence_open(&e, 1000 - i, 8, false, 1000);
	cr_assert_eq(evidence_stage(&e), EVIDENCE_FULL);
}

Test(evidence, keeps_nothing_if_all_is_over)
{
	static struct evidence e;
	static const uint32_t ended[] = { 7 };
	uint64_t turn = e.turn;

	for (uint32_t i = 0; i < 40; i++)
		evidence_open(&e, i, 7, false, 1000);
	evidence_turn(&e, ended, 1);
	cr_assert_eq(e.count, 0);
	cr_assert_neq(e.turn, turn);
	for (uint32_t i = 0; i < 40; i++)
		evidence_open(&e, i, 0, false, 1000);
	evidence_turn(&e, NULL, 0);
	cr_assert_eq(e.count, 0, "nobody knows whose these are");
}

/* Three ranks of workers that stay, 1000 samples: each opens 334, and two come twice. */
Test(evidence, is_not_misled_by_padding)
{
	static struct evidence e;
	uint64_t turn;

	for (uint32_t i = 0; i < 1002; i++) {
		turn = e.turn;
		evidence_open(&e, i % 1000, 7 + i % 3, false, 1000);
		cr_assert(i == 0 || e.turn == turn, "open %u began an epoch", i);
	}
	evidence_open(&e, 500, 7, false, 1000);
	cr_assert_neq(e.turn, turn);
	cr_assert_eq(e.count, 1);
}

static uint32_t parent(uint32_t pid) { return pid < 60 ? 40 : 41; }

/* Two jobs, of which the one that began may never be explained. */
Test(evidence, has_a_run_of_each_job)
{
	static struct evidence e;
	struct list list = { 1, 0, 1000 };
	struct run runs[3];
	bool both = false;

	for (uint32_t i = 0; i < 60; i++)
		evidence_open(&e, i, 50 + i % 6, false, 1000);
	for (uint32_t i = 0; i < 60; i++)
		evidence_open(&e, 500 + i, 60 + i % 6, false, 1000);
	cr_assert_eq(evidence_runs(&e, &list, runs, 3), 3);
	for (unsigned i = 0; i < 3; i++)
		cr_assert_lt(runs[i].pid, 60);
	evidence_parents(&e, parent);
	cr_assert_eq(evidence_runs(&e, &list, runs, 3), 3);
	cr_assert_eq(runs[0].pid, 50);
	for (unsigned i = 0; i < 3; i++)
		both |= runs[i].pid == 60;
	cr_assert(both, "the other job's first worker is none of them");
}

/* More processes than are known by name, of which one is explained: then there is a place again. */
Test(evidence, forgets_what_processes_beyond_the_last_opened)
{
	static struct evidence e;

	for (uint32_t i = 1; i <= EVIDENCE_READERS + 40; i++)
		evidence_open(&e, i, i, false, 100000);
	cr_assert_eq(e.count, EVIDENCE_READERS + 40);
	evidence_acquit(&e, 3);
	evidence_turn(&e, NULL, 0);
	cr_assert_eq(e.count, EVIDENCE_READERS - 1);
	for (size_t i = 0; i < e.count; i++)
		cr_assert(e.opens[i].pid <= EVIDENCE_READERS && e.opens[i].pid != 3);
}

Test(evidence, makes_room_where_processes_are_beyond_the_last)
{
	static struct evidence e;

	for (uint32_t i = 1; i <= EVIDENCE_MAX; i++)
		evidence_open(&e, i, 1 + i % 1000, false, 100000);
	cr_assert_eq(e.count, EVIDENCE_MAX);
	evidence_acquit(&e, e.readers[5].pid);
	evidence_open(&e, 7, 5000, false, 100000);
	cr_assert_lt(e.count, EVIDENCE_MAX);
	cr_assert_eq(e.opens[e.count - 1].pid, 5000);
}

/* Without pids an order was found and another job is there: what fits is the first one's, and
 * however much of it comes in a row, what the other has opened stays. */
Test(evidence, keeps_another_job_without_pids)
{
	static struct evidence e;
	uint64_t turn;

	for (uint32_t i = 0; i < 200; i++)
		evidence_open(&e, i, 0, false, 1000);
	cr_assert_eq(evidence_stage(&e), EVIDENCE_FULL);
	for (uint32_t i = 200; i < 250; i++)
		evidence_open(&e, i, 0, false, 1000);
	cr_assert_eq(evidence_stage(&e), EVIDENCE_AMPLE);
	turn = e.turn;
	evidence_go_on(&e);
	cr_assert_neq(e.turn, turn);
	for (uint32_t i = 250; i < 400; i++)
		evidence_open(&e, i, 0, true, 1000);
	cr_assert_eq(e.count, 250);
	cr_assert_eq(evidence_stage(&e), EVIDENCE_AMPLE);
	evidence_acquit(&e, 0);
	cr_assert_eq(e.count, 0);
	cr_assert(!e.beside, "the next epoch is another");
}

Test(evidence, is_ample_sooner_in_small_datasets_and_never_with_pids)
{
	static struct evidence e;

	for (uint32_t i = 0; i < 64; i++)
		evidence_open(&e, i, 0, false, 200);
	cr_assert_eq(evidence_stage(&e), EVIDENCE_AMPLE);
	evidence_clear(&e);
	for (uint32_t i = 0; i < 1100; i++)
		evidence_open(&e, i, 7, false, 10000);
	cr_assert_eq(evidence_stage(&e), EVIDENCE_FULL);
	evidence_clear(&e);
	for (uint32_t i = 0; i < EVIDENCE_MAX - 1; i++)
		evidence_open(&e, i, 0, false, 10000);
	cr_assert_eq(evidence_stage(&e), EVIDENCE_FULL);
	evidence_open(&e, 5000, 0, false, 10000);
	cr_assert_eq(evidence_stage(&e), EVIDENCE_AMPLE);
}
