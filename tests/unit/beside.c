/* A validation set that is shuffled, beside training. */
#include "tests/lib/stage.h"

#define MANY 20000u
#define FEW 5000u
#define OTHERS 1000000u                 /* the first id of the validation set */
#define EPOCHS 3u

static void open_both(struct stage *s, struct list *other)
{
	struct list *lists[] = { &s->list, other };

	stage_open(s, "auto", MANY, NULL);
	*other = (struct list){ 1, OTHERS, FEW };
	cr_assert(tracker_lists(s->tracker, lists, 2));
}

static void close_both(struct stage *s, const struct list *other)
{
	stage_close(s);
	cr_assert_eq(other->refs, 1u);
}

static void expect_main(const struct stage *s, const struct list *list, uint64_t epoch)
{
	cr_assert_not_null(tracker_main(s->tracker));
	cr_assert_eq(tracker_main(s->tracker)->list, list, "epoch %lu", (unsigned long)epoch);
	cr_assert_eq(tracker_main(s->tracker)->epoch, epoch);
}

/* What a search finds, after 300 opens; NULL: it is known already. */
static void read_buffer(struct stage *s, const struct list *list, uint32_t seed,
			const struct found *f)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = numpy_sequence(list->count, seed);
	struct buffer b = { .sequence = q, .size = 256 };
	uint32_t index, opens = 0, took = 0;

	forget_verdicts(s);
	while (buffer_step(&b, s, &index)) {
		stage_see(s, list->first + index, 50);
		if (++opens == 300 && f) {
			cr_assert(tracker_found(s->tracker, f));
			forget_verdicts(s);
			took = 0;
		}
		took += tracker_took(s->tracker);
	}
	cr_assert_geq(s->verdicts[TRACKER_FITS], s->opens * 97 / 100, "of %u: %u of %u",
		      list->count, s->verdicts[TRACKER_FITS], s->opens);
	cr_assert_geq(took, s->opens * 97 / 100, "of %u: %u of %u", list->count, took, s->opens);
}

Test(beside, follows_keras)
{
	struct list other;
	struct lesson lesson;
	struct stage s;

	open_both(&s, &other);
	for (uint32_t e = 0; e < EPOCHS; e++) {
		struct found train = { .list = &s.list, .seed = 5, .buffer = 256 };
		struct found validation = { .list = &other, .seed = 9, .buffer = 256 };

		read_buffer(&s, &s.list, 5, e == 0 ? &train : NULL);
		cr_assert(tracker_lesson(s.tracker, &lesson));
		cr_assert(lesson.n == MANY && lesson.seed == 5 && lesson.buffer == 256);
		read_buffer(&s, &other, 9, e == 0 ? &validation : NULL);
		expect_main(&s, &s.list, e);
	}
	close_both(&s, &other);
}

/* A validation set and a test set, once an epoch each: the training set's order stays. */
Test(beside, follows_two_validation_sets)
{
	struct list other, third = { 1, 2 * OTHERS, FEW / 2 };
	struct list *lists[] = { NULL, &other, &third };
	struct stage s;

	open_both(&s, &other);
	lists[0] = &s.list;
	cr_assert(tracker_lists(s.tracker, lists, 3));
	for (uint32_t e = 0; e < EPOCHS; e++)
		for (uint32_t i = 0; i < 3; i++) {
			struct found f = { .list = lists[i], .seed = 5 + i, .buffer = 256 };

			read_buffer(&s, lists[i], 5 + i, e == 0 ? &f : NULL);
			expect_main(&s, &s.list, e);
		}
	close_both(&s, &other);
	cr_assert_eq(third.refs, 1u);
}

static void read_rank(struct stage *s, const struct list *list, uint32_t seed, uint32_t pid,
		      const struct found *f)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = rank_sequence(list->count, seed, 2, 1);
	struct loader l = loader_of(q, pid);
	uint32_t position, opens = 0;

	forget_verdicts(s);
	while (loader_step(&l, s, &position, &pid)) {
		stage_see(s, list->first + q->at[position], pid);
		if (++opens == 100 && f) {
			cr_assert(tracker_found(s->tracker, f));
			forget_verdicts(s);
		}
	}
	cr_assert_geq(s->verdicts[TRACKER_FITS], s->opens * 95 / 100, "of %u: %u of %u",
		      list->count, s->verdicts[TRACKER_FITS], s->opens);
}

/* Of ranks, who call set_epoch() for the training set only. */
Test(beside, follows_ranks)
{
	struct list other;
	struct stage s;

	open_both(&s, &other);
	for (uint32_t e = 0; e < EPOCHS; e++) {
		struct found train = { .list = &s.list, .seed = 7, .world = 2,
				       .ranks = { 1 }, .rank_count = 1 };
		struct found validation = train;

		validation.list = &other;
		validation.seed = 0;
		read_rank(&s, &s.list, 7 + e, 50 + 20 * e, e == 0 ? &train : NULL);
		expect_main(&s, &s.list, e);
		read_rank(&s, &other, 0, 60 + 20 * e, e == 0 ? &validation : NULL);
		expect_main(&s, &s.list, e);
	}
	close_both(&s, &other);
}

static void read_drawn(struct stage *s, struct list *list, uint32_t seed, uint32_t pid)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(list->count, seed, 0);
	struct found f = { .list = list, .seed = seed };
	struct loader l = loader_of(q, pid);
	uint32_t position, opens = 0;

	while (loader_step(&l, s, &position, &pid)) {
		stage_see(s, list->first + q->at[position], pid);
		if (++opens == 100)
			cr_assert(tracker_found(s->tracker, &f));
	}
}

/* An order that is drawn anew for each epoch says nothing of the next: it goes with its end. */
Test(beside, lets_go_of_what_does_not_come_again)
{
	struct list other;
	const struct course *c;
	struct lesson lesson;
	struct stage s;

	open_both(&s, &other);
	for (uint32_t e = 0; e < EPOCHS; e++) {
		read_drawn(&s, &s.list, 3000000000u + e, 50 + 20 * e);
		expect_main(&s, &s.list, e);
		cr_assert(tracker_lesson(s.tracker, &lesson));
		cr_assert_eq(lesson.n, MANY);
		read_drawn(&s, &other, 2000000000u + e, 60 + 20 * e);
		expect_main(&s, &s.list, e);
		cr_assert_eq(tracker_courses(s.tracker, &c), 1);
	}
	close_both(&s, &other);
}

/* One that nobody else's epochs come between is no validation set, but another script's. */
Test(beside, takes_the_place_of_what_nobody_reads)
{
	struct list other;
	struct stage s;

	open_both(&s, &other);
	read_drawn(&s, &s.list, 3000000000u, 50);
	for (uint32_t e = 0; e < EPOCHS; e++)
		read_drawn(&s, &other, 2000000000u + e, 60 + 20 * e);
	cr_assert_eq(tracker_main(s.tracker)->list, &other);
	close_both(&s, &other);
}

static void read_some(struct stage *s, struct list *list, uint32_t seed, uint32_t pid)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(list->count, seed, 0);
	struct found f = { .list = list, .seed = seed };

	for (uint32_t i = 0; i < 150; i++)
		stage_see(s, list->first + q->at[i], pid);
	cr_assert(tracker_found(s->tracker, &f));
}

/* And so is one that is left alone, since the main one is not what is read. */
Test(beside, takes_the_place_of_what_is_refuted)
{
	const struct course *main;
	struct list other;
	struct stage s;

	open_both(&s, &other);
	read_some(&s, &s.list, 3000000000u, 50);
	read_some(&s, &other, 2000000000u, 60);
	expect_main(&s, &s.list, 0);
	for (uint32_t i = 0; i < 200; i++)
		stage_see(&s, s.list.first + stage_draw(&s, MANY), 50);
	main = tracker_main(s.tracker);
	cr_assert_not_null(main);
	cr_assert_eq(main->list, &other);
	cr_assert(!main->sequential, "its lead begins anew");
	close_both(&s, &other);
}

/* Or since its files are those of nobody's list any more. */
Test(beside, takes_the_place_of_what_is_lost_with_the_dataset)
{
	struct list other, *lists[] = { &other };
	struct renewed renewed = { &other, &other };
	struct stage s;

	open_both(&s, &other);
	read_some(&s, &s.list, 3000000000u, 50);
	read_some(&s, &other, 2000000000u, 60);
	expect_main(&s, &s.list, 0);
	cr_assert_eq(tracker_again(s.tracker, &s.spec, lists, 1, NULL, &renewed, 1), 0);
	expect_main(&s, &other, 0);
	cr_assert(!tracker_main(s.tracker)->sequential, "its lead begins anew");
	cr_assert_eq(s.list.refs, 1u);
	close_both(&s, &other);
}

/* Who was alone beside that one was not so beside this one. */
Test(beside, takes_no_place_for_what_was_read_beside_another)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(MANY, 3000000000u, 0);
	struct list other, third = { 1, 2 * OTHERS, FEW / 2 };
	struct list *lists[] = { NULL, &other, &third };
	struct stage s;

	open_both(&s, &other);
	lists[0] = &s.list;
	cr_assert(tracker_lists(s.tracker, lists, 3));
	read_some(&s, &s.list, 3000000000u, 50);
	read_some(&s, &other, 2000000000u, 60);
	read_drawn(&s, &third, 1000000000u, 70);
	expect_main(&s, &s.list, 0);
	for (uint32_t i = 0; i < 1000; i++)    /* what it has had: nothing of it is its own */
		stage_see(&s, s.list.first + q->at[stage_draw(&s, 150)], 50);
	cr_assert_eq(tracker_main(s.tracker)->list, &other);
	read_drawn(&s, &third, 1000000001u, 80);
	cr_assert_eq(tracker_main(s.tracker)->list, &other);
	close_both(&s, &other);
	cr_assert_eq(third.refs, 1u);
}

/* Nor for a list that lies where another one did. */
Test(beside, takes_no_place_for_what_was_read_of_another_dataset)
{
	struct list other, *lists[] = { NULL, &other };
	struct renewed renewed;
	struct stage s;

	open_both(&s, &other);
	lists[0] = &s.list;
	renewed = (struct renewed){ &s.list, &s.list };
	read_some(&s, &s.list, 3000000000u, 50);
	read_drawn(&s, &other, 2000000000u, 60);
	cr_assert_eq(tracker_again(s.tracker, &s.spec, lists, 2, NULL, &renewed, 1), 0);
	read_drawn(&s, &other, 2000000001u, 70);
	expect_main(&s, &s.list, 0);
	cr_assert(tracker_lists(s.tracker, lists, 2));
	read_drawn(&s, &other, 2000000002u, 80);
	expect_main(&s, &s.list, 0);
	close_both(&s, &other);
}
