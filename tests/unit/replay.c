/* Orders that nothing explains, before the tracker. */
#include "tests/lib/stage.h"

#define N 2000u

/* A list that was shuffled by something unknown, and is read so in every epoch. */
Test(replay, expects_an_epoch_that_nothing_explains_to_come_again)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(N, 3000000000u, 0);
	struct stage s;

	stage_open(&s, "auto", N, NULL);
	for (unsigned workers = 0; workers <= 4; workers += 2) {
		struct loader l = { .sequence = q, .to = q->length, .workers = workers,
				    .batch = 16, .pid = 50 + workers };

		for (unsigned e = 0; e < 2; e++) {
			l.consumed = 0;
			memset(l.done, 0, sizeof(l.done));
			forget_verdicts(&s);
			while (loader_open(&l, &s))
				;
		}
		cr_assert_geq(s.verdicts[TRACKER_FITS], N * 95 / 100, "%u workers: %u of %u",
			      workers, s.verdicts[TRACKER_FITS], s.opens);
		cr_assert_not_null(tracker_main(s.tracker));
		cr_assert_not_null(tracker_main(s.tracker)->next, "the epoch after is the same");
	}
	stage_close(&s);
}

static bool expects_something(const struct stage *s)
{
	const struct course *c;

	return tracker_courses(s->tracker, &c) > 0;
}

/* More programs shuffle anew than do not: nothing is fetched until it is seen. */
Test(replay, does_not_bet_on_an_epoch_that_comes_again)
{
	struct stage s;

	stage_open(&s, "auto", N, NULL);
	for (uint32_t e = 0; e < 4; e++) {
		dl_cleanup(sequence_unrefp) struct sequence *q =
			torch_sequence(N, DL_MIN(e, 2u) + 3000000000u, 0);
		struct loader l = loader_of(q, 50 + 10 * e);

		cr_assert(!expects_something(&s), "epoch %u", e);
		loader_read(&l, &s, 64);
		cr_assert_eq(expects_something(&s), e == 3, "epoch %u", e);
		while (e < 3 && loader_open(&l, &s))
			;
	}
	stage_close(&s);
}

/* What the last run had is fetched before any open; but not for long, if this one has another. */
Test(replay, a_wrong_recollection_is_dropped_at_once)
{
	struct sequence *before = torch_sequence(N, 3000000000u, 0);
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(N, 3000000001u, 0);
	struct loader l = loader_of(q, 50);
	struct stage s;

	stage_open(&s, "auto", N, NULL);
	tracker_recall(s.tracker, &s.list, before);
	sequence_unref(before);
	cr_assert(expects_something(&s));
	loader_read(&l, &s, 100);
	cr_assert(expects_something(&s));
	loader_read(&l, &s, 60);                 /* one open in some may agree by chance */
	cr_assert(!expects_something(&s));
	while (loader_open(&l, &s))
		;
	cr_assert(!expects_something(&s));
	stage_close(&s);
}

/* The next run of such a program is known from its first opens. */
Test(replay, recalls_what_nothing_explained_in_an_earlier_run)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(N, 3000000000u, 0);
	dl_cleanup(sequence_unrefp) struct sequence *kept = NULL;
	struct loader first = loader_of(q, 50), second = loader_of(q, 60);
	struct list *over;
	struct stage s;

	stage_open(&s, "auto", N, NULL);
	while (loader_open(&first, &s))
		;
	kept = (struct sequence *)tracker_written(s.tracker, &over);
	cr_assert_not_null(kept, "its last open ended it");
	cr_assert_eq(over, &s.list);
	cr_assert_eq(kept->length, N);
	cr_assert(!tracker_replays(s.tracker));
	sequence_ref(kept);
	stage_close(&s);

	stage_open(&s, "auto", N, NULL);
	tracker_recall(s.tracker, &s.list, kept);
	cr_assert_null(tracker_written(s.tracker, &over), "it is not of this run");
	loader_read(&second, &s, 32);
	cr_assert(tracker_replays(s.tracker));
	forget_verdicts(&s);
	while (loader_open(&second, &s))
		;
	cr_assert_eq(s.verdicts[TRACKER_FITS], s.opens);
	stage_close(&s);
}

/* The lists of the folder that is read are made when some of its files were opened. */
Test(replay, goes_on_with_a_better_list)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(N, 3000000000u, 0);
	struct list better = { 1, FIRST_ID, N }, *lists = &better, *over;
	struct loader l = loader_of(q, 50);
	const struct sequence *kept;
	struct stage s;

	stage_open(&s, "auto", N + 300, NULL);
	loader_read(&l, &s, 40);
	cr_assert(tracker_lists(s.tracker, &lists, 1));
	while (loader_open(&l, &s))
		;
	kept = tracker_written(s.tracker, &over);
	cr_assert_not_null(kept);
	cr_assert_eq(over, &better);
	cr_assert_eq(kept->length, N);
	stage_close(&s);
	cr_assert_eq(better.refs, 1);
}
