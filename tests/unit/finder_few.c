/* Two jobs with seeds of their own over so few files that each reads in the window of the other.
 * Tracker and evidence are told of opens as by the engine, and searched as by the finder. */
#include "tests/lib/search_stage.h"

#define PATIENCE 100                   /* seconds until a test gives up */
#define INTERLEAVINGS 6u
#define OPENS 20u                      /* come while a search goes on, or is asked again */
#define ASKS 120u
#define JOBS 2u

static const uint32_t seeds[JOBS] = { 3386900802, 772699760 };

struct jobs {
	struct stage stage;
	struct loader loaders[JOBS];
	bool followed[JOBS];
	uint64_t tried;                /* the turn that was searched last, ... */
	enum evidence_stage when;      /* ... with so much evidence */
};

static void note_turn(struct tracker *t)
{
	const struct course *c = tracker_main(t);
	uint32_t pids[TRACKER_READERS];

	evidence_turn(&by_now, pids, tracker_left(t, pids));
	by_now.turn += by_now.count > 0 && !(c && c->next);
}

/* false: that job has read all. */
static bool read_one(struct jobs *j, unsigned job)
{
	uint64_t turn = tracker_turn(j->stage.tracker);
	uint32_t position, pid;
	sample_id id;

	if (!loader_step(&j->loaders[job], &j->stage, &position, &pid))
		return false;
	id = list_at(&j->stage.list, j->loaders[job].sequence->at[position]);
	stage_see(&j->stage, id, pid);
	if (tracker_turn(j->stage.tracker) != turn)
		note_turn(j->stage.tracker);
	evidence_open(&by_now, id, pid, tracker_took(j->stage.tracker), j->stage.list.count);
	return true;
}

/* false: both have read all. */
static bool read_some(struct jobs *j, unsigned opens)
{
	bool any = false;

	while (opens-- > 0) {
		unsigned job = stage_draw(&j->stage, JOBS);

		any |= read_one(j, job) || read_one(j, !job);
	}
	return any;
}

static void search(struct jobs *j, struct search *s)
{
	for (unsigned i = 0; i < JOBS && !s->claimed; i++) {
		s->next = search_piece(seeds[i]);
		s->end = s->next + 1;
		search_run(s);
	}
	for (unsigned i = 0; i < ASKS && read_some(j, OPENS) && !s->claimed && search_again(s); i++)
		;
}

static void follow(struct jobs *j, struct found *f)
{
	dl_cleanup(positions_fini) struct positions positions = { 0 };
	bool followed = false;

	cr_assert_eq(search_positions(f, &positions), 0);
	for (unsigned i = 0; i < ASKS && !followed && by_now.turn == j->tried; i++) {
		search_ranks(&by_now, &positions, f);
		followed = tracker_found(j->stage.tracker, f);
		if (!followed && !read_some(j, 1))
			break;
	}
	if (!followed)
		return;
	j->followed[f->seed == seeds[1]] = true;
	search_acquit(f, &positions, &by_now);
	j->when = EVIDENCE_AMPLE;
	forget_verdicts(&j->stage);
}

static void search_what_there_is(struct jobs *j)
{
	static struct search s;
	enum evidence_stage when = evidence_stage(&by_now);

	if (when == EVIDENCE_NONE || (j->tried == by_now.turn && j->when >= when))
		return;
	j->tried = by_now.turn;
	j->when = when;
	s = (struct search){ .evidence = by_now, .latest = latest };
	search_init(&s);
	s.lists[s.list_count++] = list_ref(&j->stage.list);
	if (search_prepare(&s))
		search(j, &s);
	if (s.claimed)
		cr_expect_eq(s.found.world, 0, "n %u: a rank of %u", j->stage.list.count,
			     s.found.world);
	if (s.claimed)
		follow(j, &s.found);
	search_fini(&s);
}

/* Were both found within an epoch? */
static bool both_are_found(uint32_t n, unsigned workers, unsigned batch, uint64_t interleaving)
{
	static struct jobs j;
	struct sequence *q[JOBS];
	bool both;

	j = (struct jobs){ 0 };
	by_now = (struct evidence){ .turn = 1 };
	stage_open(&j.stage, "auto", n, NULL);
	j.stage.random = (struct random){ interleaving };
	for (unsigned i = 0; i < JOBS; i++) {
		q[i] = torch_sequence(n, seeds[i], 0);
		j.loaders[i] = (struct loader){ .sequence = q[i], .to = n, .workers = workers,
						.batch = batch, .pid = 50 + 20 * i };
	}
	while (read_some(&j, 1))
		search_what_there_is(&j);
	both = j.followed[0] && j.followed[1];
	if (both)
		cr_expect_leq(j.stage.verdicts[TRACKER_MISPREDICTED], 8, "n %u, %u workers: %u", n,
			      workers, j.stage.verdicts[TRACKER_MISPREDICTED]);
	stage_close(&j.stage);
	for (unsigned i = 0; i < JOBS; i++)
		sequence_unref(q[i]);
	return both;
}

Test(finder_few, finds_two_jobs_that_read_in_each_others_window, .timeout = PATIENCE)
{
	static const struct { uint32_t n; unsigned workers, batch; } cases[] = {
		{ 150, 1, 16 }, { 200, 4, 16 }, { 300, 2, 16 }, { 400, 4, 16 }, { 600, 4, 16 },
	};

	for (size_t i = 0; i < DL_COUNT(cases); i++) {
		unsigned both = 0;

		for (uint64_t k = 1; k <= INTERLEAVINGS; k++)
			both += both_are_found(cases[i].n, cases[i].workers, cases[i].batch, k);
		cr_expect_geq(both, INTERLEAVINGS - 1, "n %u, %u workers: %u of %u", cases[i].n,
			      cases[i].workers, both, INTERLEAVINGS);
	}
}

/* Eight ranks of a process each, and a job of eight workers, whose opens lie anywhere in theirs. */
Test(finder_few, acquits_nobody_who_does_not_read_as_a_rank_does)
{
	const unsigned ranks = 8, opens = 12;
	dl_cleanup(sequence_unrefp) struct sequence *other = torch_sequence(600, seeds[1], 0);
	dl_cleanup(sequence_unrefp) struct sequence *all = torch_sequence(600, 5, 0);
	struct list list = { 1, FIRST_ID, 600 };
	const struct found f = { .list = &list, .seed = 5, .world = ranks };

	by_now = (struct evidence){ .turn = 1 };
	for (unsigned i = 0; i < opens; i++)
		for (unsigned r = 0; r < ranks; r++) {
			evidence_open(&by_now, FIRST_ID + all->at[i * ranks + r], 50 + r, false,
				      600);
			if (i < 2)     /* it has only begun */
				evidence_open(&by_now, FIRST_ID + other->at[r * 16 + i], 70 + r,
					      false, 600);
		}
	acquit(&f);
	cr_assert_eq(by_now.reader_count, 8, "%zu are left", by_now.reader_count);
	for (size_t i = 0; i < by_now.reader_count; i++)
		cr_assert_geq(by_now.readers[i].pid, 70);
}
