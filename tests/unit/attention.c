/* How closely a tracker looks at opens that nothing explains, and how soon it looks again. */
#include "prefetch/order/tracker_internal.h"
#include "tests/lib/stage.h"

#define N 20000u
#define GARBAGE (20 * 1024u + 300)      /* ends where nobody looks for some hundred opens */

static void read_garbage(struct stage *s, uint32_t pid, uint32_t opens)
{
	for (uint32_t i = 0; i < opens; i++)
		stage_see(s, FIRST_ID + stage_draw(s, N), pid);
	cr_assert_null(tracker_main(s->tracker));
}

/* How many opens of the told order it takes until it is believed. */
static uint32_t opens_until_believed(struct stage *s, uint32_t pid)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(N, word_of(7, 3), 0);
	struct loader l = { .sequence = q, .to = N, .workers = 4, .batch = 16, .pid = pid };
	uint32_t opens = 0;

	for (; !tracker_main(s->tracker); opens++)
		cr_assert(loader_open(&l, s), "it is not seen at all");
	return opens;
}

static uint32_t after_garbage(uint32_t garbage_pid, uint32_t pid, uint64_t pause)
{
	struct stage s;
	uint32_t opens;

	stage_open(&s, "torch:seed=7", N, NULL);
	read_garbage(&s, garbage_pid, GARBAGE);
	s.now += pause;
	opens = opens_until_believed(&s, pid);
	stage_close(&s);
	return opens;
}

Test(attention, what_begins_with_new_processes_is_seen_at_once)
{
	cr_assert_leq(after_garbage(10, 20, 0), 64u);
}

Test(attention, what_begins_after_a_pause_is_seen_at_once)
{
	cr_assert_leq(after_garbage(0, 0, 2 * SECOND), 64u);
}

Test(attention, what_begins_unnoticed_is_seen_soon)
{
	uint32_t opens = after_garbage(0, 0, 0);

	cr_assert_geq(opens, 100u, "it was looked at: the other tests show nothing");
	cr_assert_leq(opens, 1100u);
}

Test(attention, nearly_all_that_nothing_explains_is_passed_over)
{
	struct stage s;
	uint32_t looked = 0;

	stage_open(&s, "torch:seed=7", N, NULL);
	read_garbage(&s, 10, GARBAGE);
	for (uint32_t i = 0; i < 50000; i++) {
		struct seen seen = { .id = FIRST_ID + stage_draw(&s, N), .pid = 10,
				     .time = s.now += 1000 };

		looked += is_looked_at(s.tracker, &seen);
		s.tracker->opens++;
	}
	cr_assert_leq(looked, 50000u / 7);
	cr_assert_geq(looked, 50000u / 10);
	stage_close(&s);
}

/* Of a tracker that follows a job all are looked at: what is not the job's may be the next. */
Test(attention, all_is_looked_at_while_something_is_followed)
{
	struct stage s;
	struct seen seen = { .id = FIRST_ID, .pid = 20 };

	stage_open(&s, "torch:seed=7", N, NULL);
	read_garbage(&s, 10, GARBAGE);
	opens_until_believed(&s, 20);
	for (uint32_t i = 0; i < 5000; i++, s.tracker->opens++)
		cr_assert(is_looked_at(s.tracker, &seen));
	stage_close(&s);
}

/* As `find -exec md5sum` does: whole sequences are not searched for each of its processes. */
Test(attention, a_process_for_each_file_costs_little)
{
	struct stage s;
	uint32_t searches = 0;

	stage_open(&s, "torch:seed=7", N, NULL);
	for (uint32_t i = 0; i < 5000; i++) {
		tracker_open(s.tracker, FIRST_ID + stage_draw(&s, N), 50 + i, s.now += 1000);
		searches += tracker_work(s.tracker);
		while (tracker_work(s.tracker))
			;
	}
	cr_assert_null(tracker_main(s.tracker));
	cr_assert_geq(searches, 3u, "%u", searches);
	cr_assert_leq(searches, 16u, "%u", searches);
	stage_close(&s);
}
