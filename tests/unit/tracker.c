/* Simulated DataLoaders before a tracker. */
#include "base/clock.h"
#include "tests/lib/script_stage.h"

static const struct script_case {
	const char *why;
	enum script script;
	uint32_t n, workers, batch, tail;      /* tail: positions that drop_last leaves */
	bool pids;
	uint32_t misses;               /* at most, in each epoch */
} scripts[] = {
	{ "no workers", PLAIN, 1000, 0, 16, 0, true, 8 },
	{ "one worker", PLAIN, 1000, 1, 16, 0, true, 8 },
	{ "four workers", PLAIN, 1000, 4, 16, 0, true, 16 },
	{ "eight workers", PLAIN, 5000, 8, 64, 0, true, 32 },
	{ "batches of one", PLAIN, 1000, 4, 1, 0, true, 16 },
	{ "without pids", PLAIN, 1000, 4, 16, 0, false, 16 },
	{ "persistent workers", PERSISTENT, 1000, 2, 16, 0, true, 16 },
	{ "a validation loader", VALIDATION, 1000, 2, 16, 0, true, 16 },
	{ "generator=g", GENERATOR, 1000, 2, 16, 0, true, 16 },
	{ "drop_last", PLAIN, 1000, 4, 16, 15, true, 16 },
	{ "few samples", PLAIN, 300, 4, 16, 0, true, 16 },
	{ "very few", PLAIN, 60, 2, 8, 0, false, 16 },
	{ "few, generator=g", GENERATOR, 300, 4, 8, 0, false, 16 },
	{ "many", PLAIN, 100000, 8, 32, 0, true, 32 },
	{ "many, batches of 256", PLAIN, 50000, 8, 256, 0, false, 32 },
};

Test(tracker, follows_the_script_with_the_told_seed, .timeout = 100)
{
	for (size_t i = 0; i < DL_COUNT(scripts); i++) {
		const struct script_case *c = &scripts[i];
		struct stage s;

		stage_open(&s, "torch:seed=7", c->n, NULL);
		for (uint32_t e = 0; e < 3; e++) {
			dl_cleanup(sequence_unrefp) struct sequence *q =
				epoch_of(c->script, c->n, e);
			dl_cleanup(sequence_unrefp) struct sequence *after =
				epoch_of(c->script, c->n, e + 1);
			struct loader l = { .sequence = q, .to = c->n - c->tail,
					    .workers = c->workers, .batch = c->batch,
					    .pid = c->pids ? 50 + 10 * e : 0 };
			const struct course *main;

			forget_verdicts(&s);
			while (loader_open(&l, &s))
				;
			main = tracker_main(s.tracker);
			cr_assert_not_null(main, "%s, epoch %u: no course", c->why, e);
			cr_assert_eq(main->epoch, e, "%s: epoch %u is taken for %u", c->why, e,
				     (unsigned)main->epoch);
			cr_assert(same(main->sequence, q), "%s, epoch %u: another order",
				  c->why, e);
			cr_assert_eq(main->front, c->n - c->tail, "%s, epoch %u: front %u", c->why,
				     e, main->front);
			cr_assert_leq(s.opens - s.verdicts[TRACKER_FITS], c->misses,
				      "%s, epoch %u: %u of %u fit, %u mispredicted", c->why, e,
				      s.verdicts[TRACKER_FITS], s.opens,
				      s.verdicts[TRACKER_MISPREDICTED]);
			cr_assert(e == 0 || same(main->next, after),
				  "%s, epoch %u: another next order", c->why, e);
		}
		cr_assert_eq(tracker_state(s.tracker), TRACKER_CONFIRMED, "%s", c->why);
		cr_assert_eq(tracker_mispredicted(s.tracker), 0u, "%s: %lu mispredicted", c->why,
			     (unsigned long)tracker_mispredicted(s.tracker));
		stage_close(&s);
	}
}

/* --- Other things that happen --------------------------------------------------------- */

Test(tracker, resumes_in_mid_epoch)
{
	static const struct { uint32_t n, from; const char *spec; unsigned workers; } cases[] = {
		{ 4000, 2400, "torch-distributed:seed=11,world=1", 2 },
		{ 4000, 2400, "torch:seed=7", 4 },
		{ 300, 150, "torch:seed=7", 2 },
		{ 60000, 50000, "torch:seed=7", 0 },
	};

	for (size_t i = 0; i < DL_COUNT(cases); i++) {
		uint32_t n = cases[i].n;
		bool torch = strcmp(cases[i].spec, "torch:seed=7") == 0;
		dl_cleanup(sequence_unrefp) struct sequence *q =
			torch ? epoch_of(PLAIN, n, 0) : torch_sequence(n, 11, 0);
		dl_cleanup(sequence_unrefp) struct sequence *after =
			torch ? epoch_of(PLAIN, n, 1) : torch_sequence(n, 12, 0);
		struct stage s;

		stage_open(&s, cases[i].spec, n, NULL);
		read_all(&s, q, cases[i].from, n, cases[i].workers, 50);
		/* Few samples: what was left behind is not told from what is late. */
		cr_assert(n == 300 || main_course(&s, q)->front == n, "%s, %u of %u: front %u",
			  cases[i].spec, cases[i].from, n, main_course(&s, q)->front);
		cr_assert_eq(main_course(&s, q)->reach, n);
		expect_misses(&s, 100, cases[i].spec);
		forget_verdicts(&s);
		read_all(&s, after, 0, n, cases[i].workers, 60);
		cr_assert_eq(main_course(&s, after)->epoch, 1u);
		expect_misses(&s, 16, "the next epoch");
		stage_close(&s);
	}
}

Test(tracker, an_abandoned_epoch_is_left)
{
	dl_cleanup(sequence_unrefp) struct sequence *first = epoch_of(PLAIN, 1000, 0);
	dl_cleanup(sequence_unrefp) struct sequence *second = epoch_of(PLAIN, 1000, 1);
	struct stage s;

	stage_open(&s, "torch:seed=7", 1000, NULL);
	read_all(&s, first, 0, 64, 2, 50);
	read_all(&s, second, 0, 1000, 2, 60);
	cr_assert_eq(main_course(&s, second)->epoch, 1u);
	expect_misses(&s, 32, "two epochs");
	stage_close(&s);
}

Test(tracker, a_wrong_order_is_noticed_and_the_right_one_found_again)
{
	dl_cleanup(sequence_unrefp) struct sequence *right = epoch_of(PLAIN, 2000, 0);
	dl_cleanup(sequence_unrefp) struct sequence *wrong = torch_sequence(2000, 99, 0);
	struct stage s;
	const struct course *c;

	stage_open(&s, "torch:seed=7", 2000, NULL);
	read_all(&s, wrong, 0, 1000, 2, 50);
	cr_assert_eq(tracker_state(s.tracker), TRACKER_SEARCHING);
	cr_assert_null(tracker_main(s.tracker));
	read_all(&s, right, 0, 1000, 2, 60);
	cr_assert_geq(main_course(&s, right)->front, 990u, "front %u",
		      main_course(&s, right)->front);
	forget_verdicts(&s);
	read_all(&s, wrong, 1000, 1040, 2, 70);
	cr_assert_neq(tracker_state(s.tracker), TRACKER_CONFIRMED, "most of the last did not fit");
	read_all(&s, wrong, 1040, 1300, 2, 70);
	cr_assert_eq(tracker_state(s.tracker), TRACKER_SEARCHING, "300 wrong opens: state %d",
		     (int)tracker_state(s.tracker));
	cr_assert_gt(s.verdicts[TRACKER_MISPREDICTED], 30u);
	for (size_t i = 0; i < tracker_courses(s.tracker, &c); i++)
		cr_assert(c[i].provisional);
	read_all(&s, right, 1000, 2000, 2, 80);
	cr_assert_eq(main_course(&s, right)->front, 2000u);
	stage_close(&s);
}

Test(tracker, garbage_is_never_believed)
{
	static const char *const specs[] = { "torch:seed=7", "torch-distributed:seed=1,world=2",
					     "sequential" };

	for (size_t i = 0; i < DL_COUNT(specs); i++) {
		struct stage s;

		stage_open(&s, specs[i], 3000, NULL);
		for (int k = 0; k < 20000; k++)
			stage_see(&s, FIRST_ID + stage_draw(&s, 3000), 50);
		cr_assert_eq(tracker_state(s.tracker), TRACKER_SEARCHING, "%s", specs[i]);
		stage_close(&s);
	}
}

Test(tracker, each_sample_opened_twice_is_one_use)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(PLAIN, 1000, 0);
	struct stage s;

	stage_open(&s, "torch:seed=7", 1000, NULL);
	for (uint32_t i = 0; i < 1000; i++)
		for (int twice = 0; twice < 2; twice++)
			stage_see(&s, FIRST_ID + q->at[i], 50);
	cr_assert_eq(main_course(&s, q)->front, 1000u);
	expect_misses(&s, 16, "twice");
	stage_close(&s);
}

Test(tracker, a_list_with_samples_that_repeat)
{
	struct list_epochs listed = { calloc(2, sizeof(struct sequence *)), 2 };
	dl_cleanup(sequence_unrefp) struct sequence *first = sequence_new(500, 500);
	dl_cleanup(sequence_unrefp) struct sequence *second = sequence_new(500, 500);
	struct stage s = { .random = { 5 } };

	for (uint32_t i = 0; i < 500; i++) {
		first->at[i] = stage_draw(&s, 500);
		second->at[i] = stage_draw(&s, 500);
	}
	listed.at[0] = sequence_ref(first);
	listed.at[1] = sequence_ref(second);
	stage_open(&s, "list:x", 500, &listed);
	read_all(&s, first, 0, 500, 2, 50);
	cr_assert_geq(main_course(&s, first)->front, 480u);
	expect_misses(&s, 40, "the first");
	forget_verdicts(&s);
	read_all(&s, second, 0, 500, 2, 60);
	cr_assert_eq(main_course(&s, second)->epoch, 1u);
	expect_misses(&s, 60, "the second");
	stage_close(&s);
}

Test(tracker, goes_on_after_lost_opens)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(PLAIN, 20000, 0);
	struct stage s;

	stage_open(&s, "torch:seed=7", 20000, NULL);
	read_all(&s, q, 0, 1000, 2, 50);
	tracker_overflow(s.tracker);
	read_all(&s, q, 3000, 12000, 2, 50);
	cr_assert_geq(main_course(&s, q)->reach, 12000u);
	cr_assert_geq(main_course(&s, q)->front, 12000u - TRACKER_SPREAD);
	stage_close(&s);
}

/* Of two readers one waits for the source while the other goes on through what is there. */
Test(tracker, who_waits_is_not_passed_by)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(PLAIN, 8000, 0);
	const struct course *all;
	struct stage s;

	stage_open(&s, "torch:seed=7", 8000, NULL);
	read_all(&s, q, 0, 1000, 2, 50);
	read_all(&s, q, 1016, 1500, 1, 51);
	cr_assert_eq(main_course(&s, q)->front, 1000u);
	read_all(&s, q, 1000, 1016, 1, 50);
	cr_assert_eq(main_course(&s, q)->front, 1500u);
	cr_assert_eq(tracker_courses(s.tracker, &all), 1u);

	/* For a second; and then for nobody until somebody comes after all. */
	read_all(&s, q, 1516, 2000, 1, 51);
	cr_assert_eq(main_course(&s, q)->front, 1500u);
	s.now += 2 * CLOCK_S;
	read_all(&s, q, 2000, 2064, 1, 51);
	cr_assert_gt(main_course(&s, q)->front, 1516u);
	read_all(&s, q, 2080, 2500, 1, 51);
	cr_assert_gt(main_course(&s, q)->front, 2080u);
	stage_see(&s, list_at(&s.list, q->at[2070]), 50);
	read_all(&s, q, 2516, 3000, 1, 51);
	cr_assert_eq(main_course(&s, q)->front, 2500u);
	stage_close(&s);
}

Test(tracker, an_epoch_that_is_told)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(1000, 15, 0);
	struct stage s;

	stage_open(&s, "torch-distributed:seed=5,world=1", 1000, NULL);
	tracker_epoch(s.tracker, 10);
	read_all(&s, q, 0, 1000, 2, 50);
	cr_assert_eq(main_course(&s, q)->epoch, 10u);
	expect_misses(&s, 16, "epoch 10");
	stage_close(&s);
}

Test(tracker, no_epoch_comes_after_the_last)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(1000, 5, 0);
	dl_cleanup(sequence_unrefp) struct sequence *last = torch_sequence(1000, 6, 0);
	struct stage s;

	stage_open(&s, "torch-distributed:seed=5,world=1,epochs=2", 1000, NULL);
	cr_assert_eq(tracker_epoch(s.tracker, 2), -ERANGE);
	read_all(&s, q, 0, 1000, 2, 50);
	cr_assert_not_null(main_course(&s, q)->next);
	read_all(&s, last, 0, 1000, 2, 60);
	cr_assert_null(main_course(&s, last)->next, "what nobody will read is fetched");
	read_all(&s, q, 0, 500, 2, 70);
	cr_assert_eq(main_course(&s, q)->epoch, 0u, "the script was started again");
	cr_assert_eq(tracker_mispredicted(s.tracker), 0u);
	stage_close(&s);
}

Test(tracker, none_follows_nothing)
{
	const struct course *c;
	struct stage s;

	stage_open(&s, "none", 1000, NULL);
	for (uint32_t i = 0; i < 1000; i++)
		cr_assert_eq(stage_see(&s, FIRST_ID + i, 50), TRACKER_STRANGE);
	cr_assert_eq(tracker_courses(s.tracker, &c), 0u);
	cr_assert_eq(tracker_state(s.tracker), TRACKER_NONE);
	stage_close(&s);
}

Test(tracker, says_that_files_are_read_by_name)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	struct stage s;

	stage_open(&s, "auto", 1000, NULL);
	cr_assert_eq(tracker_describe_main(s.tracker, &text), 0);
	cr_assert_eq(text.len, 0u);
	for (uint32_t i = 0; i < 200; i++)
		stage_see(&s, FIRST_ID + i, 90);
	cr_assert_eq(tracker_describe_main(s.tracker, &text), 0);
	cr_assert(text.len == 10 && memcmp(text.at, "sequential", 10) == 0, "%.*s", (int)text.len,
		  (char *)text.at);
	cr_assert_not(tracker_unfit(s.tracker));
	stage_close(&s);
}
