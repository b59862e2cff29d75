/* The plan over a sequence whose samples are fetched in pieces. */
#include "tests/unit/plan_world.h"

#define N 1000u
#define PIECE 20u

/* The order that the epoch view would have. */
static struct sequence *drawn(uint64_t number, uint32_t reservoir)
{
	struct order_spec spec = { .kind = ORDER_DRAWN, .piece = PIECE, .reservoir = reservoir };
	struct epoch e = { .rule = EPOCH_DRAWN, .number = number };
	struct sequence *q;

	cr_assert_eq(order_drawn(&spec, &e, N, NULL, 0, &q), 0);
	return q;
}

/* How often one was fetched that does not follow the last. */
static unsigned jumps(const sample_id *got, unsigned count)
{
	unsigned n = 0;

	for (unsigned i = 0; i < count; i++)
		n += i == 0 || got[i] != got[i - 1] + 1;
	return n;
}

static void read_one(struct scene *sc, uint32_t position, uint64_t now)
{
	sample_id id = sc->j.course.sequence->at[position];

	cr_assert(plan_held(sc->p, id), "%u at %u is not there", (unsigned)id, position);
	job_open(&sc->j, position);
	plan_used(sc->p, id, 0, now);
	scene_tell(sc, now);
}

/* Two epochs out of a tenth of the dataset: each sample is there when it is needed, was fetched
 * once an epoch, and a piece at a time. */
Test(plan_pieces, are_read_whole_and_once, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(10 * PIECE * SIZE, 0, 2, N), drawn(0, 5 * PIECE));
	sample_id got[3 * N];
	unsigned count = 0, at_most = 2 * (N / PIECE + 5) + 10;

	sc.j.course.next = drawn(1, 5 * PIECE);
	scene_tell(&sc, 0);
	for (unsigned epoch = 0; epoch < 2; epoch++) {
		for (uint32_t i = 0; i < N; i++) {
			count += run(p, i, got + count, 3 * N - count);
			read_one(&sc, i, epoch * N + i);
		}
		job_roll(&sc.j, drawn(epoch + 2, 5 * PIECE));
		scene_tell(&sc, (epoch + 1) * N);
	}
	cr_assert_leq(count, 2 * N + 10 * PIECE, "%u fetches for %u", count, 2 * N);
	cr_assert_leq(jumps(got, count), at_most, "%u jumps in %u", jumps(got, count), count);
	scene_end(&sc);
}

/* What one of four readers has not read of an epoch stays until it has, while the others are far in
 * the next; and what was foreseen of that is not fetched again. */
Test(plan_pieces, stay_for_the_last_readers_of_an_epoch, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(10 * PIECE * SIZE, 0, 2, N), drawn(0, 5 * PIECE));
	const uint32_t late = N - 3 * PIECE, far = N / 3;
	struct job old;
	unsigned count = 0;

	sc.j.course.next = drawn(1, 5 * PIECE);
	scene_tell(&sc, 0);
	for (uint32_t i = 0; i < N; i++) {
		count += run(p, i, NULL, 0);
		if (i < late || i % 4 != 3)
			read_one(&sc, i, i);
	}
	old = sc.j;
	old.course.opened = old.opened;
	sequence_ref(old.course.sequence);
	old.course.next = NULL;
	job_roll(&sc.j, drawn(2, 5 * PIECE));
	for (uint32_t i = 0; i < far; i++) {
		struct course both[] = { sc.j.course, old.course };

		plan_courses(p, both, 2, N + i);
		count += run(p, N + i, NULL, 0);
		cr_assert(plan_held(p, both[0].sequence->at[i]), "%u is not there", i);
		job_open(&sc.j, i);
		plan_used(p, both[0].sequence->at[i], 0, N + i);
	}
	for (uint32_t i = late; i < N; i++)
		cr_assert(i % 4 != 3 || plan_held(p, old.course.sequence->at[i]), "%u is gone", i);
	cr_assert_leq(count, N + far + 10 * PIECE, "%u fetches", count);
	job_end(&old);
	scene_end(&sc);
}

/* What is out of turn: a piece of which some were read already; a jump over much; a smaller limit;
 * a course that ends. */
Test(plan_pieces, may_be_left_in_the_middle, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(10 * PIECE * SIZE, 50, 2, N),
				     drawn(0, 5 * PIECE));
	struct plan_limits less = {
		.room = 3 * PIECE * SIZE, .whole = SIZE, .lead = 50, .depth = 2,
	};
	uint64_t now = 0;

	for (uint32_t i = 0; i < N; i += 1 + rnd(60)) {
		job_open(&sc.j, i);
		if (rnd(4) == 0)
			sc.j.course.front = sc.j.course.reach;
		scene_tell(&sc, now);
		for (unsigned k = rnd(40); k > 0; k--) {
			struct plan_step s = plan_next(p, ++now);

			check(p);
			if (s.verb == PLAN_FETCH && rnd(8) == 0)
				plan_failed(p, s.id, now);
			else if (s.verb == PLAN_FETCH)
				plan_fetched(p, s.id, 1);
			else if (s.verb == PLAN_DROP)
				plan_dropped(p, s.id);
		}
	}
	plan_limits_changed(p, &less);
	for (struct plan_step s = plan_next(p, now); s.verb == PLAN_DROP; s = plan_next(p, now)) {
		plan_dropped(p, s.id);
		cr_assert(plan_check(p));
	}
	plan_courses(p, NULL, 0, now);
	cr_assert(plan_check(p));
	scene_end(&sc);
}
