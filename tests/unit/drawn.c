/* The epoch view's orders in the tracker. */
#include "tests/lib/stage.h"

#define N 2000u

static const struct course *main_of(const struct stage *s)
{
	const struct course *c = tracker_main(s->tracker);

	cr_assert_not_null(c);
	return c;
}

static sample_id sample_at(const struct sequence *q, uint32_t position)
{
	return FIRST_ID + q->at[position];
}

/* Ranks read every fourth entry each, at their own pace. */
static void read_as_ranks(struct stage *s, uint64_t epoch, unsigned world)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = sequence_ref(main_of(s)->sequence);
	uint32_t next[8] = { 0 }, left = N;

	while (left > 0) {
		unsigned rank = random_below(s, world);
		uint32_t at = next[rank] * world + rank;

		if (at >= N)
			continue;
		tracker_drawn(s->tracker, epoch);
		cr_assert_eq(stage_see(s, sample_at(q, at), 100 + rank), TRACKER_FITS);
		next[rank]++;
		left--;
	}
}

Test(drawn, is_followed_over_epochs_and_ranks)
{
	struct stage s;

	stage_open(&s, "drawn:epoch=5,piece=20,reservoir=200", N, NULL);
	for (uint64_t e = 5; e < 8; e++) {
		struct sequence *next;

		tracker_drawn(s.tracker, e);
		cr_assert_eq(main_of(&s)->epoch, e);
		read_as_ranks(&s, e, 1 + (unsigned)e % 4);
		cr_assert_eq(main_of(&s)->front, N);
		next = main_of(&s)->next;
		cr_assert_not_null(next, "the next epoch is not known");
		cr_assert(tracker_drawn(s.tracker, e + 1), "its first entry begins the next epoch");
		cr_assert_eq(main_of(&s)->sequence, next, "it is drawn anew");
	}
	stage_close(&s);
}

/* A look at another epoch's folder is not the end of this one; a job that goes on there is. */
Test(drawn, is_left_for_another_epoch_after_a_while)
{
	struct stage s;
	unsigned asked = 0;

	stage_open(&s, "drawn:epoch=0,piece=20,reservoir=200", N, NULL);
	for (uint32_t i = 0; i < 100; i++) {
		tracker_drawn(s.tracker, 0);
		stage_see(&s, sample_at(main_of(&s)->sequence, i), 1);
		for (int k = 0; k < 10; k++)
			cr_assert_not(tracker_drawn(s.tracker, 9));
	}
	while (!tracker_drawn(s.tracker, 9))
		cr_assert_lt(++asked, 100);
	cr_assert_eq(main_of(&s)->epoch, 9);
	stage_close(&s);
}

/* One of four ranks waits for the source while the others go on through what is there: its samples
 * are waited for.  One that is dead is not waited for for ever. */
Test(drawn, waits_for_a_rank_that_is_behind)
{
	struct stage s;
	uint32_t at = 0;

	stage_open(&s, "drawn:piece=20,reservoir=100", N, NULL);
	for (; at < 390; at++)
		if (at % 4 != 3)
			stage_see(&s, sample_at(main_of(&s)->sequence, at), 1 + at % 4);
	cr_assert_eq(main_of(&s)->front, 3, "given up: front %u", main_of(&s)->front);
	for (; at < 1000; at++)
		if (at % 4 != 3)
			stage_see(&s, sample_at(main_of(&s)->sequence, at), 1 + at % 4);
	cr_assert_gt(main_of(&s)->front, 500, "front %u", main_of(&s)->front);
	stage_close(&s);
}

/* Other files of the list in any order: the belief is not shaken. */
Test(drawn, is_not_refuted_by_other_readers)
{
	struct stage s;

	stage_open(&s, "drawn:piece=20,reservoir=200", N, NULL);
	for (uint32_t i = 0; i < 500; i++)
		stage_see(&s, FIRST_ID + random_below(&s, N), 1);
	cr_assert_eq(main_of(&s)->epoch, 0);
	stage_close(&s);
}

Test(drawn, means_nothing_to_other_orders)
{
	struct stage s;

	stage_open(&s, "sequential", N, NULL);
	for (int i = 0; i < 100; i++)
		cr_assert_not(tracker_drawn(s.tracker, 3));
	stage_close(&s);
}
