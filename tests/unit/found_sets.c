/* Orders of jobs side by side that a search found, also where it is not known whose opens these
 * are, or only later. */
#include "tests/lib/stage.h"

#define ONE 3000000000u
#define OTHER 1000000000u
#define INTERLEAVINGS 20u

static struct found found_of(struct stage *s, uint32_t seed)
{
	return (struct found){ .list = &s->list, .seed = seed };
}

static bool everybody(uint32_t pid)
{
	(void)pid;
	return true;
}

/* Two jobs with seeds of their own: neither takes the other's place. */
Test(found_sets, is_a_second_job_while_the_first_goes_on)
{
	dl_cleanup(sequence_unrefp) struct sequence *a = torch_sequence(2000, ONE, 0);
	dl_cleanup(sequence_unrefp) struct sequence *b = torch_sequence(2000, OTHER, 0);
	struct loader first = loader_of(a, 50), second = loader_of(b, 70);
	struct found f;
	const struct course *c;
	struct stage s;

	stage_open(&s, "auto", 2000, NULL);
	f = found_of(&s, ONE);
	loader_read(&first, &s, 200);
	cr_assert(tracker_found(s.tracker, &f));
	for (unsigned i = 0; i < 100; i++) {
		loader_read(&first, &s, 1);
		loader_read(&second, &s, 1);
	}
	f = found_of(&s, OTHER);
	cr_assert(tracker_found(s.tracker, &f));
	cr_assert_eq(tracker_courses(s.tracker, &c), 2);
	s.now += 60 * SECOND;
	tracker_age(s.tracker, s.now, everybody);
	cr_assert_eq(tracker_courses(s.tracker, &c), 2, "both wait");
	forget_verdicts(&s);
	for (unsigned i = 0; i < 1000; i++) {
		loader_read(&first, &s, 1);
		loader_read(&second, &s, 1);
	}
	cr_assert_geq(s.verdicts[TRACKER_FITS], s.opens * 95 / 100, "%u of %u",
		      s.verdicts[TRACKER_FITS], s.opens);
	cr_assert_eq(tracker_courses(s.tracker, &c), 2);
	stage_close(&s);
}

static void read_both(struct stage *s, struct loader jobs[2], unsigned opens)
{
	while (opens-- > 0)
		loader_read(&jobs[stage_draw(s, 2)], s, 1);
}

/* Two jobs of many workers each have read side by side for a while when one is found, and then the
 * other. */
static void follow_both(uint32_t n, unsigned workers, bool pids, uint64_t interleaving)
{
	dl_cleanup(sequence_unrefp) struct sequence *a = torch_sequence(n, ONE, 0);
	dl_cleanup(sequence_unrefp) struct sequence *b = torch_sequence(n, OTHER, 0);
	struct loader jobs[2] = {
		{ .sequence = a, .to = n, .workers = workers, .batch = 16, .pid = pids * 50 },
		{ .sequence = b, .to = n, .workers = workers, .batch = 16, .pid = pids * 70 },
	};
	struct found one, other;
	const struct course *c;
	struct stage s;

	stage_open(&s, "auto", n, NULL);
	s.random = (struct random){ interleaving };
	one = found_of(&s, ONE);
	other = found_of(&s, OTHER);
	read_both(&s, jobs, 500);
	cr_assert(tracker_found(s.tracker, &one), "n %u, %u workers: the first", n, workers);
	read_both(&s, jobs, 300);
	cr_assert(tracker_found(s.tracker, &other), "n %u, %u workers: the second", n, workers);
	cr_assert_eq(tracker_courses(s.tracker, &c), 2);
	cr_assert_lt(c[0].front, c[0].reach);
	forget_verdicts(&s);
	read_both(&s, jobs, n / 4);
	cr_assert_geq(s.verdicts[TRACKER_FITS], s.opens * 95 / 100, "n %u: %u of %u", n,
		      s.verdicts[TRACKER_FITS], s.opens);
	cr_assert_eq(tracker_courses(s.tracker, &c), 2);
	stage_close(&s);
}

Test(found_sets, follows_two_jobs)
{
	for (uint64_t i = 1; i <= INTERLEAVINGS; i++) {
		follow_both(2000, 2, false, i);
		follow_both(2000, 8, false, i);
		follow_both(2000, 3, true, i);
		follow_both(2000, 8, true, i);
		follow_both(2000, 3, false, i);
		follow_both(50000, 8, false, i);
		follow_both(50000, 8, true, i);
	}
}

#define WAITING 17u                     /* batches that a loop has had when it waits for an order */

/* On a machine that is busy, a process goes on for a while, and waits for a while: so many opens on
 * average.  Until both loops have had so many batches, or have read all. */
static void read_in_bursts(struct stage *s, struct loader jobs[2], unsigned burst, uint32_t stop)
{
	for (unsigned who = 0;;) {
		unsigned with_work = 0;
		uint32_t position, pid;
		bool work[6];

		for (unsigned k = 0; k < DL_COUNT(work); k++) {
			struct loader *l = &jobs[k / 3];

			while (is_read(l, l->consumed) && l->consumed < stop)
				l->consumed++;
			work[k] = has_work(l, k % 3);
			with_work += work[k];
		}
		if (with_work == 0)
			return;
		while (!work[who] || stage_draw(s, burst) == 0) {
			who = stage_draw(s, DL_COUNT(work));
			if (work[who])
				break;
		}
		worker_step(&jobs[who / 3], who % 3, &position, &pid);
		stage_see(s, list_at(&s->list, jobs[who / 3].sequence->at[position]), pid);
	}
}

/* Both wait until they are found, so that the last opens may be those of one of them. */
static void follow_both_that_wait(unsigned burst, bool pids, uint64_t interleaving)
{
	dl_cleanup(sequence_unrefp) struct sequence *a = torch_sequence(2000, ONE, 0);
	dl_cleanup(sequence_unrefp) struct sequence *b = torch_sequence(2000, OTHER, 0);
	struct loader jobs[2] = {
		{ .sequence = a, .to = 2000, .workers = 3, .batch = 16, .pid = pids * 50 },
		{ .sequence = b, .to = 2000, .workers = 3, .batch = 16, .pid = pids * 70 },
	};
	struct found one, other;
	struct stage s;

	stage_open(&s, "auto", 2000, NULL);
	s.random = (struct random){ interleaving };
	one = found_of(&s, ONE);
	other = found_of(&s, OTHER);
	read_in_bursts(&s, jobs, burst, WAITING);
	if (tracker_found(s.tracker, &one) && tracker_found(s.tracker, &other)) {
		forget_verdicts(&s);
		read_in_bursts(&s, jobs, burst, 2000);
		cr_assert_leq(s.verdicts[TRACKER_MISPREDICTED], s.opens / 50, "bursts of %u: %u",
			      burst, s.verdicts[TRACKER_MISPREDICTED]);
	} else {
		cr_assert_gt(burst, 4, "not followed");        /* all of late are the other's */
	}
	stage_close(&s);
}

Test(found_sets, follows_two_jobs_that_wait)
{
	static const unsigned bursts[] = { 1, 4, 16, 64, 300 };

	for (size_t b = 0; b < DL_COUNT(bursts); b++)
		for (uint64_t i = 1; i <= 2 * INTERLEAVINGS; i++) {
			follow_both_that_wait(bursts[b], false, i);
			follow_both_that_wait(bursts[b], true, i);
		}
}
