/* Simulated DataLoaders before the search. */
#include "tests/lib/search_stage.h"

#include "prefetch/find/search_internal.h"

#define PATIENCE 100                   /* seconds until a test gives up */
#define YOLO_SEED ((uint32_t)(UINT64_C(6148914691236517205) - 1))      /* of a single process */

/* Let a loader open samples until there is evidence enough. */
static void watch(struct stage *s, struct loader *l, enum evidence_stage stage)
{
	uint32_t position, pid;

	while (evidence_stage(&by_now) < stage) {
		cr_assert(loader_step(l, s, &position, &pid), "the epoch is too short");
		evidence_open(&by_now, list_at(&s->list, l->sequence->at[position]), pid, false,
			      s->list.count);
	}
}

static const struct search_case {
	const char *why;
	uint32_t n, seed, skip, world, rank;   /* world 0: no DistributedSampler */
	unsigned workers, batch;
	bool pids;
} cases[] = {
	{ "no workers", 2000, 772699760, 0, 0, 0, 0, 16, true },
	{ "two workers", 2000, 772699760, 0, 0, 0, 2, 16, true },
	{ "eight workers", 2000, 3386900802, 0, 0, 0, 8, 16, true },
	{ "batches of two", 2000, 772699760, 0, 0, 0, 4, 2, true },
	{ "large batches", 50000, 4294967295u - 1, 0, 0, 0, 4, 256, true },
	{ "few samples", 300, 1890281479, 0, 0, 0, 2, 8, true },
	{ "a power of two", 4096, 1890281479, 0, 0, 0, 2, 8, true },
	{ "very many", 1281167, 123456789, 0, 0, 0, 8, 64, true },
	{ "generator=", 2000, 3000000000, 2, 0, 0, 2, 16, true },
	{ "generator= of a constant", 2000, 4053586177, 2, 0, 0, 2, 16, true },
	{ "YOLOv5 with a seed", 2000, YOLO_SEED + 20241, 2, 0, 0, 8, 16, true },
	{ "YOLOv5 with a seed, without pids", 2000, YOLO_SEED + 7, 2, 0, 0, 4, 16, false },
	{ "without pids", 2000, 772699760, 0, 0, 0, 4, 16, false },
	{ "without pids, no workers", 2000, 772699760, 0, 0, 0, 0, 16, false },
	{ "without pids, many", 1281167, 123456789, 0, 0, 0, 8, 64, false },
	{ "without pids, generator=", 2000, 3000000000, 2, 0, 0, 2, 16, false },
	{ "small seed", 2000, 42, 0, 0, 0, 2, 16, true },
	{ "manual_seed(42)", 2000, 787846414, 0, 0, 0, 2, 16, true },
	{ "manual_seed(42), few samples, without pids", 300, 787846414, 0, 0, 0, 4, 8, false },
	{ "a rank of two", 2000, 5, 0, 2, 1, 2, 16, true },
	{ "a rank of 16", 100000, 805, 0, 16, 11, 2, 16, true },
	{ "detectron2, a rank of eight", 20000, UINT32_MAX, 0, 8, 3, 2, 16, true },
	{ "a rank of two, without pids", 2000, 5, 0, 2, 1, 2, 16, false },
};

/* One piece of many would do; but not for what is tried before all seeds are. */
static void choose_pieces(struct search *s, const struct search_case *c)
{
	bool likely = c->seed < 1u << 12 || c->seed == 4053586177 || c->seed == 787846414 ||
		c->seed == UINT32_MAX || c->seed - YOLO_SEED < 1u << 16;

	s->next = likely ? 0 : search_piece(c->seed);
	s->end = likely ? search_piece(0) : s->next + 2;
}

Test(finder, finds_what_a_loader_reads, .timeout = PATIENCE)
{
	static struct search s;

	for (size_t i = 0; i < DL_COUNT(cases); i++) {
		const struct search_case *c = &cases[i];
		struct stage stage = { .list = { 1, FIRST_ID, c->n }, .random = { 3 } };
		dl_cleanup(sequence_unrefp) struct sequence *q = c->world
			? rank_sequence(c->n, c->seed, c->world, c->rank)
			: torch_sequence(c->n, c->seed, c->skip);
		struct loader l = { .sequence = q, .to = q->length, .workers = c->workers,
				    .batch = c->batch, .pid = c->pids ? 50 : 0 };

		evidence_clear(&by_now);
		watch(&stage, &l, EVIDENCE_FULL);
		begin_search(&s, &stage.list);
		choose_pieces(&s, c);
		search_run(&s);
		cr_assert(s.claimed, "%s: not found", c->why);
		cr_assert_eq(s.found.seed, c->seed, "%s: seed %u", c->why, s.found.seed);
		cr_assert_eq(s.found.skip, c->skip, "%s: skip %u", c->why, s.found.skip);
		cr_assert_eq(s.found.world, c->world, "%s: world %u", c->why, s.found.world);
		find_ranks(&s.found);
		cr_assert_eq(s.found.rank_count, c->world ? 1 : 0, "%s", c->why);
		if (c->world)
			cr_assert_eq(s.found.ranks[0], c->rank, "%s", c->why);
		search_fini(&s);
		cr_assert_eq(stage.list.refs, 1);
	}
}

/* DALI's readers shuffle their list by a seed that is built in. */
Test(finder, finds_what_dali_reads, .timeout = PATIENCE)
{
	static struct search s;
	static const uint32_t sizes[] = { 300, 2000, 100000 };

	for (size_t i = 0; i < DL_COUNT(sizes) * STD_SHUFFLE_KINDS; i++) {
		uint32_t n = sizes[i / STD_SHUFFLE_KINDS];
		enum std_shuffle how = i % STD_SHUFFLE_KINDS;
		struct stage stage = { .list = { 1, FIRST_ID, n }, .random = { i } };
		dl_cleanup(sequence_unrefp) struct sequence *q = sequence_new(n, n);
		struct loader l = { .sequence = q, .to = n, .batch = 16, .pid = 50 };

		if (how == STD_SHUFFLE_NONE)
			continue;
		std_shuffle(how, STD_SHUFFLE_SEED, how == STD_SHUFFLE_EACH, n, q->at);
		evidence_clear(&by_now);
		watch(&stage, &l, EVIDENCE_FULL);
		begin_search(&s, &stage.list);
		s.end = 1;
		search_run(&s);
		cr_assert(s.claimed, "n %u, kind %u", n, how);
		cr_assert_eq(s.found.shuffle, how);
		cr_assert_eq(s.found.skip, how == STD_SHUFFLE_EACH);
		search_fini(&s);
	}
}

/* Keras' list is shuffled by numpy, with one of 10^6 seeds, and read through a buffer. */
static const struct keras_case {
	uint32_t n, buffer;            /* 8 × batch; 8: older versions, which read before it */
	uint32_t opens, found_buffer;
	uint32_t pid;
} keras_cases[] = {
	{ 5000, 256, 400, 256, 50 }, { 50000, 256, 300, 256, 50 }, { 50000, 256, 1024, 256, 0 },
	{ 50000, 1024, 1000, 1024, 50 }, { 50000, 2048, 2000, 2048, 50 },
	{ 50000, 8, 64, 64, 50 }, { 2000, 8, 64, 64, 50 }, { 2000, 128, 80, 128, 50 },
	{ 2000, 256, 150, 256, 50 }, { 1000, 128, 300, 128, 50 }, { 1281167, 256, 1000, 256, 50 },
	{ 1281167, 256, 64, 256, 50 }, { 2000, 128, 200, 128, 0 },
};

#define KERAS_SEED 999990u              /* in the last of the likely pieces */

Test(finder, finds_what_keras_reads, .timeout = PATIENCE)
{
	static struct search s;

	for (size_t i = 0; i < DL_COUNT(keras_cases); i++) {
		const struct keras_case *c = &keras_cases[i];
		struct stage stage = { .list = { 1, FIRST_ID, c->n }, .random = { 3 } };
		dl_cleanup(sequence_unrefp) struct sequence *q = numpy_sequence(c->n, KERAS_SEED);
		struct buffer b = { .sequence = q, .size = c->buffer };

		evidence_clear(&by_now);
		for (uint32_t k = 0, index; k < c->opens && buffer_step(&b, &stage, &index); k++)
			evidence_open(&by_now, FIRST_ID + index, c->pid, false, c->n);
		begin_search(&s, &stage.list);
		s.next = search_piece(0) - 1;
		s.end = search_piece(0);
		search_run(&s);
		cr_assert(s.claimed, "n %u, buffer %u, pid %u", c->n, c->buffer, c->pid);
		cr_assert_eq(s.found.seed, KERAS_SEED);
		cr_assert_leq(s.found.buffer, c->found_buffer, "n %u: %u", c->n, s.found.buffer);
		cr_assert_geq(s.found.buffer, DL_MIN(c->buffer, c->found_buffer) / 2);
		acquit(&s.found);
		cr_assert_eq(by_now.count, 0, "n %u", c->n);
		search_fini(&s);
	}
}

static void open_keras(struct stage *stage, uint32_t opens, uint32_t pid)
{
	dl_cleanup(sequence_unrefp) struct sequence *q =
		numpy_sequence(stage->list.count, KERAS_SEED);
	struct buffer b = { .sequence = q, .size = 256 };
	uint32_t index;

	evidence_clear(&by_now);
	while (opens-- > 0 && buffer_step(&b, stage, &index))
		evidence_open(&by_now, FIRST_ID + index, pid, false, stage->list.count);
}

/* An earlier run had it, and then a validation set. */
Test(finder, knows_again_what_keras_reads, .timeout = PATIENCE)
{
	static struct search s;
	struct stage stage = { .list = { 1, FIRST_ID, 50000 }, .random = { 3 } };

	open_keras(&stage, 200, 50);
	begin_search(&s, &stage.list);
	lessons_add(&s.lessons, (struct lesson){ .n = 50000, .seed = KERAS_SEED, .buffer = 256 });
	lessons_add(&s.lessons, (struct lesson){ .n = 5000, .seed = 5, .buffer = 256 });
	s.end = 1;
	search_run(&s);
	cr_assert(s.claimed);
	cr_assert_eq(s.found.seed, KERAS_SEED);
	cr_assert_eq(s.found.buffer, 256);
	search_fini(&s);
}

/* A validation set of who reads so. */
Test(finder, tries_numpy_first_after_keras, .timeout = PATIENCE)
{
	static struct search s;
	struct stage stage = { .list = { 1, FIRST_ID, 50000 }, .random = { 3 } };

	open_keras(&stage, 300, 50);
	begin_search(&s, &stage.list);
	lessons_add(&s.lessons, (struct lesson){ .n = 7000, .seed = 1, .buffer = 64 });
	lessons_begin(&s.lessons);
	s.next = NUMPY_PIECES;         /* the last of them, in which the seed is */
	s.end = s.next + 1;
	search_run(&s);
	cr_assert(s.claimed);
	cr_assert_eq(s.found.seed, KERAS_SEED);
	search_fini(&s);
}

/* With few opens of many files it takes long, and without pids others may have made them, who need
 * not wait. */
Test(finder, tries_numpy_late_without_pids, .timeout = PATIENCE)
{
	static struct search s;
	struct stage stage = { .list = { 1, FIRST_ID, 100000 }, .random = { 3 } };

	open_keras(&stage, 300, 0);
	begin_search(&s, &stage.list);
	s.next = search_piece(0) - 1;
	s.end = search_piece(0);
	search_run(&s);
	cr_assert(!s.claimed);
	search_fini(&s);
}

Test(finder, finds_no_shuffle_of_numpy_where_there_is_none, .timeout = PATIENCE)
{
	static struct search s;
	static const struct { uint32_t n, opens, pieces; } worlds[] = {
		{ 100, 24, 245 }, { 300, 64, 245 }, { 2000, 500, 245 }, { 2000, 24, 245 },
		{ 1281167, 1000, 4 },
	};

	for (size_t i = 0; i < DL_COUNT(worlds); i++) {
		struct stage stage = { .list = { 1, FIRST_ID, worlds[i].n }, .random = { i } };
		dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(worlds[i].n, i, 0);

		evidence_clear(&by_now);
		for (uint32_t k = 0; k < worlds[i].opens; k++)
			evidence_open(&by_now, FIRST_ID + q->at[k], 50, false, worlds[i].n);
		begin_search(&s, &stage.list);
		s.next = search_piece(0) - worlds[i].pieces;
		s.end = search_piece(0);
		search_run(&s);
		cr_assert(!s.claimed, "n %u: seed %u", worlds[i].n, s.found.seed);
		search_fini(&s);
	}
}

/* What is tried first of all seeds after a search that was cut off there: all the same, all are. */
Test(finder, goes_on_where_the_last_one_was_cut_off, .timeout = PATIENCE)
{
	static struct search s;
	struct stage stage = { .list = { 1, FIRST_ID, 5000 }, .random = { 3 } };
	const uint32_t seed = 3386900802, piece = search_piece(seed), all = search_piece(0);
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(5000, seed, 0);

	evidence_clear(&by_now);
	for (uint32_t k = 0; k < 64; k++)
		evidence_open(&by_now, FIRST_ID + q->at[k], 50, false, 5000);
	begin_search(&s, &stage.list);
	s.next = piece + 2;            /* two threads, each in the midst of one */
	cr_assert_eq(search_came_to(&s, 2), piece - all);
	s.from = search_came_to(&s, 2);
	s.next = all;
	search_run(&s);
	cr_assert(s.claimed);
	cr_assert_leq(s.next, all + 1);
	s.from = piece - all + 1;      /* right behind it: it is the last one */
	s.next = s.end - 1;
	s.stop = s.claimed = false;
	search_run(&s);
	cr_assert(s.claimed);
	s.next = s.end + 1;
	cr_assert_eq(search_came_to(&s, 2), s.from, "all were tried");
	search_fini(&s);
}

/* A search begins with six opens; what it finds is proven by what came meanwhile, or later.
 * false: they were not those of the process that began, and the search begins anew. */
static bool begin_with_few(uint32_t n, uint64_t interleaving)
{
	static struct search s;
	struct stage stage = { .list = { 1, FIRST_ID, n }, .random = { interleaving } };
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(n, 3386900802, 0);
	struct loader l = { .sequence = q, .to = q->length, .workers = 4, .batch = 16, .pid = 50 };
	bool same;

	evidence_clear(&by_now);
	watch(&stage, &l, EVIDENCE_EARLY);
	cr_assert_lt(by_now.count, 32, "%zu opens", by_now.count);
	begin_search(&s, &stage.list);
	s.next = search_piece(3386900802);
	s.end = s.next + 2;
	search_run(&s);
	watch(&stage, &l, EVIDENCE_FULL);
	same = evidence_same_start(&s.evidence, &by_now);
	cr_assert(!same || s.claimed || search_again(&s), "n %u: forgotten", n);
	cr_assert(!same || s.claimed, "n %u: not proven", n);
	cr_assert(!same || s.found.seed == 3386900802);
	search_fini(&s);
	return same;
}

Test(finder, begins_with_few_opens, .timeout = PATIENCE)
{
	static const uint32_t sizes[] = { 1000, 2000, 50000, 1281167 };

	for (size_t i = 0; i < DL_COUNT(sizes); i++) {
		unsigned begun = 0;

		for (uint64_t k = 1; k <= 8; k++)
			begun += begin_with_few(sizes[i], k);
		cr_assert_geq(begun, 4, "n %u: %u of 8", sizes[i], begun);
	}
}

Test(finder, finds_the_large_seed_of_ranks_that_are_all_here, .timeout = PATIENCE)
{
	static struct search s;
	struct stage stage = { .list = { 1, FIRST_ID, 5000 }, .random = { 3 } };
	struct sequence *q[4];
	struct loader ranks[4];

	evidence_clear(&by_now);
	for (uint32_t r = 0; r < 4; r++) {
		q[r] = rank_sequence(5000, 1890281479, 4, r);
		ranks[r] = (struct loader){ .sequence = q[r], .to = q[r]->length, .workers = 2,
					    .batch = 16, .pid = 50 + 10 * r };
	}
	while (evidence_stage(&by_now) < EVIDENCE_FULL || by_now.count < 100) {
		struct loader *l = &ranks[stage_draw(&stage, 4)];
		uint32_t position, pid;

		cr_assert(loader_step(l, &stage, &position, &pid));
		evidence_open(&by_now, list_at(&stage.list, l->sequence->at[position]), pid, false,
			      5000);
	}
	begin_search(&s, &stage.list);
	s.next = search_piece(1890281479);
	s.end = s.next + 2;
	search_run(&s);
	cr_assert(s.claimed);
	cr_assert_eq(s.found.seed, 1890281479);
	cr_assert_eq(s.found.world, 4);
	find_ranks(&s.found);
	cr_assert_eq(s.found.rank_count, 0, "all of them");
	search_fini(&s);
	for (uint32_t r = 0; r < 4; r++)
		sequence_unref(q[r]);
}

/* Two jobs with seeds of their own begin at once: when one has been found, the other is what is
 * left. */
Test(finder, finds_two_jobs_one_after_the_other, .timeout = PATIENCE)
{
	static struct search s;
	static const uint32_t seeds[] = { 3386900802, 772699760 };
	struct stage stage = { .list = { 1, FIRST_ID, 2000 }, .random = { 3 } };
	struct sequence *q[2];
	struct loader jobs[2];

	evidence_clear(&by_now);
	for (unsigned j = 0; j < 2; j++) {
		q[j] = torch_sequence(2000, seeds[j], 0);
		jobs[j] = (struct loader){ .sequence = q[j], .to = 2000, .workers = 2,
					   .batch = 16, .pid = 50 + 10 * j };
	}
	while (by_now.count < 200) {
		struct loader *l = &jobs[stage_draw(&stage, 2)];
		uint32_t position, pid;

		cr_assert(loader_step(l, &stage, &position, &pid));
		evidence_open(&by_now, list_at(&stage.list, l->sequence->at[position]), pid, false,
			      2000);
	}
	for (unsigned j = 0; j < 2; j++) {
		uint64_t turn = by_now.turn;

		begin_search(&s, &stage.list);
		s.next = search_piece(seeds[j]);
		s.end = s.next + 2;
		search_run(&s);
		cr_assert(s.claimed, "job %u", j);
		cr_assert_eq(s.found.seed, seeds[j]);
		acquit(&s.found);
		cr_assert_neq(by_now.turn, turn);
		cr_assert_eq(by_now.reader_count, j == 0 ? 2 : 0);
		search_fini(&s);
		sequence_unref(q[j]);
	}
	cr_assert_eq(by_now.count, 0);
}

/* Opens at random, as of a sampler with weights: there is no seed for them. */
Test(finder, finds_nothing_where_there_is_nothing, .timeout = PATIENCE)
{
	static struct search s;
	static const struct { uint32_t n; bool pids; } worlds[] = {
		{ 300, true }, { 2000, true }, { 2000, false }, { 300, false },
	};

	for (size_t i = 0; i < DL_COUNT(worlds); i++) {
		struct stage stage = { .list = { 1, FIRST_ID, worlds[i].n }, .random = { 7 } };

		evidence_clear(&by_now);
		while (by_now.count < 64)
			evidence_open(&by_now,
				      FIRST_ID + stage_draw(&stage, worlds[i].n),
				      worlds[i].pids ? 50 + stage_draw(&stage, 2) : 0, false,
				      worlds[i].n);
		begin_search(&s, &stage.list);
		s.end = 3;
		search_run(&s);
		s.next = search_piece(0);
		s.end = s.next + 2;
		search_run(&s);
		cr_assert(!s.claimed, "n %u: seed %u, world %u", worlds[i].n, s.found.seed,
			  s.found.world);
		search_fini(&s);
	}
}
