/* The plan, fact by fact. */
#include "tests/unit/plan_world.h"

Test(plan, fetches_the_lead_in_order_of_need, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(100 * SIZE, 10, 4, 1000), in_order(1000));
	sample_id got[32];

	scene_tell(&sc, 0);
	cr_assert_eq(run(p, 0, got, 32), 10);
	for (unsigned i = 0; i < 10; i++)
		cr_assert_eq(got[i], i);
	job_open(&sc.j, 0);
	job_open(&sc.j, 1);
	plan_used(p, 0, 0, 1);
	plan_used(p, 1, 0, 1);
	scene_tell(&sc, 1);
	cr_assert_eq(run(p, 1, got, 32), 2);
	cr_assert_eq(got[0], 10);
	cr_assert_eq(plan_report(p).ready_ahead, 10);
	scene_end(&sc);
}

Test(plan, never_has_more_fetches_out_than_twice_the_depth, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(100 * SIZE, 50, 3, 1000), shuffled(1000));

	scene_tell(&sc, 0);
	for (unsigned i = 0; i < 6; i++)
		cr_assert_eq(plan_next(p, 0).verb, PLAN_FETCH);
	cr_assert_eq(plan_next(p, 0).verb, PLAN_IDLE);
	plan_fetched(p, sc.j.course.sequence->at[0], 1);
	cr_assert_eq(plan_next(p, 0).verb, PLAN_FETCH);
	scene_end(&sc);
}

/* With a cost for each pair of its positions this would not end. */
Test(plan, may_want_one_sample_very_often, .init = setup)
{
	struct sequence *q = sequence_new(1000000, 1);
	struct plan *p = plan_of(100 * SIZE, 0, 4, 1);
	struct scene sc;

	cr_assert(q);
	memset(q->at, 0, q->length * sizeof(q->at[0]));
	scene_start(&sc, p, q);
	plan_idle(p, true);
	scene_tell(&sc, 0);
	run(p, 0, NULL, 0);
	for (uint32_t i = 0; i < MAX; i++) {
		cr_assert(plan_held(p, 0), "it is needed at %u", i);
		job_open(&sc.j, i);
		plan_used(p, 0, 0, i);
		scene_tell(&sc, i);
		run(p, i, NULL, 0);
	}
	scene_end(&sc);
}

static void leave_out(uint64_t room, uint64_t whole)
{
	struct plan_limits limits = { .room = room, .whole = whole, .lead = 6, .depth = 4 };
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(200 * SIZE, 6, 4, 1000), in_order(1000));
	sample_id got[8];

	sizes[0] = UINT64_MAX;                 /* no such sample */
	sizes[1] = 0;
	sizes[2] = 11 * SIZE;
	plan_limits_changed(p, &limits);
	job_open(&sc.j, 4);                    /* read already */
	scene_tell(&sc, 0);
	cr_assert_geq(run(p, 0, got, 8), 2);
	cr_assert_eq(got[0], 3);
	cr_assert_eq(got[1], 5);
	cr_assert_not(plan_held(p, 4));
	scene_end(&sc);
}

Test(plan, leaves_out_what_cannot_be_planned, .init = setup)
{
	leave_out(20 * SIZE, 10 * SIZE);       /* a big file */
	leave_out(10 * SIZE, 20 * SIZE);       /* a file larger than all room */
}

Test(plan, runs_on_into_the_next_epoch, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(100 * SIZE, 10, 4, 1000), in_order(1000));
	sample_id got[32];

	sc.j.course.next = shuffled(1000);
	job_read(&sc.j, 0, 995);
	scene_tell(&sc, 0);
	cr_assert_eq(run(p, 0, got, 32), 10);
	for (unsigned i = 0; i < 10; i++)
		cr_assert(plan_held(p, i < 5 ? 995 + i : sc.j.course.next->at[i - 5]));
	for (unsigned i = 995; i < 1000; i++) {
		job_open(&sc.j, i);
		plan_used(p, i, 0, 1);
	}
	job_roll(&sc.j, NULL);
	scene_tell(&sc, 2);
	for (unsigned i = 0; i < 5; i++)
		cr_assert(plan_held(p, sc.j.course.sequence->at[i]), "rolling over lost the lead");
	run(p, 2, got, 32);
	check(p);
	scene_end(&sc);
}

Test(plan, a_dropped_belief_leaves_first_victims, .init = setup)
{
	struct list list = { 0 };
	struct plan *p = plan_of(10 * SIZE, 7, 4, 1000);
	sample_id got[32];
	struct job j, k;

	job_start(&j, &list, in_order(1000), 1);
	plan_courses(p, &j.course, 1, 0);
	run(p, 0, got, 32);
	plan_courses(p, NULL, 0, 1);
	check(p);
	cr_assert_eq(plan_report(p).ready_ahead, 0);

	job_start(&k, &list, in_order(1000), 1);
	job_read(&k, 0, 500);
	plan_courses(p, &k.course, 1, 2);
	cr_assert_eq(run(p, 2, got, 32), 7);
	for (unsigned i = 500; i < 507; i++)
		cr_assert(plan_held(p, i));
	plan_free(p);
	job_end(&j);
	job_end(&k);
}

Test(plan, a_lead_goes_only_for_what_is_needed_sooner, .init = setup)
{
	struct list list = { 0 };
	struct plan *p = plan_of(20 * SIZE, 15, 4, 2000);
	struct job jobs[2];
	unsigned held = 0;

	job_start(&jobs[0], &list, in_order(2000), 1);
	plan_courses(p, &jobs[0].course, 1, 0);
	plan_idle(p, true);
	run(p, 0, NULL, 0);
	job_start(&jobs[1], &list, in_order(2000), 2);
	job_read(&jobs[1], 0, 1000);
	jobs_tell(p, jobs, 2, 1);
	plan_idle(p, false);
	run(p, 1, NULL, 0);
	for (unsigned i = 0; i < 5; i++) {
		cr_assert(plan_held(p, i), "a sample that is needed soon went");
		cr_assert(plan_held(p, 1000 + i), "the second job starves");
	}
	for (unsigned i = 0; i < 2000; i++)
		held += plan_held(p, i);
	cr_assert_leq(held, 20);
	plan_free(p);
	job_end(&jobs[0]);
	job_end(&jobs[1]);
}

/* It may be read all the same (an open that nobody saw), so it goes when room is short. */
Test(plan, what_was_skipped_goes_first, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(14 * SIZE, 10, 4, 1000), in_order(1000));
	unsigned skipped = 0;

	scene_tell(&sc, 0);
	run(p, 0, NULL, 0);
	sc.j.course.front = 700;               /* resumed in mid-epoch */
	sc.j.course.reach = 701;
	scene_tell(&sc, 1);
	run(p, 1, NULL, 0);
	for (unsigned i = 0; i < 10; i++)
		skipped += plan_held(p, i);
	cr_assert_leq(skipped, 4u, "%u are still there", skipped);
	for (unsigned i = 701; i < 711; i++)
		cr_assert(plan_held(p, i), "%u", i);
	scene_end(&sc);
}

Test(plan, a_failure_is_offered_again_after_a_second, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(50 * SIZE, 1, 4, 1000), in_order(1000));
	struct plan_step s;

	scene_tell(&sc, 0);
	s = plan_next(p, 0);
	cr_assert_eq(s.verb, PLAN_FETCH);
	cr_assert(plan_fetching(p, s.id));
	plan_failed(p, s.id, 5);
	cr_assert_not(plan_fetching(p, s.id));
	check(p);
	cr_assert_eq(plan_next(p, 6).verb, PLAN_IDLE);
	cr_assert_eq(plan_report(p).held, 0);
	cr_assert_eq(plan_wake(p), 5 + CLOCK_S);
	s = plan_next(p, 5 + CLOCK_S);
	cr_assert_eq(s.verb, PLAN_FETCH);
	cr_assert_eq(s.id, 0);
	scene_end(&sc);
}

Test(plan, a_sample_that_fails_thrice_is_left_to_its_reader, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(50 * SIZE, 1, 4, 1000), in_order(1000));
	uint64_t now = 0;

	scene_tell(&sc, 0);
	for (int i = 0; i < 3; i++, now += CLOCK_S) {
		cr_assert_eq(plan_next(p, now).verb, PLAN_FETCH, "attempt %d", i);
		plan_failed(p, 0, now);
		check(p);
	}
	cr_assert_eq(plan_next(p, now + CLOCK_S).verb, PLAN_IDLE);
	cr_assert_eq(plan_wake(p), UINT64_MAX);
	plan_courses(p, NULL, 0, now); /* another order: it is given another chance */
	scene_tell(&sc, now);
	cr_assert_eq(plan_next(p, now).verb, PLAN_FETCH);
	plan_failed(p, 0, now);
	check(p);
	scene_end(&sc);
}

Test(plan, losses_shrink_the_lead_and_late_reads_deepen_it, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(2000 * SIZE, 0, 8, 4000), in_order(4000));
	uint32_t first = plan_report(p).lead_target;

	scene_tell(&sc, 0);
	run(p, 0, NULL, 0);
	plan_lost(p, 3);
	check(p);
	cr_assert_eq(plan_report(p).lead_target, first - first / 4);
	cr_assert_not(plan_held(p, 3));

	for (unsigned i = 0; i < 100; i++) {
		plan_used(p, i, 0, i);
		job_open(&sc.j, i);
	}
	scene_tell(&sc, 100);
	first = plan_report(p).lead_target;
	plan_late(p, plan_next(p, 100).id);
	cr_assert_eq(plan_report(p).lead_target, 2 * first);
	plan_late(p, 100);
	cr_assert_eq(plan_report(p).lead_target, 2 * first, "one bunch of late reads counts once");
	scene_end(&sc);
}

/* It was read long ago, and goes first when the kernel wants memory. */
Test(plan, a_loss_of_what_was_kept_says_nothing_of_the_lead, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(2000 * SIZE, 0, 8, 4000), in_order(4000));
	uint32_t first;

	scene_tell(&sc, 0);
	run(p, 0, NULL, 0);
	for (unsigned i = 0; i < 10; i++) {
		plan_used(p, i, 0, i);
		job_open(&sc.j, i);
	}
	scene_tell(&sc, 100);
	first = plan_report(p).lead_target;
	cr_assert(plan_lost(p, 3));
	cr_assert_eq(plan_report(p).lead_target, first);
	cr_assert(plan_lost(p, 20));
	cr_assert_eq(plan_report(p).lead_target, first - first / 4);
	check(p);
	scene_end(&sc);
}

Test(plan, provisional_courses_have_a_short_lead, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(2000 * SIZE, 500, 8, 4000), in_order(4000));

	sc.j.course.provisional = true;
	scene_tell(&sc, 0);
	plan_idle(p, true);
	cr_assert_eq(run(p, 0, NULL, 0), 64);
	sc.j.course.provisional = false;
	sc.j.course.sequential = true;
	scene_tell(&sc, 0);
	plan_idle(p, false);
	job_read(&sc.j, 0, 100);
	scene_tell(&sc, 0);
	run(p, 0, NULL, 0);
	cr_assert(plan_held(p, 199));
	cr_assert_not(plan_held(p, 200), "a lead of what was read already, not more");
	scene_end(&sc);
}

Test(plan, goes_deeper_for_what_may_come_while_nobody_reads, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(16 * 300 * SIZE, 0, 8, 4000), in_order(4000));

	sc.j.course.provisional = true;
	scene_tell(&sc, 0);
	run(p, 0, NULL, 0);
	cr_assert(plan_held(p, 31));
	cr_assert_not(plan_held(p, 32), "the source has other work");
	plan_idle(p, true);
	run(p, 0, NULL, 0);
	cr_assert(plan_held(p, 295));
	cr_assert_not(plan_held(p, 305), "about a sixteenth of the room");
	scene_end(&sc);
}

Test(plan, keeps_what_is_dearest_a_byte, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(200 * SIZE, 16, 4, 2000), in_order(2000));
	uint64_t small = 0, large = 0;

	for (unsigned i = 0; i < 2000; i++)    /* the same cost a fetch; first only large ones */
		sizes[i] = i % 2 && i > 200 ? SIZE / 2 : 8 * SIZE;
	plan_grown(p, 2000, 2000 * 17 * SIZE / 4);
	for (unsigned i = 0; i < 1000; i++) {
		scene_tell(&sc, i * CLOCK_S);
		run(p, i * CLOCK_S, NULL, 0);
		job_open(&sc.j, i);
		plan_used(p, i, 0, i * CLOCK_S);
	}
	for (unsigned i = 0; i < 980; i++)
		*(sizes[i] < SIZE ? &small : &large) += plan_held(p, i);
	cr_assert_gt(small, 150, "%lu small ones", (unsigned long)small);
	cr_assert_lt(large, 8, "%lu large ones", (unsigned long)large);
	scene_end(&sc);
}

Test(plan, fills_uniformly_while_nothing_is_known, .init = setup)
{
	struct plan *p = plan_of(400 * SIZE, 0, 4, 4000);
	unsigned quarter[4] = { 0 };

	plan_fill(p, true);
	cr_assert_eq(run(p, 0, NULL, 0), 0, "the source is not idle");
	plan_idle(p, true);
	plan_fill(p, false);
	cr_assert_eq(run(p, 0, NULL, 0), 0, "nobody said so");
	plan_fill(p, true);
	plan_used(p, 3999, 0, 0);
	cr_assert_eq(run(p, PLAN_QUIET_NS - 1, NULL, 0), 0, "a reader goes first");
	cr_assert_eq(plan_wake(p), PLAN_QUIET_NS);
	run(p, PLAN_QUIET_NS, NULL, 0);
	for (unsigned i = 0; i < 4000; i++)
		quarter[i / 1000] += plan_held(p, i);
	for (unsigned i = 0; i < 4; i++) {
		cr_assert_gt(quarter[i], 60);
		cr_assert_lt(quarter[i], 140);
	}
	plan_free(p);
}

Test(plan, a_smaller_room_is_reached, .init = setup)
{
	struct plan_limits less = { .room = 5 * SIZE, .whole = 100 * SIZE, .lead = 10, .depth = 4 };
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(50 * SIZE, 10, 4, 1000), in_order(1000));

	scene_tell(&sc, 0);
	run(p, 0, NULL, 0);
	plan_limits_changed(p, &less);
	cr_assert(plan_check(p));
	for (unsigned i = 0; i < 5; i++) {
		struct plan_step s = plan_next(p, 0);

		cr_assert_eq(s.verb, PLAN_DROP);
		plan_dropped(p, s.id);
		cr_assert(plan_check(p));
	}
	cr_assert_eq(plan_report(p).held, 5 * SIZE);
	run(p, 0, NULL, 0);
	cr_assert(plan_held(p, 0), "what is needed soonest went");
	scene_end(&sc);
}

Test(plan, a_new_next_epoch_replaces_the_old_one, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(40 * SIZE, 10, 4, 2000), in_order(100));

	sc.j.course.next = shuffled(1000);
	job_read(&sc.j, 0, 100);
	scene_tell(&sc, 0);
	run(p, 0, NULL, 0);
	cr_assert_eq(plan_report(p).ready_ahead, 10);
	sequence_unref(sc.j.course.next);
	sc.j.course.next = shuffled(1000);
	scene_tell(&sc, 1);
	run(p, 1, NULL, 0);
	cr_assert_eq(plan_report(p).ready_ahead, 10);
	for (unsigned i = 0; i < 10; i++)
		cr_assert(plan_held(p, sc.j.course.next->at[i]));

	job_roll(&sc.j, NULL);                 /* and positions count on */
	for (unsigned i = 0; i < 50; i++) {
		job_open(&sc.j, i);
		plan_used(p, sc.j.course.sequence->at[i], 0, 2);
		scene_tell(&sc, 2);
		run(p, 2, NULL, 0);
	}
	cr_assert_eq(plan_report(p).ready_ahead, 10);
	for (unsigned i = 50; i < 60; i++)
		cr_assert(plan_held(p, sc.j.course.sequence->at[i]));
	scene_end(&sc);
}

Test(plan, a_course_that_goes_back_is_planned_again, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(12 * SIZE, 6, 4, 1000), in_order(1000));

	job_read(&sc.j, 0, 500);
	scene_tell(&sc, 0);
	run(p, 0, NULL, 0);
	cr_assert(plan_held(p, 505));
	memset(sc.j.opened, 0, sizeof(sc.j.opened));
	sc.j.course.front = sc.j.course.reach = 100;
	scene_tell(&sc, 1);
	run(p, 1, NULL, 0);
	for (unsigned i = 100; i < 106; i++)
		cr_assert(plan_held(p, i));
	scene_end(&sc);
}

Test(plan, courses_that_need_as_soon_take_turns, .init = setup)
{
	struct list list = { 0 };
	struct plan *p = plan_of(100 * SIZE, 20, 1, 2000);
	struct job jobs[2];
	unsigned first = 0;

	job_start(&jobs[0], &list, in_order(2000), 1);
	job_start(&jobs[1], &list, shuffled(2000), 2);
	jobs_tell(p, jobs, 2, 0);
	for (unsigned i = 0; i < 20; i++) {
		struct plan_step s = plan_next(p, 0);

		cr_assert_eq(s.verb, PLAN_FETCH);
		plan_fetched(p, s.id, 1);
		first += s.id < 20;
		cr_assert_leq(first, i / 2 + 1);
		cr_assert_geq(first, (i + 1) / 2);
	}
	plan_free(p);
	for (unsigned i = 0; i < 2; i++)
		job_end(&jobs[i]);
}

/* All that is held is needed; the second job needs something sooner. */
Test(plan, the_furthest_lead_goes_and_comes_back, .init = setup)
{
	struct plan_limits more = { .room = 80 * SIZE, .whole = 9 * SIZE, .lead = 11, .depth = 4 };
	struct list list = { 0 };
	struct plan *p = plan_of(20 * SIZE, 11, 4, 4000);
	struct job jobs[2];
	struct plan_step s;

	job_start(&jobs[0], &list, in_order(2000), 1);
	job_start(&jobs[1], &list, in_order(2000), 2);
	job_read(&jobs[1], 0, 1000);
	for (unsigned i = 0; i < 20; i++)
		sizes[i] = 20 * SIZE / 11;
	plan_courses(p, &jobs[0].course, 1, 0);
	run(p, 0, NULL, 0);
	cr_assert(plan_held(p, 10));
	jobs_tell(p, jobs, 2, 1);
	s = plan_next(p, 1);
	cr_assert_eq(s.verb, PLAN_DROP);
	cr_assert_eq(s.id, 10, "%u went", s.id);
	plan_dropped(p, s.id);
	run(p, 1, NULL, 0);
	cr_assert(plan_held(p, 0));
	cr_assert(plan_held(p, 1000));
	plan_limits_changed(p, &more);
	run(p, 2, NULL, 0);
	for (unsigned i = 0; i < 11; i++)
		cr_assert(plan_held(p, i), "%u did not come back", i);
	plan_free(p);
	for (unsigned i = 0; i < 2; i++)
		job_end(&jobs[i]);
}
