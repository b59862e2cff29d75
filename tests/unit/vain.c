/* When there are pauses between searches, and for whom. */
#include <criterion/criterion.h>

#include "base/clock.h"
#include "prefetch/find/vain.h"

#define MINUTE (60 * CLOCK_S)
#define SHELL 7u

static struct vain v;
static uint64_t now = 100 * MINUTE;

/* Each of these has opened some. */
static struct evidence opened(unsigned opens, const uint32_t *pids, size_t count, uint32_t parent)
{
	struct evidence e = { 0 };

	for (size_t i = 0; i < count; i++)
		e.readers[e.reader_count++] = (struct evidence_reader){
			.pid = pids[i], .parent = parent, .opens = opens,
		};
	return e;
}

static struct evidence alone(uint32_t pid, uint32_t parent)
{
	return opened(64, &pid, 1, parent);
}

/* A search for these, or none for there is a pause. */
static bool search(struct evidence e, float share)
{
	vain_open(&v, e.readers[0].pid, now);
	vain_meet(&v, &e);
	if (vain_rests(&v))
		return false;
	vain_searched(&v, &e, share, now);
	return true;
}

/* How many whole searches there are before a pause. */
static unsigned searches(struct evidence e)
{
	unsigned done = 0;

	while (done < 100 && search(e, 1.0f))
		done++;
	return done;
}

Test(vain, there_is_a_pause_after_three_searches_and_it_never_grows)
{
	cr_assert_eq(searches(alone(50, SHELL)), 3);
	for (unsigned i = 0; i < 20; i++) {
		now += 9 * MINUTE;
		cr_assert_not(search(alone(50, SHELL), 1.0f), "pause %u", i);
		now += 2 * MINUTE;
		cr_assert_eq(searches(alone(50, SHELL)), 1, "pause %u", i);
	}
}

/* Epochs that are shorter than a search. */
Test(vain, parts_of_searches_count_as_such)
{
	unsigned epochs = 0;

	while (epochs < 100 && search(alone(50, SHELL), 0.25f))
		epochs++;
	cr_assert_eq(epochs, 12);
	now += 11 * MINUTE;
	for (epochs = 0; epochs < 100 && search(alone(50, SHELL), 0.25f); epochs++)
		;
	cr_assert_eq(epochs, 4);
}

Test(vain, another_program_is_searched_for_at_once)
{
	cr_assert_eq(searches(alone(50, SHELL)), 3);
	cr_assert_eq(searches(alone(51, SHELL)), 3, "of the same shell");
	cr_assert_eq(searches(alone(60, 52)), 3, "of another");
	cr_assert_eq(searches(alone(60, 52)), 0);
	cr_assert_eq(searches(alone(50, SHELL)), 0, "the first is not forgotten");
}

Test(vain, workers_that_are_started_anew_are_the_same_job)
{
	unsigned epochs = 0;

	for (uint32_t pid = 50; epochs < 100; pid += 2, epochs++)
		if (!search(opened(20, (const uint32_t[]){ pid, pid + 1 }, 2, 40), 1.0f))
			break;
	cr_assert_eq(epochs, 3);
	cr_assert_eq(searches(opened(20, (const uint32_t[]){ 90, 91 }, 2, 80)), 3);
}

/* Until there were two, it may be a program of a shell's. */
Test(vain, a_single_worker_is_known_by_its_parent_from_the_third_epoch_on)
{
	unsigned epochs = 0;

	for (uint32_t pid = 50; epochs < 100 && search(alone(pid, 40), 1.0f); pid++)
		epochs++;
	cr_assert_eq(epochs, 4);
}

Test(vain, one_that_begins_beside_another_ends_the_pause)
{
	struct evidence both = alone(50, SHELL);

	cr_assert_eq(searches(both), 3);
	both.readers[both.reader_count++] = (struct evidence_reader){
		.pid = 60, .parent = 52, .opens = 5,
	};
	cr_assert_not(search(both, 1.0f), "it only looks at a few");
	both.readers[1].opens = 6;
	cr_assert(search(both, 1.0f));
}

Test(vain, without_pids_it_is_another_after_a_while)
{
	cr_assert_eq(searches(alone(0, 0)), 3);
	now += CLOCK_S;
	cr_assert_eq(searches(alone(0, 0)), 0);
	now += MINUTE;
	cr_assert_eq(searches(alone(0, 0)), 3);
}

Test(vain, with_pids_who_paused_is_the_same)
{
	cr_assert_eq(searches(alone(50, SHELL)), 3);
	now += 5 * MINUTE;
	cr_assert_eq(searches(alone(50, SHELL)), 0);
}

/* No more are remembered than one search sees. */
Test(vain, the_oldest_of_many_jobs_is_forgotten)
{
	for (uint32_t i = 0; i < EVIDENCE_READERS + 1; i++)
		cr_assert_eq(searches(alone(1000 + i, 2000 + i)), 3, "%u", i);
	cr_assert_eq(searches(alone(1001, 2001)), 0);
	cr_assert_eq(searches(alone(1000, 2000)), 3);
}
