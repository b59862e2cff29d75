/* Many workers with large batches read far apart. */
#include "tests/lib/stage.h"

#define N 60000u
#define RANKS_MOST 8u
#define EPOCHS 2u
#define FOUND_AT 1000u
#define AWAY 0xcau
#define PACE 250000u                    /* ns from one open to the next */

struct ranks {
	uint32_t world;                /* 1: a single process */
	struct sequence *sequences[RANKS_MOST];
	struct loader loaders[RANKS_MOST];
	uint32_t chosen, started;      /* rank + world × worker; how many */
	uint32_t away;                 /* a bit a rank: they read elsewhere */
};

static void begin(struct ranks *r, uint32_t epoch, unsigned workers, unsigned batch)
{
	r->started = r->chosen = 0;
	for (uint32_t i = 0; i < r->world; i++) {
		r->sequences[i] = r->world > 1 ? rank_sequence(N, epoch, r->world, i)
					       : torch_sequence(N, word_of(7, 3 + 4 * epoch), 0);
		r->loaders[i] = (struct loader){
			.sequence = r->sequences[i], .to = r->sequences[i]->length,
			.workers = workers, .batch = batch,
		};
	}
}

static void end(struct ranks *r)
{
	for (uint32_t i = 0; i < r->world; i++)
		sequence_unref(r->sequences[i]);
}

/* Ranks take each step together. */
static bool all_have_read(const struct ranks *r)
{
	for (uint32_t i = 0; i < r->world; i++)
		if (!(r->away >> i & 1) && !is_read(&r->loaders[i], r->loaders[i].consumed))
			return false;
	return true;
}

static bool can_open(const struct ranks *r, uint32_t reader)
{
	uint32_t rank = reader % r->world;

	return !(r->away >> rank & 1) && has_work(&r->loaders[rank], reader / r->world);
}

/* Who goes on: on few processors one worker goes on for so many opens on average, and the others
 * wait; 0: all in turn.  They are started one after the other.  false: the epoch is over. */
static bool choose(struct ranks *r, struct stage *s, uint32_t burst)
{
	uint32_t readers = r->world * r->loaders[0].workers;
	uint32_t first = burst > 0 ? stage_draw(s, readers) : r->chosen + 1;

	while (all_have_read(r))
		for (uint32_t i = 0; i < r->world; i++)
			r->loaders[i].consumed++;
	if (burst > 0 && stage_draw(s, burst) > 0 && can_open(r, r->chosen))
		return true;
	while (r->started < readers) {
		r->chosen = r->started++;
		if (can_open(r, r->chosen))
			return true;
	}
	for (uint32_t k = 0; k < readers; k++) {
		r->chosen = (first + k) % readers;
		if (can_open(r, r->chosen))
			return true;
	}
	return false;
}

/* Somebody's next open; false: the epoch is over.  ret_left: it was given up, or never known. */
static bool step(struct ranks *r, struct stage *s, uint32_t burst, uint32_t epoch, bool *ret_left)
{
	const struct course *c = tracker_main(s->tracker);
	uint32_t rank, position, pid;

	if (!choose(r, s, burst))
		return false;
	rank = r->chosen % r->world;
	worker_step(&r->loaders[rank], r->chosen / r->world, &position, &pid);
	*ret_left = !c || c->epoch != epoch || position * r->world + rank < c->front;
	s->now += PACE;
	stage_see(s, list_at(&s->list, r->sequences[rank]->at[position]), pid);
	return true;
}

static const struct wide { uint32_t world; unsigned workers, batch; uint32_t burst; } wide[] = {
	{ 1, 16, 64, 1 }, { 1, 8, 512, 1 }, { 1, 16, 256, 1 }, { 1, 16, 512, 1 },
	{ 8, 8, 64, 1 }, { 8, 8, 256, 1 }, { 8, 8, 512, 1 }, { 8, 16, 256, 1 },
	{ 1, 16, 256, 50 }, { 8, 8, 64, 50 }, { 4, 8, 128, 200 }, { 8, 8, 256, 50 },
	{ 1, 16, 256, 0 }, { 8, 8, 256, 0 }, { 1, 32, 128, 0 },
};

static const char *spec_of(uint32_t world)
{
	return world == 8 ? "torch-distributed:seed=0,world=8" :
	       world == 4 ? "torch-distributed:seed=0,world=4" : "torch:seed=7";
}

/* The rest of the epoch is read; nobody is left behind, and none is taken for another job. */
static void expect_the_rest(struct ranks *r, struct stage *s, const struct wide *w, uint32_t epoch)
{
	uint32_t left = 0;
	bool is_left;

	forget_verdicts(s);
	for (; step(r, s, w->burst, epoch, &is_left); left += is_left)
		;
	end(r);
	cr_expect_geq(s->verdicts[TRACKER_FITS], s->opens * 99 / 100,
		      "%u ranks, %u workers, batches of %u, epoch %u: %u of %u", w->world,
		      w->workers, w->batch, epoch, s->verdicts[TRACKER_FITS], s->opens);
	cr_expect_leq(left, s->opens / 50,
		      "%u ranks, %u workers, batches of %u, epoch %u: %u of %u", w->world,
		      w->workers, w->batch, epoch, left, s->opens);
}

Test(spread, of_workers_with_large_batches_is_followed, .timeout = 100)
{
	for (size_t i = 0; i < DL_COUNT(wide); i++) {
		const struct wide *w = &wide[i];
		struct ranks r = { .world = w->world };
		const struct course *all;
		struct stage s;

		stage_open(&s, spec_of(w->world), N, NULL);
		for (uint32_t e = 0; e < EPOCHS; e++) {
			begin(&r, e, w->workers, w->batch);
			expect_the_rest(&r, &s, w, e);
			cr_expect_eq(tracker_courses(s.tracker, &all), 1);
		}
		stage_close(&s);
	}
}

/* So also from where a search has found it. */
Test(spread, of_workers_is_followed_once_their_order_is_found, .timeout = 100)
{
	for (size_t i = 0; i < DL_COUNT(wide); i++) {
		const struct wide *w = &wide[i];
		struct ranks r = { .world = w->world };
		struct found f = { .seed = w->world > 1 ? 0 : word_of(7, 3),
				   .world = w->world > 1 ? w->world : 0 };
		struct stage s;
		bool is_left;

		stage_open(&s, "auto", N, NULL);
		f.list = &s.list;
		begin(&r, 0, w->workers, w->batch);
		for (uint32_t k = 0; k < FOUND_AT; k++)
			cr_assert(step(&r, &s, w->burst, 0, &is_left));
		cr_assert(tracker_found(s.tracker, &f), "%u ranks, %u workers, batches of %u",
			  w->world, w->workers, w->batch);
		expect_the_rest(&r, &s, w, 0);
		stage_close(&s);
	}
}

/* Who is resumed is found where he is, though each of many workers comes to its next open late. */
Test(spread, of_workers_that_are_resumed_is_followed, .timeout = 100)
{
	for (size_t i = 0; i < DL_COUNT(wide); i++) {
		const struct wide *w = &wide[i];
		struct ranks r = { .world = w->world };
		struct stage s;
		bool is_left;

		stage_open(&s, spec_of(w->world), N, NULL);
		begin(&r, 0, w->workers, w->batch);
		for (uint32_t k = 0; k < w->world; k++)
			r.loaders[k].from = r.loaders[k].to / 3;
		for (uint32_t k = 0; k < FOUND_AT; k++)
			cr_assert(step(&r, &s, w->burst, 0, &is_left));
		expect_the_rest(&r, &s, w, 0);
		stage_close(&s);
	}
}

static const struct course *course_of(const struct stage *s)
{
	const struct course *c = tracker_main(s->tracker);

	cr_assert(c && c->absent);
	return c;
}

static void read_some(struct ranks *r, struct stage *s, const struct wide *w, uint32_t opens)
{
	bool is_left;

	for (uint32_t i = 0; i < opens; i++)
		cr_assert(step(r, s, w->burst, 0, &is_left));
}

/* The world was told, and not that half of it reads on another machine.  One more comes later, and
 * one ends early. */
Test(spread, ranks_that_read_elsewhere_are_not_waited_for, .timeout = 100)
{
	for (size_t i = 0; i < DL_COUNT(wide); i++) {
		const struct wide *w = &wide[i];
		struct ranks r = { .world = 8, .away = AWAY };
		uint32_t epoch;
		struct stage s;

		if (w->world != 8)
			continue;
		stage_open(&s, spec_of(8), N, NULL);
		for (epoch = 0; epoch < 2; epoch++) {
			begin(&r, epoch, w->workers, w->batch);
			read_some(&r, &s, w, epoch == 0 ? 12000 : 200);
			cr_expect_eq(course_of(&s)->absent[0], AWAY, "epoch %u: %lx", epoch,
				     (unsigned long)course_of(&s)->absent[0]);
			expect_the_rest(&r, &s, w, epoch);
			cr_expect_eq(course_of(&s)->front, N);
		}
		begin(&r, epoch, w->workers, w->batch);
		read_some(&r, &s, w, 5000);
		r.away = 0xc8;
		read_some(&r, &s, w, 5000);
		cr_expect_eq(course_of(&s)->absent[0], 0xc8u);
		r.away = 0xc9;
		read_some(&r, &s, w, 10000);
		cr_expect_eq(course_of(&s)->absent[0], 0xc9u);
		end(&r);
		stage_close(&s);
	}
}

/* What each open may begin is looked at; but whole sequences are not made for it, which would cost
 * the more the larger the dataset is. */
Test(spread, costs_no_sequences)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(N, word_of(7, 3), 0);
	struct loader l = { .sequence = q, .to = N, .workers = 4, .batch = 8, .pid = 50 };
	unsigned taken;
	struct stage s;

	stage_open(&s, "torch:seed=7", N, NULL);
	loader_read(&l, &s, FOUND_AT);
	taken = list_refs_taken;
	loader_read(&l, &s, N / 2);
	cr_assert_eq(list_refs_taken, taken, "%u", list_refs_taken - taken);
	stage_close(&s);
}
