/* In which order the source is to read what it is asked for. */
#include "tests/unit/plan_world.h"

static void read_at(struct scene *sc, uint32_t position, uint64_t now)
{
	job_open(&sc->j, position);
	plan_used(sc->p, sc->j.course.sequence->at[position], 0, now);
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

/* Readers that go on in turn, `apart` positions from one to the next, each `step` at a time.  How
 * many of their opens were of what is there. */
static unsigned read_abreast(struct scene *sc, unsigned readers, uint32_t apart, uint32_t opens)
{
	uint32_t step = sc->j.course.sequence->step;
	unsigned hits = 0;

	for (uint32_t k = 0; k < opens; k++)
		for (uint32_t i = 0; i < readers * step; i++) {
			uint32_t position = i / step * apart + k * step + i % step;
			uint64_t now = k * readers * step + i;

			hits += plan_held(sc->p, sc->j.course.sequence->at[position]);
			read_at(sc, position, now);
			run(sc->p, now, NULL, 0);
		}
	return hits;
}

/* All that lies between the readers does not fit: not even that of the hindmost. */
Test(plan_turns, each_reader_has_what_comes_next_though_not_all_fits, .init = setup)
{
	static const struct { uint32_t step; unsigned readers, apart, opens; } cases[] = {
		{ 1, 8, 900, 150 }, { 2, 4, 1800, 150 }, { 64, 2, 3840, 30 },
	};

	for (size_t i = 0; i < DL_COUNT(cases); i++) {
		struct sequence *q = shuffled(MAX);
		struct scene sc;
		unsigned hits, all = cases[i].step * cases[i].readers * cases[i].opens;

		scene_start(&sc, plan_of(800 * SIZE, 0, 8, MAX), q);
		q->step = cases[i].step;
		scene_tell(&sc, 0);
		run(sc.p, 0, NULL, 0);
		hits = read_abreast(&sc, cases[i].readers, cases[i].apart, cases[i].opens);
		cr_expect_geq(hits, all / 10 * 9, "step %u: %u of %u", q->step, hits, all);
		scene_end(&sc);
	}
}

/* Of those within the lead and of this epoch, what each rank has; the next is all ahead. */
static unsigned held_of_rank(const struct scene *sc, uint32_t rank, bool next)
{
	const struct sequence *q = next ? sc->j.course.next : sc->j.course.sequence;
	unsigned held = 0;

	for (uint32_t p = rank; p < q->length; p += q->step)
		held += plan_held(sc->p, q->at[p]);
	return held;
}

Test(plan_turns, ranks_that_are_not_there_have_nothing, .init = setup)
{
	static const uint64_t absent[] = { 10, 8, 9 };
	struct scene sc;

	scene_start(&sc, plan_of(100 * SIZE, 80, 8, MAX), in_order(40));
	sc.j.course.next = sequence_new(400, MAX);
	for (uint32_t i = 0; i < 400; i++)
		sc.j.course.next->at[i] = 1000 + i;
	sc.j.course.sequence->step = sc.j.course.next->step = 4;
	for (size_t i = 0; i < DL_COUNT(absent); i++) {
		sc.j.course.absent = &absent[i];
		scene_tell(&sc, i * CLOCK_S);
		run(sc.p, i * CLOCK_S, NULL, 0);
		for (uint32_t rank = 0; rank < 4; rank++) {
			bool away = absent[i] >> rank & 1;

			if (i == 2 && rank == 0)
				continue;      /* what it left goes as its room is needed */
			cr_expect_eq(held_of_rank(&sc, rank, false), away ? 0 : 10, "%zu", i);
			cr_expect_eq(held_of_rank(&sc, rank, true) > 5, !away, "%zu: %u", i,
				     held_of_rank(&sc, rank, true));
		}
	}
	cr_expect_lt(held_of_rank(&sc, 0, true), held_of_rank(&sc, 1, true));
	scene_end(&sc);
}

/* A batch is waited for before those after it: while the source cannot bring all, the hindmost
 * comes first. */
Test(plan_turns, who_is_behind_goes_first_while_the_source_is_busy, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(100 * SIZE, 20, 32, MAX), shuffled(MAX));
	const struct sequence *q = sc.j.course.sequence;
	struct plan_step s;

	scene_tell(&sc, 0);
	for (uint32_t k = 0; k < 4; k++)
		for (uint32_t i = 0; i < 8; i++) {
			read_at(&sc, i * 500 + k, k);
			while ((s = plan_next(p, k)).verb == PLAN_FETCH)
				for (uint32_t at = 500; at < MAX; at++)
					cr_assert_neq(s.id, q->at[at]);
		}
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
