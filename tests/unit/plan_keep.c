/* The plan: what it is asked to hold or to forget, and what memory keeps beside a local disk. */
#include "tests/unit/plan_world.h"

static bool every_tenth(const void *context, sample_id id)
{
	(void)context;
	return id % 10 == 0;
}

static struct plan *plan_with_pins(uint64_t room, uint32_t n)
{
	struct plan_limits limits = { .room = room, .whole = 100 * SIZE, .lead = 8, .depth = 4 };
	struct plan_sizes how = { .size = size_of, .pinned = every_tenth, .count = n };
	struct plan *p;

	cr_assert_eq(plan_new(&limits, &how, &p), 0);
	plan_grown(p, n, (uint64_t)n * SIZE);
	return p;
}

/* Read on from a position in one epoch; every fetch of a sample below `local` is from a disk, and
 * takes as long as any other. */
static void read_epoch(struct scene *sc, struct plan *p, uint32_t n, uint32_t local)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t now = i * CLOCK_S;
		struct plan_step s;

		scene_tell(sc, now);
		while ((s = plan_next(p, now)).verb != PLAN_IDLE) {
			if (s.verb == PLAN_DROP) {
				plan_dropped(p, s.id);
				continue;
			}
			if (s.id < local)
				plan_local(p, s.id, false);
			plan_fetched(p, s.id, 1000000);
			check(p);
		}
		job_open(&sc->j, i);
		plan_used(p, i, 0, now);
	}
}

static unsigned held_of(struct plan *p, uint32_t from, uint32_t to, uint32_t step)
{
	unsigned held = 0;

	for (uint32_t i = from; i < to; i += step)
		held += plan_held(p, i);
	return held;
}

Test(plan_keep, memory_keeps_what_the_disk_does_not, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(200 * SIZE, 8, 4, 2000), in_order(2000));

	read_epoch(&sc, p, 1900, 1000);
	cr_expect_lt(held_of(p, 0, 1000, 1), 10, "%u of the disk", held_of(p, 0, 1000, 1));
	cr_expect_gt(held_of(p, 1000, 1880, 1), 120, "%u others", held_of(p, 1000, 1880, 1));
	scene_end(&sc);
}

Test(plan_keep, what_is_pinned_is_kept_before_others, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_with_pins(300 * SIZE, 2000), in_order(2000));

	read_epoch(&sc, p, 1900, 0);
	cr_expect_gt(held_of(p, 0, 1880, 10), 180, "%u of 188", held_of(p, 0, 1880, 10));
	scene_end(&sc);
}

Test(plan_keep, what_is_pinned_may_be_on_the_disk_as_well, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_with_pins(300 * SIZE, 2000), in_order(2000));

	read_epoch(&sc, p, 1900, 2000);
	cr_expect_gt(held_of(p, 0, 1880, 10), 180, "%u of 188", held_of(p, 0, 1880, 10));
	scene_end(&sc);
}

Test(plan_keep, holds_what_it_is_asked_for_as_far_as_there_is_room, .init = setup)
{
	struct plan *p = plan_of(400 * SIZE, 0, 4, 4000);
	sample_id ids[100], got[64];
	int r = 0;

	for (unsigned i = 0; i < 100; i++)
		ids[i] = 3000 - i;
	cr_assert_eq(plan_warm(p, ids, 100), 100);
	cr_assert_eq(plan_warm(p, ids, 100), -EAGAIN, "those before have their turn");
	cr_assert_eq(run(p, 0, got, 8), 100, "no order, a busy source: it is asked for");
	for (unsigned i = 0; i < 8; i++)
		cr_assert_eq(got[i], ids[i]);
	cr_assert_eq(plan_report(p).kept, 100 * SIZE);
	for (sample_id first = 0; r >= 0 && first < 2000; first += 100) {
		for (unsigned i = 0; i < 100; i++)
			ids[i] = first + i;
		r = plan_warm(p, ids, 100);
		run(p, 0, NULL, 0);
		check(p);
	}
	cr_assert_eq(r, -ENOSPC);
	cr_assert_gt(plan_report(p).held, 300 * SIZE);
	cr_assert_leq(plan_report(p).held, 400 * SIZE);
	cr_assert_geq(plan_warm(p, ids, 1), 0, "it is said once");
	plan_free(p);
}

Test(plan_keep, asked_for_comes_after_what_is_needed, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(100 * SIZE, 10, 4, 1000), in_order(1000));
	sample_id ids[] = { 900, 901 }, got[16];

	scene_tell(&sc, 0);
	cr_assert_eq(plan_warm(p, ids, 2), 2);
	cr_assert_eq(run(p, 0, got, 16), 12);
	for (unsigned i = 0; i < 10; i++)
		cr_assert_eq(got[i], i);
	cr_assert(plan_held(p, 900) && plan_held(p, 901));
	scene_end(&sc);
}

Test(plan_keep, asked_for_has_no_room_where_what_is_needed_has_none, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(20 * SIZE, 10, 4, 1000), in_order(1000));
	sample_id id = 900;

	for (unsigned i = 0; i < 20; i++)
		sizes[i] = 4 * SIZE;
	scene_tell(&sc, 0);
	cr_assert_eq(run(p, 0, NULL, 0), 5);
	cr_assert_eq(plan_warm(p, &id, 1), 1);
	run(p, 0, NULL, 0);
	cr_assert_eq(plan_warm(p, &id, 1), -ENOSPC);
	scene_end(&sc);
}

/* A program that shuffles once: what it needs first in the next epoch stays wanted. */
Test(plan_keep, the_same_sequence_again_is_the_next_epoch, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(100 * SIZE, 10, 4, 1000), in_order(1000));

	for (uint32_t e = 0; e < 3; e++) {
		sc.j.course.next = sequence_ref(sc.j.course.sequence);
		sc.j.course.epoch = e;
		job_read(&sc.j, 0, 995);
		scene_tell(&sc, 0);
		run(p, 0, NULL, 0);
		job_read(&sc.j, 995, 1000);
		job_roll(&sc.j, NULL);
		sc.j.course.epoch++;
		scene_tell(&sc, 1);
		cr_assert_eq(plan_report(p).ready_ahead, 5, "epoch %u", e);
		check(p);
	}
	scene_end(&sc);
}

Test(plan_keep, forgets_one, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(50 * SIZE, 10, 4, 1000), in_order(1000));
	struct plan_step s;

	scene_tell(&sc, 0);
	run(p, 0, NULL, 0);
	cr_assert_eq(plan_forget(p, 999), 0);
	cr_assert_eq(plan_forget(p, 3), SIZE);
	cr_assert_eq(plan_forget(p, 3), 0, "it is counted twice");
	s = plan_next(p, 0);
	cr_assert(s.verb == PLAN_DROP && s.id == 3);
	plan_dropped(p, 3);
	check(p);
	cr_assert_eq(plan_next(p, 0).verb, PLAN_IDLE, "nobody reads");
	plan_used(p, 0, 0, 0);
	s = plan_next(p, 0);
	cr_assert(s.verb == PLAN_FETCH && s.id == 3, "it is still needed");
	scene_end(&sc);
}

Test(plan_keep, forgets_all, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(50 * SIZE, 10, 4, 1000), in_order(1000));
	struct plan_step s;
	uint64_t bytes = 0;

	scene_tell(&sc, 0);
	run(p, 0, NULL, 0);
	for (sample_id id = 0; id < 1000; id++)
		bytes += plan_forget(p, id);
	cr_assert_eq(bytes, 10 * SIZE);
	for (unsigned i = 0; i < 10; i++) {
		s = plan_next(p, 0);
		cr_assert_eq(s.verb, PLAN_DROP);
		plan_dropped(p, s.id);
		check(p);
	}
	cr_assert_eq(plan_report(p).held, 0);
	cr_assert_eq(plan_next(p, 0).verb, PLAN_IDLE, "nobody reads");
	plan_used(p, 0, 0, 0);
	cr_assert_eq(plan_next(p, 0).verb, PLAN_FETCH, "they are still needed");
	scene_end(&sc);
}

Test(plan_keep, fills_no_more_after_forgetting_until_somebody_reads, .init = setup)
{
	struct plan_limits less = {
		.room = 1500 * SIZE, .whole = 100 * SIZE, .lead = 8, .depth = 4,
	};
	struct plan *p = plan_of(2000 * SIZE, 0, 4, 1000);

	cr_assert(!plan_report(p).filling);
	plan_fill(p, true);
	plan_idle(p, true);
	cr_assert(plan_report(p).filling);
	cr_assert_eq(run(p, 0, NULL, 0), 1000);
	cr_assert(!plan_report(p).filling);
	for (sample_id id = 0; id < 1000; id++)
		cr_assert_gt(plan_forget(p, id), 0);
	run(p, 0, NULL, 0);
	cr_assert_eq(plan_report(p).held, 0);
	plan_limits_changed(p, &less); /* as others' need of memory does, again and again */
	cr_assert_eq(run(p, PLAN_QUIET_NS * 100, NULL, 0), 0);
	cr_assert(!plan_report(p).filling);
	plan_used(p, 7, 0, PLAN_QUIET_NS * 100);
	cr_assert(plan_report(p).filling, "as soon as it is quiet");
	cr_assert_eq(run(p, PLAN_QUIET_NS * 101, NULL, 0), 1000);
	plan_free(p);
}

/* Whoever looks before anything is fetched is told so, too. */
Test(plan_keep, fills_on_when_there_may_be_room, .init = setup)
{
	struct plan_limits more = {
		.room = 200 * SIZE, .whole = 100 * SIZE, .lead = 8, .depth = 4,
	};
	struct plan *p = plan_of(100 * SIZE, 0, 4, 1000);

	plan_grown(p, 1000, 100 * SIZE);       /* that they are larger is not known */
	plan_idle(p, true);
	plan_fill(p, true);
	cr_assert_eq(run(p, 0, NULL, 0), 100);
	cr_assert(!plan_report(p).filling, "there is no room");
	plan_limits_changed(p, &more);
	cr_assert(plan_report(p).filling);
	cr_assert_eq(run(p, 0, NULL, 0), 100);
	cr_assert(!plan_report(p).filling);
	plan_grown(p, 1001, 100 * SIZE);
	cr_assert(plan_report(p).filling);
	run(p, 0, NULL, 0);
	cr_assert(!plan_report(p).filling);
	plan_fill(p, true);
	cr_assert(plan_report(p).filling);
	plan_free(p);
}

/* Whatever the order says; but what is asked for comes. */
Test(plan_keep, fetches_no_more_after_forgetting_until_somebody_reads, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(2000 * SIZE, 0, 4, 1000), in_order(1000));
	sample_id asked = 5;

	scene_tell(&sc, 0);
	plan_fill(p, true);
	plan_idle(p, true);
	cr_assert_gt(run(p, 0, NULL, 0), 0);
	cr_assert_eq(plan_next(p, 0).verb, PLAN_IDLE);
	for (sample_id id = 0; id < 1000; id++)
		plan_forget(p, id);
	cr_assert_eq(run(p, 0, NULL, 0), 0);
	cr_assert_eq(plan_report(p).held, 0);
	scene_tell(&sc, PLAN_QUIET_NS * 100);
	cr_assert_eq(run(p, PLAN_QUIET_NS * 100, NULL, 0), 0);
	cr_assert_eq(plan_warm(p, &asked, 1), 1);
	cr_assert_eq(run(p, PLAN_QUIET_NS * 100, NULL, 0), 1);
	check(p);
	plan_used(p, 0, 0, PLAN_QUIET_NS * 100);
	cr_assert_gt(run(p, PLAN_QUIET_NS * 100, NULL, 0), 0);
	scene_end(&sc);
}

static void wait_for_it(struct plan *p) { plan_late(p, 5); }
static void expect_a_reader(struct plan *p) { plan_expect(p, 0); }

/* An open that was not seen, or an order that was told. */
Test(plan_keep, goes_on_once_somebody_waits_or_is_about_to_come, .init = setup)
{
	static void (*const come[])(struct plan *p) = { wait_for_it, expect_a_reader };

	for (size_t i = 0; i < DL_COUNT(come); i++) {
		struct scene sc;
		struct plan *p = scene_start(&sc, plan_of(50 * SIZE, 10, 4, 1000), in_order(1000));

		plan_forget(p, 0);
		scene_tell(&sc, 0);
		cr_assert_eq(plan_next(p, 0).verb, PLAN_IDLE, "nobody reads");
		come[i](p);
		cr_assert_eq(plan_next(p, 0).verb, PLAN_FETCH);
		scene_end(&sc);
	}
}

/* Little room, and a processor that others have: between its open and its read a reader may wait
 * while others open many. */
Test(plan_keep, what_a_reader_has_opened_stays_until_he_goes_on, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(40 * SIZE, 0, 4, 2000), in_order(2000));

	scene_tell(&sc, 0);
	run(p, 0, NULL, 0);
	for (sample_id i = 0; i < 200; i++) {
		uint32_t pid = i == 3 || i == 150 ? 7 : 50 + i % 3;

		job_open(&sc.j, i);
		scene_tell(&sc, i);
		plan_used(p, i, pid, i);
		run(p, i, NULL, 0);
		cr_assert(plan_held(p, i), "%u went at once", i);
		cr_assert(i < 3 || i >= 150 || plan_held(p, 3), "gone after %u opens", i - 3);
	}
	cr_assert(!plan_held(p, 3), "its reader has opened another");
	scene_end(&sc);
}

/* Of whom waits for a sample we hear before we hear of his open. */
Test(plan_keep, what_is_brought_without_us_is_not_fetched_again, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(200 * SIZE, 100, 4, 2000), in_order(2000));
	struct plan_step s;
	sample_id late;

	scene_tell(&sc, 0);
	do {                           /* so far ahead it wants several at once */
		s = plan_next(p, 0);
		cr_assert_eq(s.verb, PLAN_FETCH);
		plan_fetched(p, s.id, 1);
	} while (s.id != 70);
	plan_late(p, 72);
	cr_assert_eq(run(p, 0, NULL, 0), 100u - 71 - 1);
	cr_assert(!plan_held(p, 72));
	cr_assert_eq(plan_wake(p), CLOCK_S);
	cr_assert_eq(run(p, CLOCK_S, &late, 1), 1u, "who waited has opened nothing");
	cr_assert_eq(late, 72u);
	scene_end(&sc);
}
