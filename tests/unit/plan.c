/* The plan, fact by fact from tables, and in small simulated worlds. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/clock.h"
#include "prefetch/manifest/list.h"
#include "prefetch/plan/plan.h"

#define SIZE 1000u
#define MAX 4000u

/* A list whose index is the sample's id: the plan asks for nothing else. */
struct list { unsigned refs; };
struct list *list_ref(struct list *l) { l->refs++; return l; }
void list_unref(struct list *l) { if (l) l->refs--; }
sample_id list_at(const struct list *l, uint32_t index) { (void)l; return index; }

static uint64_t sizes[MAX];

static bool size_of(const void *context, sample_id id, uint64_t *ret)
{
	(void)context;
	if (id >= MAX || sizes[id] == UINT64_MAX)
		return false;
	*ret = sizes[id];
	return true;
}

static uint64_t rng_state;

static uint32_t rnd(uint32_t n)
{
	rng_state = rng_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(rng_state >> 33) % n;
}

static void setup(void)
{
	rng_state = 7;
	for (unsigned i = 0; i < MAX; i++)
		sizes[i] = SIZE;
}

static struct sequence *in_order(uint32_t n)
{
	struct sequence *s = sequence_new(n, n);

	cr_assert(s);
	for (uint32_t i = 0; i < n; i++)
		s->at[i] = i;
	return s;
}

static struct sequence *shuffled(uint32_t n)
{
	struct sequence *s = in_order(n);

	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = rnd(i), t = s->at[j];

		s->at[j] = s->at[i - 1];
		s->at[i - 1] = t;
	}
	return s;
}

static struct plan *plan_of(uint64_t room, uint32_t lead, uint32_t depth, uint32_t n)
{
	struct plan_limits limits = { .room = room, .whole = 100 * SIZE, .lead = lead,
				      .depth = depth };
	struct plan_sizes how = { .size = size_of, .count = n };
	struct plan *p;

	cr_assert_eq(plan_new(&limits, &how, &p), 0);
	plan_grown(p, n, (uint64_t)n * SIZE);
	return p;
}

/* One job: a course, and the bitmap it stands on. */
struct job {
	struct list *list;
	struct course course;
	uint64_t opened[MAX / 64 + 2];
};

static void job_start(struct job *j, struct list *list, struct sequence *sequence, uint32_t pid)
{
	*j = (struct job){ .list = list };
	j->course = (struct course){ .list = list, .sequence = sequence, .opened = j->opened,
				     .pid = pid };
}

static void job_open(struct job *j, uint32_t position)
{
	j->opened[position / 64] |= UINT64_C(1) << (position % 64);
	j->course.reach = DL_MAX(j->course.reach, position + 1);
	while (j->course.front < j->course.sequence->length &&
	       j->opened[j->course.front / 64] >> (j->course.front % 64) & 1)
		j->course.front++;
}

static void job_roll(struct job *j, struct sequence *next)
{
	sequence_unref(j->course.sequence);
	j->course.sequence = j->course.next;
	j->course.next = next;
	j->course.front = j->course.reach = 0;
	memset(j->opened, 0, sizeof(j->opened));
}

static void job_end(struct job *j)
{
	sequence_unref(j->course.sequence);
	sequence_unref(j->course.next);
}

static void check(struct plan *p)
{
	struct plan_report r = plan_report(p);

	cr_assert(plan_check(p));
	cr_assert_leq(r.held, r.room);
}

/* Carry out steps at once until there are none, noting the fetches. */
static unsigned run(struct plan *p, uint64_t now, sample_id *fetched, unsigned max)
{
	unsigned n = 0;

	for (unsigned guard = 0; guard < 20000; guard++) {
		struct plan_step s = plan_next(p, now);

		check(p);
		if (s.verb == PLAN_IDLE)
			return n;
		if (s.verb == PLAN_DROP) {
			plan_dropped(p, s.id);
			continue;
		}
		plan_fetched(p, s.id, 1000000);
		if (n < max)
			fetched[n] = s.id;
		n++;
	}
	cr_assert_fail("the plan never comes to rest");
	return n;
}

Test(plan, fetches_the_lead_in_order_of_need, .init = setup)
{
	struct list list = { 0 };
	struct plan *p = plan_of(100 * SIZE, 10, 4, 1000);
	sample_id got[32];
	struct job j;

	job_start(&j, &list, in_order(1000), 1);
	plan_courses(p, &j.course, 1, 0);
	cr_assert_eq(run(p, 0, got, 32), 10);
	for (unsigned i = 0; i < 10; i++)
		cr_assert_eq(got[i], i);
	job_open(&j, 0);
	job_open(&j, 1);
	plan_used(p, 0, 1);
	plan_used(p, 1, 1);
	plan_courses(p, &j.course, 1, 1);
	cr_assert_eq(run(p, 1, got, 32), 2);
	cr_assert_eq(got[0], 10);
	cr_assert_eq(plan_report(p).ready_ahead, 10);
	plan_free(p);
	job_end(&j);
	cr_assert_eq(list.refs, 0, "the plan keeps a list");
}

Test(plan, never_has_more_fetches_out_than_twice_the_depth, .init = setup)
{
	struct list list = { 0 };
	struct plan *p = plan_of(100 * SIZE, 50, 3, 1000);
	struct job j;

	job_start(&j, &list, in_order(1000), 1);
	plan_courses(p, &j.course, 1, 0);
	for (unsigned i = 0; i < 6; i++)
		cr_assert_eq(plan_next(p, 0).verb, PLAN_FETCH);
	cr_assert_eq(plan_next(p, 0).verb, PLAN_IDLE);
	plan_fetched(p, 0, 1);
	cr_assert_eq(plan_next(p, 0).verb, PLAN_FETCH);
	plan_free(p);
	job_end(&j);
}

Test(plan, leaves_out_what_cannot_be_planned, .init = setup)
{
	struct list list = { 0 };
	struct plan *p = plan_of(20 * SIZE, 6, 4, 1000);
	sample_id got[8];
	struct job j;

	sizes[0] = UINT64_MAX;                 /* no such sample */
	sizes[1] = 0;
	sizes[2] = 21 * SIZE;                  /* larger than room */
	sizes[3] = 101 * SIZE;                 /* a big file */
	job_start(&j, &list, in_order(1000), 1);
	job_open(&j, 5);                       /* read already */
	plan_courses(p, &j.course, 1, 0);
	run(p, 0, got, 8);
	cr_assert_eq(got[0], 4);
	cr_assert_eq(got[1], 6);
	cr_assert_not(plan_held(p, 5));
	plan_free(p);
	job_end(&j);
}

Test(plan, runs_on_into_the_next_epoch, .init = setup)
{
	struct list list = { 0 };
	struct plan *p = plan_of(100 * SIZE, 10, 4, 1000);
	sample_id got[32];
	struct job j;

	job_start(&j, &list, in_order(1000), 1);
	j.course.next = shuffled(1000);
	for (unsigned i = 0; i < 995; i++)
		job_open(&j, i);
	plan_courses(p, &j.course, 1, 0);
	cr_assert_eq(run(p, 0, got, 32), 10);
	for (unsigned i = 0; i < 10; i++)
		cr_assert(plan_held(p, i < 5 ? 995 + i : j.course.next->at[i - 5]));
	for (unsigned i = 995; i < 1000; i++) {
		job_open(&j, i);
		plan_used(p, i, 1);
	}
	job_roll(&j, NULL);
	plan_courses(p, &j.course, 1, 2);
	for (unsigned i = 0; i < 5; i++)
		cr_assert(plan_held(p, j.course.sequence->at[i]), "rolling over lost the lead");
	run(p, 2, got, 32);
	check(p);
	plan_free(p);
	job_end(&j);
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
	for (unsigned i = 0; i < 500; i++)
		job_open(&k, i);
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
	struct course courses[2];
	unsigned held = 0;

	job_start(&jobs[0], &list, in_order(2000), 1);
	plan_courses(p, &jobs[0].course, 1, 0);
	plan_idle(p, true);
	run(p, 0, NULL, 0);
	job_start(&jobs[1], &list, in_order(2000), 2);
	for (unsigned i = 0; i < 1000; i++)
		job_open(&jobs[1], i);
	courses[0] = jobs[0].course;
	courses[1] = jobs[1].course;
	plan_courses(p, courses, 2, 1);
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

Test(plan, what_was_skipped_is_freed, .init = setup)
{
	struct list list = { 0 };
	struct plan *p = plan_of(50 * SIZE, 10, 4, 1000);
	struct job j;

	job_start(&j, &list, in_order(1000), 1);
	plan_courses(p, &j.course, 1, 0);
	run(p, 0, NULL, 0);
	j.course.front = 700;                  /* resumed in mid-epoch */
	j.course.reach = 701;
	plan_courses(p, &j.course, 1, 1);
	run(p, 1, NULL, 0);
	for (unsigned i = 0; i < 10; i++)
		cr_assert_not(plan_held(p, i));
	cr_assert(plan_held(p, 705));
	plan_free(p);
	job_end(&j);
}

Test(plan, a_failure_is_offered_again_after_a_second, .init = setup)
{
	struct list list = { 0 };
	struct plan *p = plan_of(50 * SIZE, 1, 4, 1000);
	struct plan_step s;
	struct job j;

	job_start(&j, &list, in_order(1000), 1);
	plan_courses(p, &j.course, 1, 0);
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
	plan_free(p);
	job_end(&j);
}

Test(plan, losses_shrink_the_lead_and_late_reads_deepen_it, .init = setup)
{
	struct list list = { 0 };
	struct plan *p = plan_of(2000 * SIZE, 0, 8, 4000);
	uint32_t first = plan_report(p).lead_target;
	struct job j;

	job_start(&j, &list, in_order(4000), 1);
	plan_courses(p, &j.course, 1, 0);
	run(p, 0, NULL, 0);
	plan_lost(p, 3);
	check(p);
	cr_assert_eq(plan_report(p).lead_target, first - first / 4);
	cr_assert_not(plan_held(p, 3));

	for (unsigned i = 0; i < 100; i++) {
		plan_used(p, i, i);
		job_open(&j, i);
	}
	plan_courses(p, &j.course, 1, 100);
	first = plan_report(p).lead_target;
	plan_late(p, plan_next(p, 100).id);
	cr_assert_eq(plan_report(p).lead_target, 2 * first);
	plan_late(p, 100);
	cr_assert_eq(plan_report(p).lead_target, 2 * first, "one bunch of late reads counts once");
	plan_free(p);
	job_end(&j);
}

Test(plan, provisional_courses_have_a_short_lead, .init = setup)
{
	struct list list = { 0 };
	struct plan *p = plan_of(2000 * SIZE, 500, 8, 4000);
	struct job j;

	job_start(&j, &list, in_order(4000), 1);
	j.course.provisional = true;
	plan_courses(p, &j.course, 1, 0);
	plan_idle(p, true);
	cr_assert_eq(run(p, 0, NULL, 0), 64);
	j.course.provisional = false;
	j.course.sequential = true;
	plan_courses(p, &j.course, 1, 0);
	plan_idle(p, false);
	for (unsigned i = 0; i < 100; i++)
		job_open(&j, i);
	plan_courses(p, &j.course, 1, 0);
	run(p, 0, NULL, 0);
	cr_assert(plan_held(p, 199));
	cr_assert_not(plan_held(p, 200), "a lead of what was read already, not more");
	plan_free(p);
	job_end(&j);
}

Test(plan, keeps_what_is_dearest_a_byte, .init = setup)
{
	struct list list = { 0 };
	struct plan *p = plan_of(200 * SIZE, 16, 4, 2000);
	uint64_t small = 0, large = 0;
	struct job j;

	for (unsigned i = 0; i < 2000; i++)
		sizes[i] = i % 2 ? SIZE / 2 : 8 * SIZE;        /* the same cost a fetch */
	plan_grown(p, 2000, 2000 * 17 * SIZE / 4);
	job_start(&j, &list, in_order(2000), 1);
	for (unsigned i = 0; i < 1000; i++) {
		plan_courses(p, &j.course, 1, i * CLOCK_S);
		run(p, i * CLOCK_S, NULL, 0);
		job_open(&j, i);
		plan_used(p, i, i * CLOCK_S);
	}
	for (unsigned i = 0; i < 980; i++)
		*(i % 2 ? &small : &large) += plan_held(p, i);
	cr_assert_gt(small, 150, "%lu small ones", (unsigned long)small);
	cr_assert_lt(large, 8, "%lu large ones", (unsigned long)large);
	plan_free(p);
	job_end(&j);
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
	run(p, 0, NULL, 0);
	for (unsigned i = 0; i < 4000; i++)
		quarter[i / 1000] += plan_held(p, i);
	for (unsigned i = 0; i < 4; i++) {
		cr_assert_gt(quarter[i], 60);
		cr_assert_lt(quarter[i], 140);
	}
	plan_free(p);
}

Test(plan, forgets_all_when_told, .init = setup)
{
	struct list list = { 0 };
	struct plan *p = plan_of(50 * SIZE, 10, 4, 1000);
	struct plan_step s;
	struct job j;

	job_start(&j, &list, in_order(1000), 1);
	plan_courses(p, &j.course, 1, 0);
	run(p, 0, NULL, 0);
	plan_forget_all(p);
	for (unsigned i = 0; i < 10; i++) {
		s = plan_next(p, 0);
		cr_assert_eq(s.verb, PLAN_DROP);
		plan_dropped(p, s.id);
		check(p);
	}
	cr_assert_eq(plan_report(p).held, 0);
	cr_assert_eq(plan_next(p, 0).verb, PLAN_FETCH, "they are still needed");
	plan_free(p);
	job_end(&j);
}

Test(plan, a_smaller_room_is_reached, .init = setup)
{
	struct plan_limits less = { .room = 5 * SIZE, .whole = 100 * SIZE, .lead = 10, .depth = 4 };
	struct list list = { 0 };
	struct plan *p = plan_of(50 * SIZE, 10, 4, 1000);
	struct job j;

	job_start(&j, &list, in_order(1000), 1);
	plan_courses(p, &j.course, 1, 0);
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
	plan_free(p);
	job_end(&j);
}

/* --- A world: a source with latency, readers that open as fast as one a tick ---------- */

#define LATENCY 20                     /* ticks; a tick is 1 ms */
#define OUT 256

struct world {
	struct plan *p;
	struct { sample_id id; uint64_t done; bool fetch; } out[OUT];
	unsigned n;
	bool ready[MAX];
	uint64_t now;
};

static void world_steps(struct world *w)
{
	for (;;) {
		struct plan_step s = plan_next(w->p, w->now * CLOCK_MS);

		if (s.verb == PLAN_IDLE)
			return;
		cr_assert_lt(w->n, OUT);
		if (s.verb == PLAN_DROP)
			w->ready[s.id] = false;
		w->out[w->n].id = s.id;
		w->out[w->n].fetch = s.verb == PLAN_FETCH;
		w->out[w->n++].done = w->now + (s.verb == PLAN_FETCH ? LATENCY : 1);
	}
}

static void world_tick(struct world *w)
{
	unsigned left = 0;

	w->now++;
	for (unsigned i = 0; i < w->n; i++) {
		if (w->out[i].done > w->now) {
			w->out[left++] = w->out[i];
		} else if (w->out[i].fetch) {
			w->ready[w->out[i].id] = true;
			plan_fetched(w->p, w->out[i].id, LATENCY * CLOCK_MS);
		} else {
			plan_dropped(w->p, w->out[i].id);
		}
	}
	w->n = left;
	world_steps(w);
	check(w->p);
}

/* Read on, `workers` stretches of 4 in turn as a loader does.  Returns how many were there. */
static unsigned read_epoch(struct world *w, struct job *j, unsigned workers)
{
	uint32_t n = j->course.sequence->length;
	unsigned hits = 0;

	for (uint32_t base = 0; base < n; base += 4 * workers)
		for (uint32_t k = 0; k < 4 * workers; k++) {
			uint32_t position = base + k % workers * 4 + k / workers;
			sample_id id;

			if (position >= n)
				continue;
			id = j->course.sequence->at[position];
			hits += w->ready[id];
			if (!w->ready[id]) {
				plan_late(w->p, id);
				for (unsigned t = 0; t < LATENCY; t++)
					world_tick(w);
			}
			plan_used(w->p, id, w->now * CLOCK_MS);
			job_open(j, position);
			plan_courses(w->p, &j->course, 1, w->now * CLOCK_MS);
			world_tick(w);
		}
	return hits;
}

Test(plan, all_hit_once_the_lead_is_warm, .init = setup)
{
	struct world *w = calloc(1, sizeof(*w));
	struct list list = { 0 };
	struct job j;
	unsigned hits;

	w->p = plan_of(300 * SIZE, 0, 32, 2000);
	job_start(&j, &list, shuffled(2000), 1);
	j.course.next = shuffled(2000);
	plan_courses(w->p, &j.course, 1, 0);
	hits = read_epoch(w, &j, 4);
	cr_assert_geq(hits, 1900, "%u of 2000", hits);
	job_roll(&j, shuffled(2000));
	plan_courses(w->p, &j.course, 1, w->now * CLOCK_MS);
	hits = read_epoch(w, &j, 4);
	cr_assert_geq(hits, 1995, "%u of 2000", hits);
	plan_free(w->p);
	job_end(&j);
	free(w);
}

/* A source so slow that nothing is fetched in time still has what was kept. */
Test(plan, keeps_as_much_of_an_epoch_as_it_has_room_for, .init = setup)
{
	struct list list = { 0 };
	struct plan *p = plan_of(1000 * SIZE, 16, 4, 2000);
	struct job j;

	job_start(&j, &list, shuffled(2000), 1);
	j.course.next = shuffled(2000);
	for (unsigned epoch = 0; epoch < 4; epoch++) {
		unsigned fetched = 0;

		plan_courses(p, &j.course, 1, epoch * 2000 * CLOCK_S);
		for (unsigned i = 0; i < 2000; i++) {
			uint64_t now = (epoch * 2000 + i) * CLOCK_S;

			fetched += run(p, now, NULL, 0);
			plan_used(p, j.course.sequence->at[i], now);
			job_open(&j, i);
			plan_courses(p, &j.course, 1, now);
		}
		if (epoch > 0)
			cr_assert_leq(fetched, 1060, "epoch %u: %u fetches", epoch, fetched);
		job_roll(&j, shuffled(2000));
	}
	plan_free(p);
	job_end(&j);
}

Test(plan, a_tiny_room_makes_progress, .init = setup)
{
	struct world *w = calloc(1, sizeof(*w));
	struct list list = { 0 };
	struct job j;
	unsigned hits;

	w->p = plan_of(8 * SIZE, 0, 32, 500);
	job_start(&j, &list, shuffled(500), 1);
	plan_courses(w->p, &j.course, 1, 0);
	hits = read_epoch(w, &j, 1);
	cr_assert_geq(hits, 300, "%u of 500", hits);
	plan_free(w->p);
	job_end(&j);
	free(w);
}

Test(plan, two_jobs_on_one_order_share_their_fetches, .init = setup)
{
	struct list list = { 0 };
	struct plan *p = plan_of(400 * SIZE, 20, 4, 2000);
	struct sequence *order = shuffled(2000);
	struct course courses[2];
	struct job jobs[2];
	unsigned fetched = 0;

	job_start(&jobs[0], &list, sequence_ref(order), 1);
	job_start(&jobs[1], &list, order, 2);
	for (unsigned i = 0; i < 2010; i++) {  /* the second lags by ten */
		for (unsigned k = 0; k < 2; k++) {
			unsigned at = i - 10 * k;

			if (i < 10 * k || at >= 2000)
				continue;
			cr_assert(i == 0 || plan_held(p, order->at[at]), "job %u at %u", k, at);
			plan_used(p, order->at[at], i * CLOCK_S);
			job_open(&jobs[k], at);
		}
		courses[0] = jobs[0].course;
		courses[1] = jobs[1].course;
		plan_courses(p, courses, 2, i * CLOCK_S);
		fetched += run(p, i * CLOCK_S, NULL, 0);
	}
	cr_assert_leq(fetched, 2000);
	plan_free(p);
	job_end(&jobs[0]);
	job_end(&jobs[1]);
}

/* --- Anything at all ------------------------------------------------------------------- */

struct chaos {
	struct plan *p;
	struct list list;
	struct job jobs[4];
	unsigned count;
	sample_id fetching[512], dropping[4096];
	unsigned fetches, drops;
	uint64_t now;
};

static void chaos_courses(struct chaos *c)
{
	struct course courses[4];

	for (unsigned i = 0; i < c->count; i++)
		courses[i] = c->jobs[i].course;
	plan_courses(c->p, courses, c->count, c->now);
}

static void chaos_begin(struct chaos *c)
{
	struct job *j = &c->jobs[c->count];
	struct sequence *same = c->count && rnd(3) == 0 ?
		sequence_ref(c->jobs[0].course.sequence) : NULL;

	job_start(j, &c->list, same ? same : shuffled(200 + rnd(1000)), rnd(5));
	j->course.next = rnd(2) ? shuffled(300) : NULL;
	j->course.provisional = rnd(3) == 0;
	j->course.sequential = rnd(3) == 0;
	j->course.front = j->course.reach = rnd(3) ? 0 : rnd(200);
	c->count++;
}

static void chaos_read(struct chaos *c, struct job *j)
{
	uint32_t length = j->course.sequence->length;
	uint32_t position = j->course.front + rnd(40);

	if (position >= length)
		position = j->course.front;
	if (position >= length && j->course.next) {
		job_roll(j, rnd(2) ? shuffled(300) : NULL);
		return;
	}
	if (position >= length)
		return;
	if (rnd(50) == 0)
		plan_late(c->p, j->course.sequence->at[position]);
	plan_used(c->p, j->course.sequence->at[position], c->now);
	job_open(j, position);
	if (rnd(100) == 0) {                   /* given up, or moved */
		j->course.front = DL_MIN(j->course.front + rnd(100), length);
		j->course.reach = DL_MAX(j->course.reach, j->course.front);
	}
	if (rnd(300) == 0) {
		j->course.front = j->course.reach = rnd(length);
		memset(j->opened, 0, sizeof(j->opened));
	}
}

static void chaos_fact(struct chaos *c)
{
	struct plan_limits limits = { .room = 50 * SIZE, .whole = 30 * SIZE, .depth = 8 };
	unsigned what = rnd(1000), i;

	if (what < 500 && c->count)
		chaos_read(c, &c->jobs[rnd(c->count)]);
	else if (what < 510 && c->count < 4)
		chaos_begin(c);
	else if (what < 517 && c->count)
		job_end(&c->jobs[--c->count]);
	else if (what < 530)
		plan_lost(c->p, rnd(1200));
	else if (what < 545)
		plan_idle(c->p, rnd(2));
	else if (what < 546)
		plan_fill(c->p, rnd(2));
	else if (what < 548)
		plan_forget_all(c->p);
	else if (what < 550) {
		limits.room += rnd(200) * SIZE;
		plan_limits_changed(c->p, &limits);
	} else if (what < 800 && c->fetches) {
		i = rnd(c->fetches);
		if (rnd(20) == 0)
			plan_failed(c->p, c->fetching[i], c->now);
		else
			plan_fetched(c->p, c->fetching[i], rnd(1000000));
		c->fetching[i] = c->fetching[--c->fetches];
	} else if (c->drops) {
		i = rnd(c->drops);
		plan_dropped(c->p, c->dropping[i]);
		c->dropping[i] = c->dropping[--c->drops];
	}
	chaos_courses(c);
}

static void chaos_step(struct chaos *c)
{
	struct plan_report before = plan_report(c->p);
	struct plan_step s = plan_next(c->p, c->now);
	struct plan_report after = plan_report(c->p);

	cr_assert(after.held <= after.room || after.held <= before.held);
	if (s.verb == PLAN_FETCH) {
		cr_assert_lt(c->fetches, 16);
		for (unsigned i = 0; i < c->fetches; i++)
			cr_assert_neq(c->fetching[i], s.id, "two fetches of one sample");
		for (unsigned i = 0; i < c->drops; i++)
			cr_assert_neq(c->dropping[i], s.id, "a fetch into a drop");
		c->fetching[c->fetches++] = s.id;
	} else if (s.verb == PLAN_DROP) {
		c->dropping[c->drops++] = s.id;
	}
}

Test(plan, holds_whatever_happens, .init = setup)
{
	for (unsigned world = 0; world < 12; world++) {
		struct chaos *c = calloc(1, sizeof(*c));

		rng_state = world;
		for (unsigned i = 0; i < MAX; i++)
			sizes[i] = rnd(20) ? rnd(5 * SIZE) : rnd(80 * SIZE);
		c->p = plan_of(100 * SIZE, world % 3 ? 0 : 30, 8, 1200);
		for (unsigned i = 0; i < 6000; i++) {
			c->now += rnd(100 * 1000000);
			chaos_fact(c);
			cr_assert(plan_check(c->p), "world %u, fact %u", world, i);
			chaos_step(c);
			cr_assert(plan_check(c->p), "world %u, step %u", world, i);
		}
		plan_free(c->p);
		while (c->count)
			job_end(&c->jobs[--c->count]);
		cr_assert_eq(c->list.refs, 0);
		free(c);
	}
}
