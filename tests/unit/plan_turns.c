/* In which order the source is to read what it is asked for. */
#include "tests/unit/plan_world.h"

static void read_at(struct scene *sc, uint32_t position, uint64_t now)
{
	job_open(&sc->j, position);
	plan_used(sc->p, sc->j.course.sequence->at[position], now);
	scene_tell(sc, now);
}

/* The source brings one sample while two are read, so the reader comes nearer and nearer to what is
 * asked for: that must not let it overtake what was asked for before. */
Test(plan_turns, what_is_needed_later_does_not_overtake, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(1000 * SIZE, 40, 2, 1000), shuffled(1000));
	sample_id out[1000];
	unsigned asked = 0, ended = 0;
	uint64_t last = 0;

	scene_tell(&sc, 0);
	for (uint32_t i = 0; i < 100; i++) {
		struct plan_step s;

		while ((s = plan_next(p, i)).verb == PLAN_FETCH) {
			cr_assert_geq(s.due, last, "%u overtakes", asked);
			last = s.due;
			out[asked++] = s.id;
			if (i == 0)    /* at first all of the lead is there */
				plan_fetched(p, out[ended++], 1);
		}
		if (i % 2)
			plan_fetched(p, out[ended++], 1);
		read_at(&sc, i, i);
	}
	cr_assert_gt(asked, 80u);
	scene_end(&sc);
}

/* Batches of 32 for four readers: it is asked for all that lies between them, and for the lead. */
Test(plan_turns, a_sequence_is_asked_for_as_far_as_its_readers_are, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(1000 * SIZE, 20, 2, 1000), in_order(1000));
	struct plan_step s;
	unsigned asked = 0;

	scene_tell(&sc, 0);
	for (uint32_t r = 0; r < 4; r++)
		read_at(&sc, r * 32, 1);
	while ((s = plan_next(p, 1)).verb == PLAN_FETCH) {
		cr_assert(s.in_turn);
		asked++;
	}
	/* The first position was read: the front is the second.  What was opened is not fetched. */
	cr_assert_eq(asked, 97 + 20 - 4);
	scene_end(&sc);
}

/* Many workers with large batches are far apart: what those ahead have opened is not fetched. */
Test(plan_turns, what_was_opened_far_ahead_is_not_fetched, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(2 * MAX * SIZE, 20, 2, MAX), in_order(MAX));
	uint32_t ahead = MAX - 100;
	struct plan_step s;
	unsigned asked = 0;

	for (uint32_t i = 0; i < 50; i++)
		read_at(&sc, ahead + i, 1);
	while ((s = plan_next(p, 1)).verb == PLAN_FETCH) {
		plan_fetched(p, s.id, 1);
		asked++;
	}
	cr_assert_eq(asked, ahead + 20);
	scene_end(&sc);
}

Test(plan_turns, a_shuffle_is_not_read_in_turn, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(1000 * SIZE, 20, 2, 1000), shuffled(1000));
	unsigned asked = 0;
	struct plan_step s;

	scene_tell(&sc, 0);
	while ((s = plan_next(p, 1)).verb == PLAN_FETCH) {
		cr_assert_not(s.in_turn);
		asked++;
	}
	cr_assert_eq(asked, 4u);
	scene_end(&sc);
}

/* A validation that is read as it is stored, and the shuffle that comes after it. */
Test(plan_turns, each_epoch_is_read_as_it_is, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(1000 * SIZE, 40, 4, 100), in_order(50));
	unsigned asked[2] = { 0 };
	struct plan_step s;

	sc.j.course.next = shuffled(100);
	scene_tell(&sc, 0);
	for (uint32_t i = 0; i < 40; i++) {
		read_at(&sc, i, i);
		while ((s = plan_next(p, i)).verb == PLAN_FETCH) {
			asked[s.in_turn]++;
			plan_fetched(p, s.id, 1);
		}
	}
	cr_assert_gt(asked[true], 40u);
	cr_assert_gt(asked[false], 10u);
	scene_end(&sc);
}

Test(plan_turns, what_nobody_needs_has_no_turn, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(1000 * SIZE, 40, 4, 100), in_order(100));
	struct plan_step s;

	cr_assert_eq(plan_warm(p, (sample_id[]){ 7 }, 1), 1);
	s = plan_next(p, 0);
	cr_assert_eq(s.id, 7u);
	cr_assert_eq(s.due, PLAN_NEVER);
	cr_assert_not(s.in_turn);
	scene_end(&sc);
}
