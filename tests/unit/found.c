/* What a search found, before the tracker. */
#include "tests/lib/stage.h"

#define N 2000u

static struct found found_of(struct stage *s, uint32_t seed)
{
	return (struct found){ .list = &s->list, .seed = seed };
}

Test(found, is_followed_if_the_opens_agree)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(N, 99, 0);
	struct loader l = loader_of(q, 50);
	struct stage s;
	struct found right, wrong, foreign;
	struct list other = { 1, FIRST_ID, N };
	uint32_t took = 0;

	stage_open(&s, "auto", N, NULL);
	right = found_of(&s, 99);
	wrong = found_of(&s, 98);
	foreign = (struct found){ .list = &other, .seed = 99 };
	cr_assert(!tracker_found(s.tracker, &right), "before any open");
	loader_read(&l, &s, 500);
	cr_assert(!tracker_took(s.tracker));
	cr_assert(!tracker_found(s.tracker, &wrong));
	cr_assert(!tracker_found(s.tracker, &foreign), "of a list that nobody gave");
	cr_assert_null(tracker_main(s.tracker));
	cr_assert_eq(tracker_state(s.tracker), TRACKER_SEARCHING);
	cr_assert(tracker_found(s.tracker, &right));
	forget_verdicts(&s);
	while (loader_open(&l, &s))
		took += tracker_took(s.tracker);
	cr_assert_geq(took, s.opens * 9 / 10, "%u of %u", took, s.opens); /* but a batch's first */
	cr_assert_eq(s.verdicts[TRACKER_FITS], s.opens);
	cr_assert_eq(tracker_main(s.tracker)->front, N);
	cr_assert_eq(tracker_state(s.tracker), TRACKER_CONFIRMED);
	cr_assert_eq(other.refs, 1);
	stage_close(&s);
}

/* A seed that was drawn says nothing of the next epoch, which is found anew and counted on. */
Test(found, counts_epochs)
{
	static const uint32_t seeds[] = { 3000000000u, 1000000000u, 2000000000u };
	struct stage s;

	stage_open(&s, "auto", N, NULL);
	for (uint32_t e = 0; e < DL_COUNT(seeds); e++) {
		dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(N, seeds[e], 0);
		struct loader l = loader_of(q, 50 + 10 * e);
		struct found f = found_of(&s, seeds[e]);

		loader_read(&l, &s, 40);
		cr_assert(tracker_found(s.tracker, &f), "epoch %u", e);
		while (loader_open(&l, &s))
			;
		cr_assert_eq(tracker_main(s.tracker)->epoch, e);
		cr_assert_eq(tracker_main(s.tracker)->front, N);
		cr_assert_null(tracker_main(s.tracker)->next);
	}
	stage_close(&s);
}

/* One that accelerate's ranks share goes on all the same, and so does the one of detectron2's
 * TrainingSampler, without a permutation that is thrown away; nothing is fetched for it before it
 * has done so once. */
Test(found, goes_on_with_a_generator_that_was_drawn)
{
	static const uint64_t words[] = { 2 * (N - 1), N - 1 };

	for (uint32_t i = 0; i < 4 * DL_COUNT(words); i++) {
		uint32_t e = i % 4;
		uint64_t skip = e * words[i / 4];
		static struct found f;
		static struct stage s;
		struct loader l;
		const struct course *c;
		dl_cleanup(sequence_unrefp) struct sequence *q = NULL;
		dl_cleanup(sequence_unrefp) struct sequence *after = NULL;

		if (e == 0)
			stage_open(&s, "auto", N, NULL);
		f = found_of(&s, 2000000000u);
		q = torch_sequence(N, f.seed, skip);
		after = torch_sequence(N, f.seed, skip + words[i / 4]);
		l = loader_of(q, 50 + 10 * e);
		loader_read(&l, &s, 100);
		cr_assert(e > 0 || tracker_found(s.tracker, &f));
		c = tracker_main(s.tracker);
		cr_assert_eq(c->epoch, e);
		cr_assert_arr_eq(c->sequence->at, q->at, N * sizeof(q->at[0]));
		cr_assert_eq(c->next != NULL, e > 0);
		if (e > 0)
			cr_assert_arr_eq(c->next->at, after->at, N * sizeof(q->at[0]),
					 "words %lu, epoch %u", words[i / 4], e);
		while (loader_open(&l, &s))
			;
		if (e == 3)
			stage_close(&s);
	}
}

/* Ranks that share batches: what is missing at the end is taken from the beginning. */
Test(found, takes_no_padding_for_an_epoch)
{
	struct found f;
	struct stage s;

	stage_open(&s, "auto", N, NULL);
	f = found_of(&s, 42);
	for (uint32_t e = 0; e < 3; e++) {
		dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(N, 42 + e, 0);
		struct loader l = loader_of(q, 50);

		loader_read(&l, &s, 100);
		cr_assert(e > 0 || tracker_found(s.tracker, &f));
		cr_assert_eq(tracker_main(s.tracker)->epoch, e);
		while (loader_open(&l, &s))
			;
		for (uint32_t i = 0; i < 16; i++)
			stage_see(&s, FIRST_ID + q->at[i], 51);
	}
	stage_close(&s);
}

Test(found, knows_what_follows_a_seed_that_was_chosen)
{
	dl_cleanup(sequence_unrefp) struct sequence *now = torch_sequence(N, 42, 0);
	dl_cleanup(sequence_unrefp) struct sequence *next = torch_sequence(N, 43, 0);
	struct loader l = loader_of(now, 50);
	const struct course *c;
	struct found f;
	struct stage s;

	stage_open(&s, "auto", N, NULL);
	f = found_of(&s, 42);
	loader_read(&l, &s, 100);
	cr_assert(tracker_found(s.tracker, &f));
	loader_read(&l, &s, 100);
	c = tracker_main(s.tracker);
	cr_assert_not_null(c->next);
	cr_assert_arr_eq(c->next->at, next->at, N * sizeof(next->at[0]));
	stage_close(&s);
}

/* A generator that is passed along: with workers that stay, base_seed is drawn but once. */
Test(found, knows_how_a_generator_goes_on)
{
	for (unsigned stay = 0; stay < 2; stay++) {
		struct found f;
		struct stage s;

		stage_open(&s, "auto", N, NULL);
		f = found_of(&s, 11);
		f.skip = 2;
		for (uint32_t e = 0; e < 4; e++) {
			uint64_t skip = 2 + e * (2 * (N - 1) + (stay ? 0 : 2));
			dl_cleanup(sequence_unrefp) struct sequence *q =
				torch_sequence(N, 11, skip);
			struct loader l = loader_of(q, stay ? 50 : 50 + 10 * e);

			loader_read(&l, &s, 100);
			if (e == 0)
				cr_assert(tracker_found(s.tracker, &f));
			cr_assert_eq(tracker_main(s.tracker)->epoch, e, "stay %u, epoch %u", stay,
				     e);
			while (loader_open(&l, &s))
				;
		}
		stage_close(&s);
	}
}

#define SOME 1000u
#define EPOCHS 3u

/* What frameworks read: seed and words before in the first epoch, what is added for each. */
static const struct framework {
	const char *name;
	uint32_t seed, seed_step;
	uint64_t skip, skip_step;
	bool stay;                     /* its workers */
	uint32_t first[EPOCHS][3], last[EPOCHS];       /* as it gives them itself, or 0 */
} frameworks[] = {
	{ "accelerate, HF Trainer", 42, 1, 0, 0, false,
	  { { 542, 618, 816 }, { 588, 148, 223 }, { 732, 96, 853 } }, { 455, 439, 326 } },
	{ "Ultralytics", 1431655764, 0, 2, 2 * (SOME - 1), true,
	  { { 543, 204, 436 }, { 868, 555, 872 }, { 430, 466, 26 } }, { 719, 400, 429 } },
	{ "detectron2", UINT32_MAX, 0, 0, SOME - 1, true, { { 0 } }, { 0 } },
	{ "a sampler's torch.Generator()", 4053586177, 0, 0, 2 * (SOME - 1), false,
	  { { 0 } }, { 0 } },
};

/* One epoch was found; those that follow are known before they begin. */
Test(found, knows_the_next_epochs_of_frameworks)
{
	for (size_t i = 0; i < DL_COUNT(frameworks); i++) {
		const struct framework *w = &frameworks[i];
		struct found f;
		struct stage s;

		stage_open(&s, "auto", SOME, NULL);
		f = found_of(&s, w->seed);
		f.skip = (uint32_t)w->skip;
		for (uint32_t e = 0; e < EPOCHS; e++) {
			dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(
				SOME, w->seed + e * w->seed_step, w->skip + e * w->skip_step);
			struct loader l = loader_of(q, w->stay ? 50 : 50 + 10 * e);

			if (w->first[e][0] > 0) {
				cr_assert_arr_eq(q->at, w->first[e], sizeof(w->first[e]));
				cr_assert_eq(q->at[SOME - 1], w->last[e]);
			}
			loader_read(&l, &s, 100);
			if (e == 0)
				cr_assert(tracker_found(s.tracker, &f), "%s", w->name);
			while (loader_open(&l, &s))
				;
			cr_assert_not_null(tracker_main(s.tracker), "%s, epoch %u", w->name, e);
			cr_assert_eq(tracker_main(s.tracker)->epoch, e, "%s, epoch %u", w->name, e);
			cr_assert_arr_eq(tracker_main(s.tracker)->sequence->at, q->at,
					 SOME * sizeof(q->at[0]), "%s, epoch %u", w->name, e);
		}
		stage_close(&s);
	}
}

/* A seed that was drawn says nothing, but an earlier run may. */
Test(found, knows_what_followed_in_an_earlier_run)
{
	dl_cleanup(sequence_unrefp) struct sequence *now = torch_sequence(N, 3000000000u, 0);
	dl_cleanup(sequence_unrefp) struct sequence *next = torch_sequence(N, 1000000000u, 0);
	struct loader l = loader_of(now, 50), second = loader_of(next, 60);
	static struct lessons lessons;
	struct lesson lesson;
	struct found f;
	struct stage s;

	lessons_add(&lessons, (struct lesson){ .n = N, .seed = 3000000000u });
	lessons_add(&lessons, (struct lesson){ .n = N, .seed = 1000000000u });
	stage_open(&s, "auto", N, NULL);
	tracker_teach(s.tracker, &lessons);
	f = found_of(&s, 3000000000u);
	loader_read(&l, &s, 40);
	cr_assert(tracker_found(s.tracker, &f));
	loader_read(&l, &s, 100);
	cr_assert(tracker_lesson(s.tracker, &lesson));
	cr_assert_eq(lesson.seed, 3000000000u);
	cr_assert_eq(lesson.n, N);
	cr_assert_not_null(tracker_main(s.tracker)->next);
	cr_assert_arr_eq(tracker_main(s.tracker)->next->at, next->at, N * sizeof(next->at[0]));
	while (loader_open(&l, &s))
		;
	loader_read(&second, &s, 200);
	cr_assert_eq(tracker_main(s.tracker)->epoch, 1);
	cr_assert(tracker_lesson(s.tracker, &lesson));
	cr_assert_eq(lesson.seed, 1000000000u);
	stage_close(&s);
}

/* The seed of the last run's last epoch, from its middle on. */
Test(found, resumes_where_the_last_run_ended)
{
	for (uint32_t world = 0; world <= 4; world += 4) {
		static struct lessons lessons;
		struct epoch rule = { .rule = world ? EPOCH_DISTRIBUTED : EPOCH_TORCH,
				      .seed = 3 };
		struct order_spec spec = { .world = world };
		dl_cleanup(sequence_unrefp) struct sequence *q = NULL;
		struct stage s;
		struct loader l;

		lessons.count = 0;
		lessons_add(&lessons, (struct lesson){ N, 2, 0, world, 0 });
		lessons_add(&lessons, (struct lesson){ N, 3, 0, world, 0 });
		lessons_begin(&lessons);
		cr_assert_eq(order_sequence(&spec, &rule, N, &q), 0);
		stage_open(&s, "auto", N, NULL);
		tracker_teach(s.tracker, &lessons);
		l = (struct loader){ .sequence = q, .from = 1200, .to = q->length, .workers = 4,
				     .batch = 16, .pid = 50 };
		loader_read(&l, &s, 200);
		forget_verdicts(&s);
		while (loader_open(&l, &s))
			;
		cr_assert_eq(s.verdicts[TRACKER_FITS], s.opens, "world %u: %u of %u", world,
			     s.verdicts[TRACKER_FITS], s.opens);
		cr_assert_eq(tracker_main(s.tracker)->sequence->at[1500], q->at[1500]);
		stage_close(&s);
	}
}

Test(found, expects_nothing_of_opens_at_random)
{
	struct stage s;

	stage_open(&s, "auto", N, NULL);
	for (unsigned i = 0; i < 5 * N; i++)   /* a sampler with replacement */
		stage_see(&s, FIRST_ID + stage_draw(&s, N), 50);
	for (uint32_t e = 0; e < 5; e++) {     /* and one that draws each epoch anew */
		dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(N, 1 + e, 0);
		struct loader l = loader_of(q, 50);

		while (loader_open(&l, &s))
			;
		cr_assert_null(tracker_main(s.tracker), "epoch %u", e);
	}
	stage_close(&s);
}

/* What a search says late, of opens that are remembered but belong to the epoch before. */
Test(found, is_not_believed_of_an_epoch_that_is_over)
{
	struct order_spec rank = { .world = 5, .ranks = (uint32_t[]){ 3 }, .rank_count = 1 };
	struct found f = { .seed = 973358, .world = 5, .ranks = { 3 }, .rank_count = 1 };
	struct stage s;

	stage_open(&s, "auto", N, NULL);
	f.list = &s.list;
	for (uint32_t e = 0; e < 2; e++) {
		struct epoch rule = { .rule = EPOCH_DISTRIBUTED, .seed = 973358 + e };
		dl_cleanup(sequence_unrefp) struct sequence *q = NULL;
		struct loader l = { .workers = 0, .batch = 4, .pid = 50 };

		cr_assert_eq(order_sequence(&rank, &rule, N, &q), 0);
		l.sequence = q;
		l.to = q->length;
		loader_read(&l, &s, 30);
		cr_assert_eq(tracker_found(s.tracker, &f), e == 0, "epoch %u", e);
		f.ranks[0] = 0;        /* another rank seems to have begun */
		f.ranks[1] = 3;
		f.rank_count = 2;
		while (loader_open(&l, &s))
			;
		cr_assert_eq(tracker_main(s.tracker)->epoch, e);
		cr_assert_arr_eq(tracker_main(s.tracker)->sequence->at, q->at,
				 q->length * sizeof(q->at[0]));
	}
	stage_close(&s);
}

static const struct turn_case {
	const char *why;
	uint32_t seeds[2];             /* which the tracker is told of the first one */
	uint32_t to;                   /* the first epoch is read so far */
	unsigned workers;
	uint32_t first_of;             /* which open of the second one begins a turn, at most */
} turns[] = {
	{ "all was read", { 3000000000u, 1000000000u }, N, 2, 0 },
	{ "without workers", { 3000000000u, 1000000000u }, N, 0, 0 },
	{ "drop_last", { 3000000000u, 1000000000u }, N - 15, 2, 1 },
	{ "drop_last, four workers", { 3000000000u, 1000000000u }, N - 60, 4, 2 },
	{ "the next one is known", { 42, 43 }, N, 2, 0 },
};

/* The search is told when the evidence that it has is of an epoch that is over. */
Test(found, counts_the_turns)
{
	for (size_t i = 0; i < DL_COUNT(turns); i++) {
		const struct turn_case *c = &turns[i];
		struct stage s;
		uint64_t turn;

		stage_open(&s, "auto", N, NULL);
		turn = tracker_turn(s.tracker);
		for (unsigned e = 0; e < 2; e++) {
			dl_cleanup(sequence_unrefp) struct sequence *q =
				torch_sequence(N, c->seeds[e], 0);
			struct loader l = loader_of(q, 50 + 10 * e);
			struct found f = found_of(&s, c->seeds[0]);

			l.workers = c->workers;
			l.to = e == 0 ? c->to : N / 2;
			loader_read(&l, &s, 1 + (e > 0 ? c->first_of : 0));
			cr_assert_eq(tracker_turn(s.tracker), turn + e, "%s, epoch %u", c->why, e);
			turn = tracker_turn(s.tracker);
			loader_read(&l, &s, 99);
			if (e == 0)
				cr_assert(tracker_found(s.tracker, &f));
			while (loader_open(&l, &s))
				;
			cr_assert_leq(tracker_turn(s.tracker),
				      turn + (e > 0 && c->seeds[0] == 42), "%s", c->why);
			cr_assert_geq(tracker_turn(s.tracker), turn, "%s", c->why);
			turn = tracker_turn(s.tracker);
		}
		stage_close(&s);
	}
}

/* The lists that opens point to come beside the one that is followed, and instead of the others. */
Test(found, keeps_the_list_that_is_followed)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(N, 99, 0);
	struct list other = { 1, FIRST_ID + 1000, N }, third = { 1, FIRST_ID, N + 1000 };
	struct list *lists[] = { &other, &third };
	struct loader l = loader_of(q, 50);
	struct found f;
	struct stage s;

	stage_open(&s, "auto", N, NULL);
	f = found_of(&s, 99);
	cr_assert(tracker_lists(s.tracker, lists, 2));
	loader_read(&l, &s, 100);
	cr_assert(!tracker_found(s.tracker, &f), "its list is none of these");
	lists[0] = &s.list;
	cr_assert(tracker_lists(s.tracker, lists, 2));
	cr_assert_eq(other.refs, 1);
	cr_assert(tracker_found(s.tracker, &f));
	lists[0] = &other;
	cr_assert(tracker_lists(s.tracker, lists, 1));
	cr_assert_eq(third.refs, 1);
	cr_assert_eq(other.refs, 2);
	forget_verdicts(&s);
	while (loader_open(&l, &s))
		;
	cr_assert_eq(s.verdicts[TRACKER_FITS], s.opens);
	for (uint32_t i = 1500; i < 1600; i++)          /* of the other list */
		stage_see(&s, list_at(&other, i), 60);
	cr_assert_geq(s.verdicts[TRACKER_FITS], s.opens - 10);
	stage_close(&s);
	cr_assert_eq(other.refs, 1);
	stage_open(&s, "sequential", N, NULL);
	cr_assert(!tracker_lists(s.tracker, lists, 1), "these were told");
	stage_close(&s);
}

/* The same list again, or shuffled once more before each epoch. */
Test(found, goes_on_as_dali_does)
{
	static const enum std_shuffle kinds[] = { STD_SHUFFLE, STD_SHUFFLE_EACH };

	for (size_t k = 0; k < DL_COUNT(kinds); k++) {
		struct found f;
		struct stage s;

		stage_open(&s, "auto", N, NULL);
		f = found_of(&s, STD_SHUFFLE_SEED);
		f.shuffle = kinds[k];
		for (uint32_t e = 0; e < 3; e++) {
			dl_cleanup(sequence_unrefp) struct sequence *q = sequence_new(N, N);
			struct loader l = { .sequence = q, .to = N, .batch = 16, .pid = 50 };

			std_shuffle(f.shuffle, f.seed, e, N, q->at);
			loader_read(&l, &s, 100);
			cr_assert(e > 0 || tracker_found(s.tracker, &f));
			forget_verdicts(&s);
			while (loader_open(&l, &s))
				;
			cr_assert_eq(s.verdicts[TRACKER_FITS], s.opens, "epoch %u", e);
			cr_assert_eq(tracker_main(s.tracker)->epoch, e);
		}
		stage_close(&s);
	}
}

/* What is still mapped is not opened again: of the first files here and there one is left out, and
 * perhaps the very first. */
Test(found, goes_on_as_dali_does_with_what_it_has_mapped)
{
	for (uint32_t turn = 0; turn < 40; turn++) {
		struct found f;
		struct stage s;

		stage_open(&s, "auto", N, NULL);
		s.random = (struct random){ turn };
		f = found_of(&s, STD_SHUFFLE_SEED);
		f.shuffle = STD_SHUFFLE;
		for (uint32_t e = 0; e < 4; e++) {
			dl_cleanup(sequence_unrefp) struct sequence *q = sequence_new(N, N);

			std_shuffle(f.shuffle, f.seed, e, N, q->at);
			for (uint32_t p = 0; p < N; p++) {
				if (e > 0 && p < N / 2 && stage_draw(&s, 5) == 0)
					continue;
				stage_see(&s, FIRST_ID + q->at[p], 50);
				if (e == 0 && p == 100) {
					cr_assert(tracker_found(s.tracker, &f));
					forget_verdicts(&s);
				}
			}
			cr_expect_geq(s.verdicts[TRACKER_FITS] + e, s.opens, "%u, epoch %u: of %u",
				      turn, e, s.opens);
			cr_expect_eq(tracker_main(s.tracker)->epoch, e, "%u, epoch %u", turn, e);
		}
		stage_close(&s);
	}
}
