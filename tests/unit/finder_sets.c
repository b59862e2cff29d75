/* Simulated DataLoaders before the search, where nobody knows whose opens these are. */
#include "tests/lib/search_stage.h"

#include "prefetch/find/search_internal.h"

#define PATIENCE 100                   /* seconds until a test gives up */
#define MANY 1281167u
#define INTERLEAVINGS 10u
#define INTERLEAVINGS_OF_MANY 40u

/* but: a worker that opens nothing yet. */
static void see_without(struct stage *s, struct loader *l, uint32_t but)
{
	uint32_t position = 0, pid = but;
	struct loader before = *l;

	while (pid == but) {
		*l = before;
		cr_assert(loader_step(l, s, &position, &pid), "the epoch is too short");
	}
	evidence_open(&by_now, list_at(&s->list, l->sequence->at[position]), 0, false,
		      s->list.count);
}

static void see(struct stage *s, struct loader *l)
{
	see_without(s, l, UINT32_MAX);
}

/* Whether this seed is found when the search comes to it. */
static bool finds(struct stage *s, uint32_t seed, struct found *ret)
{
	static struct search search;
	uint32_t small = SMALL_PIECES_FROM + seed / SMALL_PIECE;

	begin_search(&search, &s->list);
	search.next = seed < SMALL_SEEDS ? small : search_piece(seed);
	search.end = search.next + 1;
	search_run(&search);
	search_fini(&search);
	cr_assert(!search.claimed || search.found.seed == seed, "seed %u", search.found.seed);
	if (search.claimed && ret)
		*ret = search.found;
	return search.claimed;
}

/* Of so many interleavings of a loader's workers: in how many do the first opens tell the seed? */
static unsigned found_of(uint32_t n, unsigned workers, unsigned batch,
			 enum evidence_stage stage, unsigned interleavings)
{
	const uint32_t seed = 3386900802;
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(n, seed, 0);
	unsigned found = 0;

	for (unsigned i = 1; i <= interleavings; i++) {
		struct stage s = { .list = { 1, FIRST_ID, n }, .random = { i } };
		struct loader l = { .sequence = q, .to = n, .workers = workers, .batch = batch };

		evidence_clear(&by_now);
		while (evidence_stage(&by_now) < stage)
			see(&s, &l);
		found += finds(&s, seed, NULL);
	}
	return found;
}

Test(finder_sets, finds_what_workers_read_in_whatever_turns, .timeout = PATIENCE)
{
	static const struct { uint32_t n; unsigned workers, batch; } loaders[] = {
		{ MANY, 8, 64 }, { MANY, 4, 64 }, { MANY, 8, 256 }, { 50000, 8, 64 },
		{ 2000, 8, 64 }, { 2000, 8, 16 }, { 2000, 4, 16 }, { 1000, 4, 16 }, { 300, 4, 8 },
	};

	for (size_t i = 0; i < DL_COUNT(loaders); i++) {
		uint32_t n = loaders[i].n;
		unsigned workers = loaders[i].workers, batch = loaders[i].batch;
		unsigned of = i == 0 ? INTERLEAVINGS_OF_MANY : INTERLEAVINGS;
		unsigned few = found_of(n, workers, batch, EVIDENCE_FULL, of);
		unsigned ample = found_of(n, workers, batch, EVIDENCE_AMPLE, of);

		cr_assert_geq(few, of * 9 / 10, "n %u, %u workers, batch %u: %u of %u", n, workers,
			      batch, few, of);
		cr_assert_eq(ample, of, "n %u, %u workers, batch %u: %u of %u", n, workers, batch,
			     ample, of);
	}
}

/* Of one process, or of a rank of some. */
Test(finder_sets, finds_small_seeds, .timeout = PATIENCE)
{
	static const uint32_t sizes[] = { 1000, 2000, 50000, MANY };

	for (size_t i = 0; i < DL_COUNT(sizes) * INTERLEAVINGS; i++) {
		uint32_t n = sizes[i / INTERLEAVINGS], seed = (uint32_t)i * 26003;

		for (uint32_t world = 1; world <= (n < 50000 ? 2u : 16u); world *= 2) {
			struct stage s = { .list = { 1, FIRST_ID, n }, .random = { i + 1 } };
			dl_cleanup(sequence_unrefp) struct sequence *q = world > 1
				? rank_sequence(n, seed, world, (uint32_t)i % world)
				: torch_sequence(n, seed, 0);
			struct loader l = { .sequence = q, .to = q->length, .workers = 4,
					    .batch = 16 };
			struct found f = { 0 };

			evidence_clear(&by_now);
			while (evidence_stage(&by_now) < EVIDENCE_FULL)
				see(&s, &l);
			cr_assert(finds(&s, seed, &f), "n %u, seed %u, world %u", n, seed, world);
			cr_assert_eq(f.world, world > 1 ? world : 0, "n %u: %u", n, f.world);
		}
	}
}

/* The first worker was slow to start: the others have read all that they may before it begins. */
Test(finder_sets, finds_an_order_whose_first_comes_last, .timeout = PATIENCE)
{
	static const struct { uint32_t n; unsigned workers, batch; } loaders[] = {
		{ MANY, 8, 64 }, { 50000, 8, 32 }, { 4000, 8, 32 }, { 2000, 4, 16 },
	};

	for (size_t i = 0; i < DL_COUNT(loaders); i++) {
		uint32_t n = loaders[i].n, others = PREFETCH * loaders[i].batch;
		dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(n, 3386900802, 0);
		struct stage s = { .list = { 1, FIRST_ID, n }, .random = { 1 } };
		struct loader l = { .sequence = q, .to = n, .workers = loaders[i].workers,
				    .batch = loaders[i].batch, .pid = 50 };

		evidence_clear(&by_now);
		for (uint32_t k = 0; k < (l.workers - 1) * others; k++)
			see_without(&s, &l, 50);
		cr_assert_eq(evidence_stage(&by_now), EVIDENCE_FULL, "n %u", n);
		cr_assert(!finds(&s, 3386900802, NULL));
		while (evidence_stage(&by_now) < EVIDENCE_AMPLE)
			see(&s, &l);
		cr_assert(finds(&s, 3386900802, NULL), "n %u", n);
	}
}

/* --- Two jobs ---------------------------------------------------------------------------- */

static const uint32_t seeds[] = { 3386900802, 772699760 };

static void see_both(struct stage *s, struct loader jobs[2], uint32_t share)
{
	while (evidence_stage(&by_now) < EVIDENCE_AMPLE)
		see(s, &jobs[stage_draw(s, 100) < share]);
}

/* Either may be found first. */
static unsigned search_both(struct stage *s)
{
	struct found found;
	unsigned have = 0;

	for (unsigned turn = 0; turn < 2; turn++)
		for (unsigned j = 0; j < 2; j++) {
			uint64_t before = by_now.turn;

			if (have & 1u << j || !finds(s, seeds[j], &found))
				continue;
			have |= 1u << j;
			acquit(&found);
			cr_assert_neq(by_now.turn, before);
			cr_assert_eq(by_now.count > 0, have != 3, "n %u: %zu opens, job %u",
				     s->list.count, by_now.count, j);
			if (have == 3)
				return have;
			cr_assert(!finds(s, seeds[j], NULL), "n %u: again", s->list.count);
		}
	return have;
}

static const struct two_jobs {
	uint32_t n;
	unsigned workers, batch;
	uint32_t share;                /* of the second, in percent */
} pairs[] = {
	{ MANY, 8, 64, 50 }, { MANY, 8, 64, 25 }, { 50000, 8, 64, 50 }, { 50000, 4, 32, 33 },
	{ 5000, 4, 16, 50 }, { 2000, 3, 16, 50 }, { 2000, 2, 16, 33 }, { 2000, 8, 16, 50 },
	{ 1000, 4, 16, 50 }, { 600, 2, 8, 50 },
};

/* Both are found by what both have opened, and none is found again beside the other. */
Test(finder_sets, finds_two_jobs_one_after_the_other, .timeout = PATIENCE)
{
	for (size_t i = 0; i < DL_COUNT(pairs); i++) {
		const struct two_jobs *p = &pairs[i];
		struct sequence *q[2];
		unsigned both = 0;

		for (unsigned j = 0; j < 2; j++)
			q[j] = torch_sequence(p->n, seeds[j], 0);
		for (unsigned k = 1; k <= INTERLEAVINGS; k++) {
			struct stage s = { .list = { 1, FIRST_ID, p->n }, .random = { k } };
			struct loader jobs[2];

			for (unsigned j = 0; j < 2; j++)
				jobs[j] = (struct loader){ .sequence = q[j], .to = p->n,
							   .workers = p->workers,
							   .batch = p->batch };
			evidence_clear(&by_now);
			see_both(&s, jobs, p->share);
			both += search_both(&s) == 3;
		}
		for (unsigned j = 0; j < 2; j++)
			sequence_unref(q[j]);
		cr_assert_eq(both, INTERLEAVINGS, "n %u, %u workers, batch %u: %u of %u", p->n,
			     p->workers, p->batch, both, INTERLEAVINGS);
	}
}

/* Beside a job that is found one that no seed explains: it is searched for, and not found. */
Test(finder_sets, finds_nothing_beside_a_job_where_there_is_nothing, .timeout = PATIENCE)
{
	static const uint32_t sizes[] = { 1000, 2000, MANY };

	for (size_t i = 0; i < DL_COUNT(sizes); i++) {
		uint32_t n = sizes[i];
		struct stage s = { .list = { 1, FIRST_ID, n }, .random = { 3 } };
		dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(n, seeds[0], 0);
		struct loader l = { .sequence = q, .to = n, .workers = 2, .batch = 16 };
		struct found found;

		evidence_clear(&by_now);
		while (evidence_stage(&by_now) < EVIDENCE_AMPLE) {
			see(&s, &l);
			evidence_open(&by_now, FIRST_ID + stage_draw(&s, n), 0, false, n);
		}
		cr_assert(finds(&s, seeds[0], &found), "n %u", n);
		acquit(&found);
		cr_assert_gt(by_now.count, 0, "n %u", n);
		for (unsigned k = 0; k < 4; k++)
			cr_assert(!finds(&s, k << 30, NULL), "n %u", n);
	}
}
