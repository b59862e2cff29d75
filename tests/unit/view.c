/* What the tracker says of itself, to people. */
#include "tests/lib/stage.h"

static void read_all(struct stage *s, const struct sequence *q, uint32_t from, uint32_t to,
		     unsigned workers, uint32_t pid)
{
	struct loader l = { .sequence = q, .from = from, .to = to, .workers = workers,
			    .batch = 16, .pid = pid };

	while (loader_open(&l, s))
		;
}

static bool describes(const struct stage *s, const char *what)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;

	cr_assert_eq(tracker_describe(s->tracker, &text), 0);
	return strstr((char *)text.at, what);
}

Test(view, a_look_at_a_few_files_is_not_described)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(1000, word_of(7, 3), 0);
	struct stage s;

	stage_open(&s, "torch:seed=7", 1000, NULL);
	read_all(&s, q, 0, 300, 2, 50);
	for (uint32_t i = 0; i < 10; i++)
		stage_see(&s, FIRST_ID + 200 + i, 90);
	read_all(&s, q, 300, 600, 2, 50);
	cr_assert_not(describes(&s, "sequential"));
	for (uint32_t i = 10; i < 110; i++)
		stage_see(&s, FIRST_ID + 200 + i, 90);
	cr_assert(describes(&s, "\nbeside it: sequential; epoch 0, position 310 of 1000"));
	cr_assert_eq(tracker_main(s.tracker)->front, 600u);
	stage_close(&s);
}

/* In a small dataset all lies in its window. */
Test(view, a_look_at_a_few_files_does_not_hide_what_begins_anew)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(300, 7, 0);
	dl_cleanup(sequence_unrefp) struct sequence *next = torch_sequence(300, 8, 0);
	struct stage s;

	stage_open(&s, "torch-distributed:seed=7,world=1", 300, NULL);
	read_all(&s, q, 0, 300, 2, 50);
	read_all(&s, next, 0, 300, 2, 60);
	for (uint32_t i = 0; i < 10; i++)
		stage_see(&s, FIRST_ID + i, 90);
	read_all(&s, q, 0, 300, 2, 70);
	cr_assert_eq(tracker_main(s.tracker)->epoch, 0u, "the script was started again");
	cr_assert_not(describes(&s, "sequential"));
	stage_close(&s);
}

Test(view, what_is_read_by_name_is_what_auto_follows)
{
	const struct course *c;
	struct stage s;

	stage_open(&s, "auto", 1000, NULL);
	for (uint32_t i = 0; i < 50; i++)
		stage_see(&s, FIRST_ID + i, 90);
	cr_assert_eq(tracker_state(s.tracker), TRACKER_SEARCHING, "it may be a look");
	for (uint32_t i = 50; i < 1100; i++)
		stage_see(&s, FIRST_ID + i % 1000, 90);
	c = tracker_main(s.tracker);
	cr_assert_eq(tracker_state(s.tracker), TRACKER_CONFIRMED);
	cr_assert(c && c->epoch == 1 && c->front == 100);
	cr_assert_not(describes(&s, "beside"));
	for (uint32_t i = 0; i < 100; i++)
		stage_see(&s, FIRST_ID + stage_draw(&s, 1000), 91);
	cr_assert_eq(tracker_state(s.tracker), TRACKER_SEARCHING, "something else is read now");
	stage_close(&s);
}

Test(view, who_reads_beside_comes_after_and_only_while_he_reads)
{
	struct stage s;

	stage_open(&s, "auto", 1000, NULL);
	for (uint32_t i = 0; i < 1000; i++) {
		stage_see(&s, FIRST_ID + i, 90);
		if (i >= 400)
			stage_see(&s, FIRST_ID + i - 400, 91);
	}
	cr_assert(describes(&s, "\nsequential; epoch 0, position 600 of 1000"));
	cr_assert_not(describes(&s, "beside"), "nobody reads what is at its end");
	for (uint32_t i = 0; i < 200; i++) {
		stage_see(&s, FIRST_ID + i, 90);
		stage_see(&s, FIRST_ID + 600 + i, 91);
	}
	cr_assert(describes(&s, "confirmed\nsequential; epoch 0, position 800 of 1000"));
	cr_assert(describes(&s, "\nbeside it: sequential; epoch 1, position 200 of 1000"));
	stage_close(&s);
}

/* Of which auto bets that it comes again. */
Test(view, an_epoch_like_none_before_is_no_way_to_read_what_was_told)
{
	dl_cleanup(sequence_unrefp) struct sequence *one = torch_sequence(1000, 7, 0);
	dl_cleanup(sequence_unrefp) struct sequence *other = torch_sequence(1000, 8, 0);
	struct stage s;

	stage_open(&s, "auto", 1000, NULL);
	read_all(&s, one, 0, 1000, 2, 50);
	read_all(&s, other, 0, 500, 2, 50);
	cr_assert(describes(&s, "searching\nthe last opens come in no order that is known\n"));
	stage_close(&s);
}

Test(view, describes_itself)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(1000, word_of(7, 3), 0);
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	dl_cleanup(sequence_unrefp) struct sequence *wrong = torch_sequence(1000, 99, 0);
	struct stage s;

	stage_open(&s, "torch:seed=7", 1000, NULL);
	tracker_epoch(s.tracker, 3);
	cr_assert_eq(tracker_describe(s.tracker, &text), 0);
	cr_assert_not_null(strstr((char *)text.at, "next epoch: 3\nwaits for the first opens; "),
			   "%s", text.at);
	cr_assert_null(strstr((char *)text.at, "perhaps"), "%s", text.at);
	cr_assert_not(tracker_unfit(s.tracker));
	cr_assert_eq(tracker_state(s.tracker), TRACKER_BELIEVED);
	buf_free(&text);
	tracker_epoch(s.tracker, 0);
	read_all(&s, wrong, 0, 200, 2, 40);
	cr_assert(tracker_unfit(s.tracker));
	cr_assert_eq(tracker_describe_main(s.tracker, &text), 0);
	cr_assert_eq(text.len, 0u);
	cr_assert_eq(tracker_describe(s.tracker, &text), 0);
	cr_assert_not_null(strstr((char *)text.at, "fit none of the "), "%s", text.at);
	buf_free(&text);
	read_all(&s, q, 0, 500, 2, 50);
	cr_assert_eq(tracker_describe(s.tracker, &text), 0);
	cr_assert_not_null(strstr((char *)text.at, "manual_seed(7)"), "%s", text.at);
	cr_assert_not(tracker_unfit(s.tracker));
	tracker_epoch(s.tracker, 2);
	cr_assert_not(tracker_unfit(s.tracker));
	cr_assert_eq(tracker_state(s.tracker), TRACKER_BELIEVED);
	stage_close(&s);
}
