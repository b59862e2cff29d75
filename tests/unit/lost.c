/* Files are removed while they are read: what is left of the epoch is followed to its end. */
#include "tests/lib/script_stage.h"

#define N 4000u
#define BEGUN 1500u                     /* opens of an epoch before that */

static uint64_t lost[N / 64 + 1];

/* A folder, and one in ten. */
static bool is_lost(uint32_t index)
{
	return index % 10 == 3 || (index >= 2000 && index < 2400);
}

static void lose(struct stage *s, struct list *now)
{
	struct renewed renewed = { &s->list, now };

	for (uint32_t i = 0; i < N; i++)
		if (is_lost(i))
			lost[i / 64] |= UINT64_C(1) << (i % 64);
	lost_files = lost;
	*now = (struct list){ 1, s->list.first, N };
	cr_assert_eq(tracker_again(s->tracker, &s->spec, &now, 1, NULL, &renewed, 1), 0);
}

static const struct lost_case { const char *spec; unsigned readers; bool ranks; } cases[] = {
	{ "sequential", 1, false }, { "torch:seed=7", 1, false }, { "torch:seed=7", 2, false },
	{ "list:x", 1, false }, { "torch-distributed:seed=5,world=2", 2, true },
};

static struct sequence *of_epoch(const struct lost_case *c, uint32_t e)
{
	struct sequence *q;

	if (c->spec[0] == 't')
		return c->ranks ? torch_sequence(N, 5 + e, 0) : epoch_of(PLAIN, N, e);
	q = torch_sequence(N, 99, 0);
	for (uint32_t i = 0; c->spec[0] == 's' && i < N; i++)
		q->at[i] = i;
	return q;
}

struct readers {
	struct loader of[2];
	struct sequence *sequences[2];
	unsigned count;
};

static void begin(struct readers *r, const struct lost_case *c, uint32_t e)
{
	r->count = c->readers;
	for (unsigned i = 0; i < r->count; i++) {
		r->sequences[i] = c->ranks ? rank_sequence(N, 5 + e, 2, i) : of_epoch(c, e);
		r->of[i] = loader_of(r->sequences[i], 50 + 20 * e + 10 * i);
	}
}

static void end(struct readers *r)
{
	while (r->count > 0)
		sequence_unref(r->sequences[--r->count]);
}

/* Who comes to a file that is gone goes on with the next.  false: all is read. */
static bool read_one(struct loader *l, struct stage *s)
{
	uint32_t position, pid, index;

	if (!loader_step(l, s, &position, &pid))
		return false;
	index = l->sequence->at[position];
	if (!lost_files || !is_lost(index))
		stage_see(s, list_at(&s->list, index), pid);
	return true;
}

static bool read_on(struct readers *r, struct stage *s)
{
	bool more = false;

	for (unsigned i = 0; i < r->count; i++)
		more |= read_one(&r->of[i], s);
	return more;
}

/* What it says of how far it is, counted one by one. */
static void expect_counts(const struct course *c, const char *spec)
{
	uint32_t opened = 0, there = 0;

	for (uint32_t p = 0; p < c->sequence->length; p++) {
		bool is_opened = c->opened[p / 64] >> (p % 64) & 1;

		opened += is_opened;
		there += is_opened || !lost_files || !is_lost(c->sequence->at[p]);
	}
	cr_expect_eq(tracker_position(c), opened, "%s: %u, not %u", spec, tracker_position(c),
		     opened);
	cr_expect_eq(tracker_length(c), there, "%s: %u, not %u", spec, tracker_length(c), there);
}

/* Of two jobs one may have had a file that the other was the next to open. */
static void expect_end(const struct stage *s, const struct lost_case *of)
{
	uint32_t missed = of->readers > 1 && !of->ranks ? 20 : 0;
	const struct course *c;
	size_t count = tracker_courses(s->tracker, &c);

	for (size_t i = 0; i < count; i++) {
		expect_counts(&c[i], of->spec);
		cr_expect_geq(tracker_position(&c[i]) + missed, tracker_length(&c[i]),
			      "%s: %u of %u", of->spec, tracker_position(&c[i]),
			      tracker_length(&c[i]));
	}
}

static void lose_in_epoch(const struct lost_case *c)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = of_epoch(c, 0), *next = of_epoch(c, 1);
	struct list_epochs listed = { malloc(sizeof(struct sequence *)), 1 };
	struct readers r;
	struct list now;
	struct stage s;

	listed.at[0] = sequence_ref(q);
	stage_open(&s, c->spec, N, c->spec[0] == 'l' ? &listed : NULL);
	list_epochs_fini(&listed);
	begin(&r, c, 0);
	for (unsigned i = 0; i < BEGUN; i++)
		read_one(&r.of[0], &s);
	for (unsigned i = 0; i < BEGUN && c->readers > 1; i++)
		read_one(&r.of[1], &s);
	lose(&s, &now);
	expect_counts(main_course(&s, q), c->spec);
	forget_verdicts(&s);
	while (read_on(&r, &s))
		;
	end(&r);
	expect_end(&s, c);
	begin(&r, c, 1);
	for (unsigned i = 0; i < BEGUN; i++)
		read_on(&r, &s);
	cr_expect_eq(main_course(&s, next)->epoch, 1u, "%s", c->spec);
	expect_misses(&s, s.opens / 20, c->spec);
	end(&r);
	tracker_free(s.tracker);
	order_spec_fini(&s.spec);
	cr_assert(s.list.refs == 1 && now.refs == 1);
	lost_files = NULL;
}

Test(lost, files_are_not_waited_for)
{
	for (size_t i = 0; i < DL_COUNT(cases); i++)
		lose_in_epoch(&cases[i]);
}
