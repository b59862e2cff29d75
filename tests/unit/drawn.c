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
		unsigned rank = stage_draw(s, world);
		uint32_t at = next[rank] * world + rank;

		if (at >= N)
			continue;
		tracker_drawn(s->tracker, epoch, at);
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

		tracker_drawn(s.tracker, e, 0);
		cr_assert_eq(main_of(&s)->epoch, e);
		read_as_ranks(&s, e, 1 + (unsigned)e % 4);
		cr_assert_eq(main_of(&s)->front, N);
		next = main_of(&s)->next;
		cr_assert_not_null(next, "the next epoch is not known");
		cr_assert(tracker_drawn(s.tracker, e + 1, 0),
			  "its first entry begins the next epoch");
		cr_assert_eq(main_of(&s)->sequence, next, "it is drawn anew");
	}
	stage_close(&s);
}

/* A look at another epoch's folder (ls -l) is not the end of this one; a job that goes on there is,
 * whether it asks for an entry when it opens it, or for all before. */
static void leave_for_another(bool all_at_once)
{
	static const struct epoch other = { .rule = EPOCH_DRAWN, .number = 9 };
	dl_cleanup(sequence_unrefp) struct sequence *q = NULL;
	struct stage s;

	stage_open(&s, "drawn:epoch=0,piece=20,reservoir=200", N, NULL);
	for (uint32_t i = 0; i < 100; i++) {
		tracker_drawn(s.tracker, 0, i);
		stage_see(&s, sample_at(main_of(&s)->sequence, i), 1);
		for (uint32_t k = 0; k < 100; k++)
			cr_assert_not(tracker_drawn(s.tracker, 7 + k % 2, k));
	}
	cr_assert_eq(main_of(&s)->epoch, 0);
	cr_assert_eq(order_drawn(&s.spec, &other, N, NULL, 0, &q), 0);
	for (uint32_t i = 0; all_at_once && i < N; i++)
		tracker_drawn(s.tracker, 9, i);
	for (uint32_t i = 0; i < 40; i++) {
		if (!all_at_once)
			tracker_drawn(s.tracker, 9, i);
		stage_see(&s, sample_at(q, i), 2);
	}
	cr_assert_eq(main_of(&s)->epoch, 9);
	cr_assert_eq(main_of(&s)->reach, 40);
	cr_assert_eq(main_of(&s)->front, 40, "position %u of 40", main_of(&s)->front);
	stage_close(&s);
}

Test(drawn, is_left_for_another_epoch_once_that_is_read)
{
	leave_for_another(false);
}

Test(drawn, is_left_for_another_epoch_that_was_asked_for_before)
{
	leave_for_another(true);
}

/* Another server takes over: until its readers say more, they are where they were. */
Test(drawn, goes_on_in_the_epoch_that_was_read)
{
	struct standing stood;
	struct stage before, s;

	stage_open(&before, "drawn:epoch=3,piece=20,reservoir=200", N, NULL);
	for (uint64_t e = 3; e < 5; e++) {
		tracker_drawn(before.tracker, e, 0);
		read_as_ranks(&before, e, 4);
	}
	tracker_drawn(before.tracker, 5, 0);
	for (uint32_t i = 0; i < 100; i++) {
		tracker_drawn(before.tracker, 5, i);
		stage_see(&before, sample_at(main_of(&before)->sequence, i), 1);
	}
	stood = tracker_standing(before.tracker);
	stage_close(&before);

	stage_open(&s, "none", N, NULL);
	order_spec_fini(&s.spec);
	cr_assert_eq(order_parse("drawn:epoch=3,piece=20,reservoir=200", &s.spec, (char[160]){ 0 }),
		     0);
	tracker_stood(s.tracker, &stood);
	cr_assert_eq(tracker_again(s.tracker, &s.spec, &(struct list *){ &s.list }, 1, NULL, NULL,
				   0), 0);
	cr_assert_eq(main_of(&s)->epoch, 5);
	cr_assert_eq(main_of(&s)->front, 100);
	for (uint32_t i = 100; i < 200; i++) {
		tracker_drawn(s.tracker, 5, i);
		stage_see(&s, sample_at(main_of(&s)->sequence, i), 1);
	}
	cr_assert_eq(main_of(&s)->front, 200);
	stage_close(&s);
}

static void read_entry(struct stage *s, uint64_t epoch, const struct sequence *q, uint32_t at)
{
	tracker_drawn(s->tracker, epoch, at);
	cr_assert_eq(stage_see(s, sample_at(q, at), 1 + at % 4), TRACKER_FITS);
}

/* Four readers go on from epoch to epoch, each at its own pace: the last are at the end of one when
 * the first are in the next, where the same files are at other positions.  What is opened counts
 * for the epoch that it was asked for in, and each is followed to its end. */
Test(drawn, keeps_epochs_apart_that_readers_go_through_without_a_pause)
{
	struct sequence *q[4] = { NULL };
	struct stage s;
	uint32_t next[4] = { 0 }, opened[4] = { 0 };

	stage_open(&s, "drawn:piece=20,reservoir=200", N, NULL);
	q[0] = sequence_ref(main_of(&s)->sequence);
	for (uint32_t left = 4 * N; left > 0;) {
		uint32_t rank = stage_draw(&s, 4), at = next[rank] * 4 + rank, epoch = at / N;
		const struct course *courses;

		if (next[rank] == N || next[rank] > (4 * N - left) / 4 + 40)
			continue;
		next[rank]++;
		left--;
		if (!q[epoch])
			q[epoch] = sequence_ref(main_of(&s)->next);
		read_entry(&s, epoch, q[epoch], at % N);
		opened[epoch]++;
		cr_assert_leq(tracker_courses(s.tracker, &courses), 2);
		for (size_t i = 0; i < tracker_courses(s.tracker, &courses); i++) {
			const struct course *c = &courses[i];

			cr_assert_eq(c->sequence, q[c->epoch]);
			cr_assert_leq(c->front, opened[c->epoch]);
			cr_assert_geq(c->front + 4 * 100, opened[c->epoch]);
			cr_assert_leq(c->reach, opened[c->epoch] + 4 * 100);
		}
	}
	cr_assert_eq(main_of(&s)->epoch, 3);
	cr_assert_eq(main_of(&s)->front, N);
	for (int e = 0; e < 4; e++)
		sequence_unref(q[e]);
	stage_close(&s);
}

/* The last files of an epoch are opened when the next has begun: they say nothing of that. */
Test(drawn, is_not_led_astray_by_stragglers)
{
	dl_cleanup(sequence_unrefp) struct sequence *before = NULL;
	struct stage s;

	stage_open(&s, "drawn:piece=20,reservoir=100", N, NULL);
	before = sequence_ref(main_of(&s)->sequence);
	for (uint32_t at = 0; at < N - 100; at++)
		read_entry(&s, 0, before, at);
	cr_assert(tracker_drawn(s.tracker, 1, 0));
	for (uint32_t at = N - 100; at < N; at++)
		read_entry(&s, 0, before, at);
	cr_assert_eq(main_of(&s)->epoch, 1);
	cr_assert_eq(main_of(&s)->reach, 0, "it is at %u", main_of(&s)->reach);
	stage_close(&s);
}

/* A script may ask for all entries of an epoch first, and open their files then. */
Test(drawn, goes_by_opens_when_all_was_asked_for_at_once)
{
	dl_cleanup(sequence_unrefp) struct sequence *before = NULL;
	struct stage s;

	stage_open(&s, "drawn:piece=20,reservoir=100", N, NULL);
	for (uint32_t at = 0; at < N; at++)
		tracker_drawn(s.tracker, 0, at);
	cr_assert_eq(main_of(&s)->reach, 0);
	before = sequence_ref(main_of(&s)->sequence);
	for (uint32_t at = 0; at < N; at++) {
		stage_see(&s, sample_at(before, at), 1);
		for (uint32_t i = 0; at == N - 100 && i < N; i++)
			tracker_drawn(s.tracker, 1, i);
	}
	cr_assert_eq(main_of(&s)->epoch, 1);
	cr_assert_eq(main_of(&s)->reach, 0, "it is at %u", main_of(&s)->reach);
	for (uint32_t at = 0; at < 500; at++)
		stage_see(&s, sample_at(main_of(&s)->sequence, at), 1);
	cr_assert_eq(main_of(&s)->front, 500);
	stage_close(&s);
}

/* A job that is resumed in mid-epoch: what lies far before it is not waited for. */
Test(drawn, begins_where_a_job_is_resumed)
{
	struct stage s;

	stage_open(&s, "drawn:piece=20,reservoir=100", N, NULL);
	for (uint32_t at = 1000; at < 1100; at++)
		read_entry(&s, 0, main_of(&s)->sequence, at);
	cr_assert_gt(main_of(&s)->front, 900);
	cr_assert_eq(main_of(&s)->reach, 1100);
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
			read_entry(&s, 0, main_of(&s)->sequence, at);
	cr_assert_eq(main_of(&s)->front, 3, "given up: front %u", main_of(&s)->front);
	for (; at < 1000; at++)
		if (at % 4 != 3)
			read_entry(&s, 0, main_of(&s)->sequence, at);
	cr_assert_gt(main_of(&s)->front, 500, "front %u", main_of(&s)->front);
	stage_close(&s);
}

/* Other files of the list in any order, which nobody asked for as entries: they say nothing. */
Test(drawn, is_not_refuted_by_other_readers)
{
	struct stage s;

	stage_open(&s, "drawn:piece=20,reservoir=200", N, NULL);
	for (uint32_t i = 0; i < 500; i++)
		stage_see(&s, FIRST_ID + stage_draw(&s, N), 1);
	cr_assert_eq(main_of(&s)->epoch, 0);
	cr_assert_eq(main_of(&s)->reach, 0);
	stage_close(&s);
}

Test(drawn, means_nothing_to_other_orders)
{
	struct stage s;

	stage_open(&s, "sequential", N, NULL);
	for (int i = 0; i < 100; i++)
		cr_assert_not(tracker_drawn(s.tracker, 3, 0));
	stage_close(&s);
}

/* Whoever reads was at it before his order was followed: what he had is nobody's to wait for, and
 * the next epoch's opens are that one's. */
Test(drawn, is_over_though_its_first_entries_were_read_before)
{
	struct stage s;

	stage_open(&s, "drawn:epoch=0,piece=20,reservoir=2000", N, NULL);
	for (uint64_t e = 0; e < 3; e++) {
		dl_cleanup(sequence_unrefp) struct sequence *q = NULL;

		tracker_drawn(s.tracker, e, e == 0 ? 20 : 0);
		q = sequence_ref(main_of(&s)->sequence);
		for (uint32_t at = e == 0 ? 20 : 0; at < N; at++) {
			tracker_drawn(s.tracker, e, at);
			cr_assert_eq(stage_see(&s, sample_at(q, at), 1), TRACKER_FITS);
		}
		cr_assert_eq(main_of(&s)->epoch, e);
		cr_assert_eq(main_of(&s)->front, N, "epoch %u is at %u", (unsigned)e,
			     main_of(&s)->front);
	}
	stage_close(&s);
}

Test(drawn, counts_what_was_read_before_it_was_followed)
{
	const struct sequence *q;
	struct stage s;

	stage_open(&s, "drawn:epoch=0,piece=20,reservoir=2000", N, NULL);
	q = main_of(&s)->sequence;
	for (uint32_t at = 0; at < 24; at++)
		tracker_drawn_before(s.tracker, at, sample_at(q, at), at < 20, 0);
	tracker_drawn_before(s.tracker, 25, sample_at(q, 26), true, 0);  /* another sample now */
	tracker_drawn_before(s.tracker, N, FIRST_ID, true, 0);
	cr_assert_eq(main_of(&s)->front, 20);
	cr_assert_eq(main_of(&s)->reach, 20);
	stage_see(&s, sample_at(q, 20), 1);
	cr_assert_eq(main_of(&s)->front, 21);
	stage_close(&s);
}

/* Two readers jump to another epoch; the one who is in front has opened what he asked for before
 * it is clear that both are there. */
Test(drawn, is_over_though_its_front_was_read_before_it_was_followed)
{
	static const struct epoch other = { .rule = EPOCH_DRAWN, .number = 9 };
	static const uint32_t first[] = {
		0, 2, 4, 6, 8, 10, 12, 14, 16, 1, 3, 5, 7, 9, 11, 13, 15,
	};
	dl_cleanup(sequence_unrefp) struct sequence *q = NULL;
	struct stage s;

	stage_open(&s, "drawn:epoch=0,piece=20,reservoir=2000", N, NULL);
	cr_assert_eq(order_drawn(&s.spec, &other, N, NULL, 0, &q), 0);
	for (uint32_t i = 0; i < DL_COUNT(first); i++)
		tracker_drawn(s.tracker, 9, first[i]);
	for (uint32_t i = 8; i < DL_COUNT(first); i++)
		stage_see(&s, sample_at(q, first[i]), 1);
	for (uint32_t at = DL_COUNT(first); at < N; at++) {
		tracker_drawn(s.tracker, 9, at);
		stage_see(&s, sample_at(q, at), 1);
	}
	cr_assert_eq(main_of(&s)->epoch, 9);
	cr_assert_eq(main_of(&s)->front, N, "it is at %u", main_of(&s)->front);
	stage_close(&s);
}

/* In a piece samples are read nearly as they are stored. */
Test(drawn, no_walk_is_made_of_an_epoch_beside_it)
{
	static const struct epoch other = { .rule = EPOCH_DRAWN, .number = 9 };
	dl_cleanup(sequence_unrefp) struct sequence *q = NULL, *own = NULL;
	const struct course *courses;
	struct stage s;

	stage_open(&s, "drawn:epoch=0,piece=200,reservoir=200", N, NULL);
	cr_assert_eq(order_drawn(&s.spec, &other, N, NULL, 0, &q), 0);
	own = sequence_ref(main_of(&s)->sequence);
	for (uint32_t at = 0; at < N; at++) {
		tracker_drawn(s.tracker, 0, at);
		tracker_drawn(s.tracker, 9, at);
		stage_see(&s, sample_at(own, at), 1);
		stage_see(&s, sample_at(q, at), 2);
	}
	cr_assert_eq(tracker_courses(s.tracker, &courses), 1u, "%zu are followed",
		     tracker_courses(s.tracker, &courses));
	stage_close(&s);
}
