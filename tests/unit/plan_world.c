/* The plan in small simulated worlds, and under random facts. */
#include "tests/unit/plan_world.h"

/* --- A world: a source with latency, readers that open as fast as one a tick ---------- */

#define LATENCY 20                     /* ticks; a tick is 1 ms */
#define OUT 256

struct world {
	struct scene scene;
	struct plan *p;                /* of the scene */
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

static struct world *world_new(struct plan *p, struct sequence *sequence)
{
	struct world *w = calloc(1, sizeof(*w));

	cr_assert(w);
	w->p = scene_start(&w->scene, p, sequence);
	return w;
}

static void world_free(struct world *w)
{
	scene_end(&w->scene);
	free(w);
}

/* Read on, `workers` stretches of 4 in turn as a loader does.  Returns how many were there. */
static unsigned read_epoch(struct world *w, unsigned workers)
{
	struct job *j = &w->scene.j;
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
			plan_used(w->p, id, 0, w->now * CLOCK_MS);
			job_open(j, position);
			scene_tell(&w->scene, w->now * CLOCK_MS);
			world_tick(w);
		}
	return hits;
}

Test(plan_world, all_hit_once_the_lead_is_warm, .init = setup)
{
	struct world *w = world_new(plan_of(300 * SIZE, 0, 32, 2000), shuffled(2000));
	unsigned hits;

	w->scene.j.course.next = shuffled(2000);
	scene_tell(&w->scene, 0);
	hits = read_epoch(w, 4);
	cr_assert_geq(hits, 1900, "%u of 2000", hits);
	job_roll(&w->scene.j, shuffled(2000));
	scene_tell(&w->scene, w->now * CLOCK_MS);
	hits = read_epoch(w, 4);
	cr_assert_geq(hits, 1995, "%u of 2000", hits);
	world_free(w);
}

/* A source so slow that nothing is fetched in time still has what was kept. */
Test(plan_world, keeps_as_much_of_an_epoch_as_it_has_room_for, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(1000 * SIZE, 16, 4, 2000), shuffled(2000));

	sc.j.course.next = shuffled(2000);
	for (unsigned epoch = 0; epoch < 4; epoch++) {
		unsigned fetched = 0;

		scene_tell(&sc, epoch * 2000 * CLOCK_S);
		for (unsigned i = 0; i < 2000; i++) {
			uint64_t now = (epoch * 2000 + i) * CLOCK_S;

			fetched += run(p, now, NULL, 0);
			plan_used(p, sc.j.course.sequence->at[i], 0, now);
			job_open(&sc.j, i);
			scene_tell(&sc, now);
		}
		if (epoch > 0)
			cr_assert_leq(fetched, 1060, "epoch %u: %u fetches", epoch, fetched);
		job_roll(&sc.j, shuffled(2000));
	}
	scene_end(&sc);
}

Test(plan_world, a_tiny_room_makes_progress, .init = setup)
{
	struct world *w = world_new(plan_of(8 * SIZE, 0, 32, 500), shuffled(500));
	unsigned hits;

	scene_tell(&w->scene, 0);
	hits = read_epoch(w, 1);
	cr_assert_geq(hits, 300, "%u of 500", hits);
	world_free(w);
}

Test(plan_world, two_jobs_on_one_order_share_their_fetches, .init = setup)
{
	struct list list = { 0 };
	struct plan *p = plan_of(400 * SIZE, 20, 4, 2000);
	struct sequence *order = shuffled(2000);
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
			plan_used(p, order->at[at], 0, i * CLOCK_S);
			job_open(&jobs[k], at);
		}
		jobs_tell(p, jobs, 2, i * CLOCK_S);
		fetched += run(p, i * CLOCK_S, NULL, 0);
	}
	cr_assert_leq(fetched, 2000);
	plan_free(p);
	job_end(&jobs[0]);
	job_end(&jobs[1]);
}

/* A sample is dropped when its reader has gone on, and not before. */
Test(plan_world, a_spent_sample_stays_until_it_is_read, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(100 * SIZE, 90, 4, 2000), in_order(2000));

	scene_tell(&sc, 0);
	run(p, 0, NULL, 0);
	for (unsigned i = 0; i < 60; i++) {
		job_open(&sc.j, i);
		scene_tell(&sc, 0);
		plan_used(p, i, 0, 0);
		run(p, 0, NULL, 0);
		if (i >= 40)
			cr_assert(plan_held(p, i - 10), "%u went too early", i - 10);
	}
	cr_assert(plan_held(p, 130), "the lead does not go on");
	scene_end(&sc);
}

/* No time passes and few files are opened, but eight samples are all there is room for. */
Test(plan_world, a_tiny_room_does_not_wait_for_what_is_spent, .init = setup)
{
	struct scene sc;
	struct plan *p = scene_start(&sc, plan_of(8 * SIZE, 0, 4, 2000), in_order(2000));

	scene_tell(&sc, 0);
	run(p, 0, NULL, 0);
	for (unsigned i = 0; i < 12; i++) {
		cr_assert(plan_held(p, i), "%u is not there", i);
		job_open(&sc.j, i);
		scene_tell(&sc, 0);
		plan_used(p, i, 0, 0);
		run(p, 0, NULL, 0);
	}
	scene_end(&sc);
}

/* --- Anything at all ------------------------------------------------------------------- */

struct chaos {
	struct plan *p;
	struct list list;
	struct job jobs[JOBS];
	unsigned count;
	sample_id fetching[512], dropping[4096];
	unsigned fetches, drops;
	uint64_t now;
	uint64_t absent[2];            /* of the ranks, 70 at most, of all jobs */
};

static void chaos_begin(struct chaos *c)
{
	struct job *j = &c->jobs[c->count];
	struct sequence *same = c->count && rnd(3) == 0 ?
		sequence_ref(c->jobs[0].course.sequence) : NULL;

	job_start(j, &c->list, same ? same : shuffled(200 + rnd(1000)), rnd(5));
	if (!same)
		j->course.sequence->step = rnd(2) ? 1 : 1 + rnd(70);
	j->course.next = rnd(2) ? shuffled(300) : NULL;
	j->course.provisional = rnd(3) == 0;
	j->course.sequential = rnd(3) == 0;
	j->course.front = j->course.reach = rnd(3) ? 0 : rnd(200);
	j->course.absent = rnd(2) ? c->absent : NULL;
	c->count++;
}

static void chaos_read(struct chaos *c, struct job *j)
{
	uint32_t length = j->course.sequence->length;
	uint32_t position = j->course.front + rnd(rnd(4) ? 40 : 400);

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
	plan_used(c->p, j->course.sequence->at[position], 0, c->now);
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
	else if (what < 510 && c->count < JOBS)
		chaos_begin(c);
	else if (what < 517 && c->count)
		job_end(&c->jobs[--c->count]);
	else if (what < 520)
		c->absent[rnd(2)] ^= UINT64_C(1) << rnd(64);
	else if (what < 530)
		plan_lost(c->p, rnd(1200));
	else if (what < 545)
		plan_idle(c->p, rnd(2));
	else if (what < 546)
		plan_fill(c->p, rnd(2));
	else if (what < 548)
		for (sample_id id = 0; id < 1200; id++)
			(void)plan_forget(c->p, id);
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
	jobs_tell(c->p, c->jobs, c->count, c->now);
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

Test(plan_world, holds_whatever_happens, .init = setup)
{
	for (unsigned world = 0; world < 12; world++) {
		struct chaos *c = calloc(1, sizeof(*c));

		random_state = (struct random){ world };
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
