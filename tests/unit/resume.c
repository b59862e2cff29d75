/* The order goes on: with another tracker, after a server that is gone, and over a dataset that has
 * changed. */
#include "tests/lib/stage.h"

#define N 4000u

/* The epochs of a script with torch.manual_seed(7). */
static struct sequence *epoch_of(uint32_t n, uint32_t e)
{
	return torch_sequence(n, word_of(7, 3 + 4 * e), 0);
}

static bool same(const struct sequence *a, const struct sequence *b)
{
	return a && b && a->length == b->length &&
	       memcmp(a->at, b->at, a->length * sizeof(a->at[0])) == 0;
}

static const struct course *main_course(const struct stage *s, const struct sequence *q,
					uint64_t epoch)
{
	const struct course *c = tracker_main(s->tracker);

	cr_assert_not_null(c, "nothing is followed after %u opens", s->opens);
	cr_assert_eq(c->epoch, epoch, "epoch %lu", (unsigned long)c->epoch);
	cr_assert(same(c->sequence, q), "another order is followed");
	return c;
}

static void expect_misses(struct stage *s, uint32_t most, const char *why)
{
	cr_assert_leq(s->opens - s->verdicts[TRACKER_FITS], most, "%s: %u of %u fit", why,
		      s->verdicts[TRACKER_FITS], s->opens);
	forget_verdicts(s);
}

static void again(struct stage *s, struct list *list, const struct renewed *renewed, size_t count)
{
	cr_assert_eq(tracker_again(s->tracker, &s->spec, &list, 1, NULL, renewed, count), 0);
}

static size_t courses_near(const struct stage *s, uint32_t front)
{
	const struct course *c;
	size_t count = tracker_courses(s->tracker, &c), found = 0;

	for (size_t i = 0; i < count; i++)
		found += c[i].front + 100 >= front && c[i].front <= front + 10;
	return found;
}

/* The one that goes through this sequence and is near there; else NULL. */
static const struct course *course_of(const struct stage *s, const struct sequence *q,
				      uint32_t reach)
{
	const struct course *c;
	size_t count = tracker_courses(s->tracker, &c);

	for (size_t i = 0; i < count; i++)
		if (same(c[i].sequence, q) && c[i].reach + 20 >= reach && c[i].reach <= reach + 40)
			return &c[i];
	return NULL;
}

/* A server is killed, and another one begins with what the first has kept. */
static void take_over_of(struct stage *s, uint32_t jobs)
{
	struct standing_kept kept = { 0 };
	struct standing stood = tracker_standing(s->tracker);

	stood.job_count = DL_MIN(stood.job_count, jobs);
	standing_keep(&kept, &stood);
	tracker_free(s->tracker);
	cr_assert_eq(s->list.refs, 1u);
	cr_assert_eq(tracker_new(&s->tracker), 0);
	stood = standing_kept(&kept);
	tracker_stood(s->tracker, &stood);
	again(s, &s->list, NULL, 0);
}

static void take_over(struct stage *s)
{
	take_over_of(s, STANDING_JOBS);
}

Test(resume, what_is_kept_is_never_half_of_it)
{
	struct standing_kept kept = { 0 };
	struct standing s = { .next_epoch = 1 };

	cr_assert_eq(standing_kept(&kept).next_epoch, 0u);
	standing_keep(&kept, &s);
	cr_assert_eq(standing_kept(&kept).next_epoch, 1u);
	kept.at[(kept.turn + 1) % 2].next_epoch = 99;  /* who writes is killed */
	cr_assert_eq(standing_kept(&kept).next_epoch, 1u);
	s.next_epoch = 2;
	standing_keep(&kept, &s);
	cr_assert_eq(standing_kept(&kept).next_epoch, 2u);
	kept.at[kept.turn % 2].job_count = 1000;
	cr_assert_eq(standing_kept(&kept).job_count, (uint32_t)STANDING_JOBS);
}

static const struct resume_case {
	const char *why, *spec;
	uint32_t from;                 /* position in epoch 2 at which the server is killed */
	unsigned workers;
} resumed[] = {
	{ "in its midst", "torch:seed=7", 1500, 4 },
	{ "without workers", "torch:seed=7", 1500, 0 },
	{ "right after it began", "torch:seed=7", 64, 2 },
	{ "near its end", "torch:seed=7", N - 40, 2 },
	{ "at its end", "torch:seed=7", N, 2 },
};

Test(resume, another_server_goes_on)
{
	for (size_t i = 0; i < DL_COUNT(resumed); i++) {
		const struct resume_case *c = &resumed[i];
		struct stage s;

		stage_open(&s, c->spec, N, NULL);
		for (uint32_t e = 0; e < 4; e++) {
			dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(N, e);
			struct loader l = loader_of(q, 50 + 10 * e);
			uint32_t front;

			l.workers = c->workers;
			loader_read(&l, &s, e == 2 ? c->from : 0);
			front = e == 2 ? main_course(&s, q, 2)->front : 0;
			if (e == 2)
				take_over(&s);
			if (e == 2)
				cr_assert_eq(main_course(&s, q, 2)->front, front, "%s", c->why);
			while (loader_open(&l, &s))
				;
			/* What some worker had opened ahead of the others is not known. */
			cr_assert_geq(main_course(&s, q, e)->front, N - 64, "%s, epoch %u: %u",
				      c->why, e, main_course(&s, q, e)->front);
			expect_misses(&s, 32, c->why);
		}
		stage_close(&s);
	}
}

Test(resume, another_server_goes_on_with_ranks)
{
	struct stage s;

	stage_open(&s, "torch-distributed:seed=11,world=4", N, NULL);
	for (uint32_t e = 0; e < 4; e++) {
		dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(N, 11 + e, 0);
		struct sequence *of[4];
		struct loader l[4];
		bool more = true;

		for (uint32_t r = 0; r < 4; r++) {
			of[r] = rank_sequence(N, 11 + e, 4, r);
			l[r] = loader_of(of[r], 50 + 40 * e + 10 * r);
		}
		for (unsigned i = 0; more; i++) {
			more = false;
			for (uint32_t r = 0; r < 4; r++)
				more |= loader_open(&l[r], &s);
			if (e == 2 && i == 300)
				take_over(&s);
		}
		cr_assert_eq(main_course(&s, q, e)->front, N, "epoch %u: front %u", e,
			     main_course(&s, q, e)->front);
		expect_misses(&s, 80, "ranks");
		for (uint32_t r = 0; r < 4; r++)
			sequence_unref(of[r]);
	}
	stage_close(&s);
}

/* Of the second one nothing was known yet when the server was killed. */
Test(resume, another_server_finds_the_second_job)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(N, 0);
	struct loader one = loader_of(q, 50), two = loader_of(q, 60);
	struct stage s;

	stage_open(&s, "torch:seed=7", N, NULL);
	loader_read(&one, &s, 1500);
	for (unsigned i = 0; i < 2000; i++) {
		loader_open(&one, &s);
		loader_open(&two, &s);
		if (i == 800)
			take_over_of(&s, 1);
	}
	cr_assert(course_of(&s, q, 3500) && course_of(&s, q, 2000));
	expect_misses(&s, 160, "both jobs");
	stage_close(&s);
}

static bool is_alive(uint32_t pid)
{
	return pid >= 60;              /* of the main one it does not matter */
}

Test(resume, another_server_goes_on_with_all_jobs)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(N, 0);
	dl_cleanup(sequence_unrefp) struct sequence *after = epoch_of(N, 1);
	struct loader one = loader_of(q, 50), two = loader_of(q, 60), next = loader_of(after, 70);
	const struct course *c;
	uint32_t fronts[2];
	struct stage s;
	size_t count;

	stage_open(&s, "torch:seed=7", N, NULL);
	s.now = 1000 * SECOND;
	loader_read(&one, &s, 1500);
	for (unsigned i = 0; i < 3000; i++) {
		if (!loader_open(&one, &s))
			loader_open(&next, &s);
		loader_open(&two, &s);
	}
	cr_assert(course_of(&s, after, 500) && course_of(&s, q, 3000));
	fronts[0] = course_of(&s, after, 500)->front;
	fronts[1] = course_of(&s, q, 3000)->front;
	take_over(&s);
	tracker_age(s.tracker, s.now, is_alive);
	count = tracker_courses(s.tracker, &c);
	cr_assert_eq(count, 2u);
	cr_assert(same(c[0].sequence, after) && c[0].front == fronts[0] && c[0].epoch == 1);
	cr_assert(same(c[1].sequence, q) && c[1].front == fronts[1] && c[1].epoch == 0);
	forget_verdicts(&s);
	for (unsigned i = 0; i < 500; i++) {
		loader_open(&next, &s);
		loader_open(&two, &s);
	}
	cr_assert(course_of(&s, after, 1000) && course_of(&s, q, 3500));
	expect_misses(&s, 20, "both jobs");
	stage_close(&s);
}

Test(resume, another_server_goes_on_with_what_was_found)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(N, 3000000000u, 0);
	struct loader l = loader_of(q, 50);
	struct stage s;
	struct found f;

	stage_open(&s, "auto", N, NULL);
	f = (struct found){ .list = &s.list, .seed = 3000000000u };
	loader_read(&l, &s, 500);
	cr_assert(tracker_found(s.tracker, &f));
	loader_read(&l, &s, 1000);
	take_over(&s);
	cr_assert_geq(main_course(&s, q, 0)->front, 1400u);
	forget_verdicts(&s);
	while (loader_open(&l, &s))
		;
	cr_assert_eq(main_course(&s, q, 0)->front, N);
	expect_misses(&s, 32, "found");
	stage_close(&s);
}

/* Which epoch comes next was told, and nobody has read since. */
Test(resume, another_server_waits_for_the_epoch_that_was_told)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(N, 5);
	struct loader l = loader_of(q, 50);
	struct stage s;

	stage_open(&s, "torch:seed=7", N, NULL);
	cr_assert_eq(tracker_epoch(s.tracker, 5), 0);
	take_over(&s);
	take_over(&s);
	cr_assert_eq(tracker_state(s.tracker), TRACKER_BELIEVED);
	while (loader_open(&l, &s))
		;
	main_course(&s, q, 5);
	expect_misses(&s, 32, "told");
	stage_close(&s);
}

/* Another order has nothing of the one before it, whoever tells it. */
Test(resume, an_order_that_is_told_begins)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(N, 0);
	struct loader l = loader_of(q, 50);
	struct stage s;
	struct list *list = &s.list;

	stage_open(&s, "torch:seed=7", N, NULL);
	loader_read(&l, &s, 1000);
	main_course(&s, q, 0);
	cr_assert(tracker_standing(s.tracker).job_count > 0);
	cr_assert_eq(tracker_order(s.tracker, &s.spec, &list, 1, NULL), 0);
	cr_assert(tracker_standing(s.tracker).job_count == 0);
	take_over(&s);
	cr_assert_null(tracker_main(s.tracker));
	stage_close(&s);
}

/* The spec is kept elsewhere: who was killed between the two has left one of them behind. */
Test(resume, another_order_has_nothing_of_what_was_kept)
{
	static const char *const specs[] = { "torch:seed=7", "torch:seed=8", "auto" };

	for (size_t i = 0; i < DL_COUNT(specs); i++) {
		dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(N, 3);
		struct loader l = loader_of(q, 50);
		struct standing stood;
		char error[160];
		struct stage s;

		stage_open(&s, "torch:seed=7", N, NULL);
		cr_assert_eq(tracker_epoch(s.tracker, 3), 0);
		loader_read(&l, &s, 1000);
		main_course(&s, q, 3);
		order_spec_fini(&s.spec);
		cr_assert_eq(order_parse(specs[i], &s.spec, error), 0);
		take_over(&s);
		stood = tracker_standing(s.tracker);
		cr_assert_eq(tracker_main(s.tracker) != NULL, i == 0, "%s", specs[i]);
		cr_assert_eq(stood.job_count, i == 0 ? 1u : 0u, "%s", specs[i]);
		cr_assert_eq(stood.next_epoch, i == 0 ? 3u : 0u, "%s", specs[i]);
		stage_close(&s);
	}
}

/* --- Over another dataset -------------------------------------------------------------------- */

/* Each file is another one now. */
static void change_all(struct stage *s, struct list *now)
{
	*now = (struct list){ 1, s->list.first + 100000, s->list.count };
	again(s, now, &(struct renewed){ &s->list, now }, 1);
	cr_assert_eq(s->list.refs, 1u, "nothing goes over it any more: %u", s->list.refs);
}

Test(resume, goes_on_at_the_same_place_over_the_files_as_they_are_now)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(N, 1);
	dl_cleanup(sequence_unrefp) struct sequence *before = epoch_of(N, 0);
	struct loader first = loader_of(before, 40), l = loader_of(q, 50);
	struct course was;
	struct list now;
	struct stage s;

	stage_open(&s, "torch:seed=7", N, NULL);
	while (loader_open(&first, &s))
		;
	loader_read(&l, &s, 1500);
	was = *main_course(&s, q, 1);
	change_all(&s, &now);
	cr_assert_eq(main_course(&s, q, 1)->front, was.front);
	cr_assert_eq(main_course(&s, q, 1)->reach, was.reach, "what was opened stays so");
	cr_assert_eq(main_course(&s, q, 1)->list, &now);
	forget_verdicts(&s);
	s.list.first = now.first;
	while (loader_open(&l, &s))
		;
	cr_assert_eq(main_course(&s, q, 1)->front, N);
	expect_misses(&s, 16, "changed");
	tracker_free(s.tracker);
	order_spec_fini(&s.spec);
	cr_assert(s.list.refs == 1 && now.refs == 1);
}

Test(resume, all_jobs_and_walks_go_on_over_a_changed_dataset)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(N, 0);
	struct loader one = loader_of(q, 50), two = loader_of(q, 60);
	struct list now;
	struct stage s;

	stage_open(&s, "torch:seed=7", N, NULL);
	loader_read(&one, &s, 1500);
	for (unsigned i = 0; i < 400; i++) {
		loader_open(&one, &s);
		loader_open(&two, &s);
		stage_see(&s, s.list.first + i, 70);
	}
	change_all(&s, &now);
	s.list.first = now.first;
	forget_verdicts(&s);
	for (unsigned i = 400; i < 1200; i++) {
		loader_open(&one, &s);
		loader_open(&two, &s);
		stage_see(&s, s.list.first + i, 70);
	}
	cr_assert_eq(courses_near(&s, 2700), 1u);
	cr_assert_eq(courses_near(&s, 1200), 2u, "the second job, and who reads in order");
	expect_misses(&s, 20, "changed");
	tracker_free(s.tracker);
	order_spec_fini(&s.spec);
	cr_assert(s.list.refs == 1 && now.refs == 1);
}

/* Its readers are not those of before, since there are other files; but what they read is known. */
Test(resume, over_other_files_the_epoch_is_begun_again)
{
	dl_cleanup(sequence_unrefp) struct sequence *first = epoch_of(N, 0);
	dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(N, 1);
	dl_cleanup(sequence_unrefp) struct sequence *fewer = epoch_of(N - 1, 1);
	struct loader l[] = { loader_of(first, 50), loader_of(q, 60), loader_of(fewer, 70) };
	struct list now;
	struct stage s;

	stage_open(&s, "torch:seed=7", N, NULL);
	while (loader_open(&l[0], &s))
		;
	loader_read(&l[1], &s, 1000);
	main_course(&s, q, 1);
	now = (struct list){ 1, s.list.first, N - 1 };
	again(&s, &now, NULL, 0);
	cr_assert_null(tracker_main(s.tracker));
	cr_assert_eq(s.list.refs, 1u);
	forget_verdicts(&s);
	while (loader_open(&l[2], &s))
		;
	main_course(&s, fewer, 1);
	expect_misses(&s, 40, "fewer");
	tracker_free(s.tracker);
	order_spec_fini(&s.spec);
	cr_assert(s.list.refs == 1 && now.refs == 1);
}

/* One program goes on in its second epoch; another one has listed the files as they are now. */
Test(resume, who_begins_over_a_changed_dataset_takes_nobodys_place)
{
	dl_cleanup(sequence_unrefp) struct sequence *before = epoch_of(N, 0);
	dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(N, 1);
	dl_cleanup(sequence_unrefp) struct sequence *fewer = epoch_of(N - 1, 0);
	struct loader first = loader_of(before, 40), one = loader_of(q, 50);
	struct loader two = loader_of(fewer, 60);
	struct list was, now, *lists[] = { &now, &was };
	struct renewed renewed = { NULL, &was };
	struct stage s;

	stage_open(&s, "torch:seed=7", N, NULL);
	while (loader_open(&first, &s))
		;
	loader_read(&one, &s, 500);
	was = (struct list){ 1, s.list.first, N };
	now = (struct list){ 1, s.list.first, N - 1 };
	renewed.before = &s.list;
	cr_assert_eq(tracker_again(s.tracker, &s.spec, lists, 2, NULL, &renewed, 1), 0);
	main_course(&s, q, 1);
	forget_verdicts(&s);
	for (unsigned i = 0; i < 1000; i++) {
		loader_open(&one, &s);
		loader_open(&two, &s);
	}
	main_course(&s, fewer, 0);
	cr_assert(course_of(&s, q, 1500));
	expect_misses(&s, 60, "both");
	tracker_free(s.tracker);
	order_spec_fini(&s.spec);
	cr_assert(s.list.refs == 1 && was.refs == 1 && now.refs == 1);
}
