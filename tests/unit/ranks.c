/* Ranks of a DistributedSampler: evidence, search, tracker. */
#include "prefetch/find/search_internal.h"
#include "tests/lib/search_stage.h"

#define WORLD_MOST 8u
#define SMALL_SEED 3u                   /* in the first of the pieces that try small seeds */

struct world {
	uint32_t n, ranks;
	struct sequence *sequences[WORLD_MOST];
	struct loader loaders[WORLD_MOST];
};

static void open_world(struct world *w, uint32_t seed, unsigned workers, unsigned batch)
{
	for (uint32_t r = 0; r < w->ranks; r++) {
		w->sequences[r] = rank_sequence(w->n, seed, w->ranks, r);
		w->loaders[r] = (struct loader){
			.sequence = w->sequences[r], .to = w->sequences[r]->length,
			.workers = workers, .batch = batch, .pid = 50 + 10 * r,
		};
	}
}

static void close_world(struct world *w)
{
	for (uint32_t r = 0; r < w->ranks; r++)
		sequence_unref(w->sequences[r]);
}

/* Somebody's next open, seen by all; false: the epoch is over. */
static bool step(struct world *w, struct stage *s)
{
	uint32_t first = stage_draw(s, w->ranks), position, pid;

	for (uint32_t i = 0; i < w->ranks; i++) {
		struct loader *l = &w->loaders[(first + i) % w->ranks];
		sample_id id;

		if (!loader_step(l, s, &position, &pid))
			continue;
		id = list_at(&s->list, l->sequence->at[position]);
		stage_see(s, id, pid);
		evidence_open(&by_now, id, pid, tracker_took(s->tracker), w->n);
		return true;
	}
	return false;
}

static bool find(struct stage *s, struct found *ret)
{
	static struct search search;

	begin_search(&search, &s->list);
	search.next = SMALL_PIECES_FROM;
	search.end = search.next + 1;
	search_run(&search);
	*ret = search.found;
	search_fini(&search);
	if (search.claimed)
		find_ranks(ret);
	return search.claimed;
}

/* Large batches: all of an epoch is opened before anything could be found.  With what was found
 * then, the next one is known before it begins. */
Test(ranks, are_found_when_their_epoch_is_over)
{
	static const struct { uint32_t n, ranks; unsigned workers, batch; } cases[] = {
		{ 1000, 5, 2, 64 }, { 1000, 4, 4, 32 }, { 1000, 8, 3, 64 }, { 600, 7, 1, 64 },
		{ 600, 6, 4, 16 }, { 601, 8, 2, 64 }, { 1000, 3, 1, 256 },
	};

	for (size_t i = 0; i < DL_COUNT(cases); i++) {
		struct world w = { .n = cases[i].n, .ranks = cases[i].ranks };
		const struct course *c;
		struct found found;
		struct stage s;

		evidence_clear(&by_now);
		stage_open(&s, "auto", w.n, NULL);
		open_world(&w, SMALL_SEED, cases[i].workers, cases[i].batch);
		while (step(&w, &s))
			;
		close_world(&w);
		cr_assert_geq(by_now.count, w.n, "case %zu: %zu are left", i, by_now.count);
		cr_assert(find(&s, &found), "case %zu", i);
		cr_assert_eq(found.world, w.ranks, "case %zu: %u", i, found.world);
		cr_assert_eq(found.rank_count, 0, "case %zu: %u", i, found.rank_count);
		cr_assert(tracker_found(s.tracker, &found), "case %zu", i);
		c = tracker_main(s.tracker);
		cr_assert_eq(c->front, c->sequence->length, "case %zu: %u, %u of %u; %lu opened", i,
			     c->front, c->reach, c->sequence->length, found.opened);

		open_world(&w, SMALL_SEED + 1, cases[i].workers, cases[i].batch);
		for (unsigned k = 0; k < 32; k++)
			cr_assert(step(&w, &s));
		cr_assert_eq(tracker_main(s.tracker)->epoch, 1, "case %zu", i);
		forget_verdicts(&s);
		while (step(&w, &s))
			;
		cr_assert_geq(s.verdicts[TRACKER_FITS], s.opens * 98 / 100, "case %zu: %u of %u",
			      i, s.verdicts[TRACKER_FITS], s.opens);
		close_world(&w);
		stage_close(&s);
	}
}

/* Of a large world this host has few samples, hardly more than there are ranks. */
static void follow_few(const uint32_t *ranks, uint32_t count, uint64_t opened)
{
	struct loader l[WORLD_MOST];
	struct found found;
	struct stage s;

	stage_open(&s, "auto", 4096, NULL);
	found = (struct found){
		.list = &s.list, .seed = SMALL_SEED, .world = 64, .rank_count = count,
		.opened = opened,
	};
	for (uint32_t r = 0; r < count; r++) {
		found.ranks[r] = ranks[r];
		l[r] = loader_of(rank_sequence(4096, SMALL_SEED, 64, ranks[r]), 50 + 10 * r);
	}
	for (uint32_t i = 0; i < 32 * count; i++)
		cr_assert(loader_open(&l[i % count], &s));
	cr_assert(tracker_found(s.tracker, &found));
	cr_assert_leq(tracker_main(s.tracker)->front, 32 * count);
	forget_verdicts(&s);
	for (uint32_t i = 0; i < 32 * count; i++)
		cr_assert(loader_open(&l[i % count], &s));
	cr_assert_eq(s.verdicts[TRACKER_FITS], 32 * count);
	for (uint32_t r = 0; r < count; r++)
		sequence_unref((struct sequence *)l[r].sequence);
	stage_close(&s);
}

Test(ranks, of_a_large_world_are_followed_to_their_end)
{
	follow_few((const uint32_t[]){ 5 }, 1, 0);
	follow_few((const uint32_t[]){ 5, 6 }, 2, 64);
}
