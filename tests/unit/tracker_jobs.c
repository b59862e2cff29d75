/* Several who read at once before a tracker: ranks, jobs, and those who read in listing order or
 * elsewhere. */
#include "tests/lib/script_stage.h"

Test(tracker_jobs, two_ranks_and_a_forgotten_set_epoch)
{
	for (int forgotten = 0; forgotten < 2; forgotten++) {
		struct stage s;

		stage_open(&s, "torch-distributed:seed=5,world=2", 800, NULL);
		for (uint32_t e = 0; e < 3; e++) {
			dl_cleanup(sequence_unrefp) struct sequence *q =
				torch_sequence(800, forgotten ? 5 : 5 + e, 0);
			struct sequence *of[2] = {
				sequence_new(400, 800), sequence_new(400, 800) };
			struct loader l[2];
			bool more = true;

			for (uint32_t r = 0; r < 2; r++) {
				for (uint32_t i = 0; i < 400; i++)
					of[r]->at[i] = q->at[2 * i + r];
				l[r] = (struct loader){ .sequence = of[r], .to = 400, .workers = 2,
							.batch = 16, .pid = 50 + 20 * e + 10 * r };
			}
			forget_verdicts(&s);
			while (more) {
				more = loader_open(&l[0], &s);
				more |= loader_open(&l[1], &s);
			}
			sequence_unref(of[0]);
			sequence_unref(of[1]);
			cr_assert_eq(main_course(&s, q)->epoch, e);
			cr_assert_eq(main_course(&s, q)->front, 800u, "epoch %u: front %u", e,
				     main_course(&s, q)->front);
			expect_misses(&s, 40, forgotten ? "forgotten" : "called");
		}
		stage_close(&s);
	}
}

/* One job opens 1000 samples, then a second one begins and both go on. */
static void two_jobs(struct stage *s, const struct sequence *q, unsigned together)
{
	struct loader one = {
		.sequence = q, .to = q->length, .workers = 2, .batch = 16, .pid = 50,
	};
	struct loader two = one;

	two.pid = 60;
	stage_open(s, "torch:seed=7", q->length, NULL);
	for (unsigned i = 0; i < 1000; i++)
		loader_open(&one, s);
	for (unsigned i = 0; i < together; i++) {
		loader_open(&one, s);
		loader_open(&two, s);
	}
}

Test(tracker_jobs, two_jobs_apart)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(PLAIN, 5000, 0);
	const struct course *c;
	struct stage s;
	size_t count, ahead = 0;

	two_jobs(&s, q, 2000);
	count = tracker_courses(s.tracker, &c);
	for (size_t i = 0; i < count; i++) {
		cr_assert(same(c[i].sequence, q));
		if (c[i].reach >= 1990 && c[i].front <= 2010)
			ahead++;
		if (c[i].reach >= 2990 && c[i].front <= 3010 && c[i].front > 2900)
			ahead++;
	}
	cr_assert_eq(ahead, 2u, "%zu courses", count);
	expect_misses(&s, 60, "both jobs");
	stage_close(&s);
}

Test(tracker_jobs, a_walk_has_its_own_course)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(PLAIN, 3000, 0);
	struct loader l = { .sequence = q, .to = 3000, .workers = 2, .batch = 16, .pid = 50 };
	const struct course *c;
	struct stage s;
	size_t count;
	bool found = false;

	stage_open(&s, "torch:seed=7", 3000, NULL);
	for (int i = 0; i < 500; i++)
		loader_open(&l, &s);
	for (uint32_t i = 0; i < 1500; i++) {
		loader_open(&l, &s);
		stage_see(&s, FIRST_ID + i, 90);
	}
	count = tracker_courses(s.tracker, &c);
	for (size_t i = 0; i < count; i++)
		found |= c[i].sequential && c[i].reach >= 1490;
	cr_assert(found, "no course of the walk");
	/* An open of the job that the walk expected, too, leaves a hole for a while. */
	cr_assert_geq(main_course(&s, q)->front, 1800u);
	/* The walk meets samples that the job has had: only its first opens surprise. */
	expect_misses(&s, 60, "job and walk");
	stage_close(&s);
}

Test(tracker_jobs, other_folders_are_strange_and_change_nothing)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(PLAIN, 1000, 0);
	struct stage s;

	stage_open(&s, "torch:seed=7", 1000, NULL);
	read_all(&s, q, 0, 400, 2, 50);
	forget_verdicts(&s);
	for (uint32_t i = 0; i < 200; i++)
		cr_assert_eq(stage_see(&s, i % FIRST_ID, 60), TRACKER_STRANGE);
	cr_assert_eq(main_course(&s, q)->front, 400u);
	read_all(&s, q, 400, 1000, 2, 50);
	cr_assert_eq(main_course(&s, q)->front, 1000u);
	stage_close(&s);
}

static bool nobody(uint32_t pid)
{
	(void)pid;
	return false;
}

Test(tracker_jobs, a_dead_second_job_loses_its_course)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(PLAIN, 5000, 0);
	const struct course *c;
	struct stage s;

	two_jobs(&s, q, 500);
	cr_assert_eq(tracker_courses(s.tracker, &c), 2u, "%zu courses",
		     tracker_courses(s.tracker, &c));
	tracker_age(s.tracker, s.now, nobody);
	cr_assert_eq(tracker_courses(s.tracker, &c), 1u);
	stage_close(&s);
}
