/* What an open begins, perhaps, that none of those who are followed went on with: the next epoch,
 * another place of the same one, a walk, or the first of all. */
#include <string.h>

#include "prefetch/order/tracker_internal.h"

#define SECOND_OPENS 4u                 /* without these it is no second job */

/* --- The next epoch --------------------------------------------------------------------- */

/* Who has listed the files since they changed does not go on with what is in its midst. */
static bool is_another_programs(const struct tracker *t, const struct hypothesis *h)
{
	const struct follow *main = t->jobs[0];

	return h->list != main->course.list && follow_alive(main) && !follow_nearly_done(main) &&
		t->job_count < JOBS;
}

/* The next epoch has begun: the old one's stragglers are few and are let go.  Its first batch once
 * more, with which an epoch is filled up where ranks share batches, was none. */
static void roll_over(struct tracker *t, const struct hypothesis *h)
{
	const struct follow *main = t->jobs[0];
	struct epoch rule = h->rule;
	struct follow *f;

	rule.perhaps = false;
	if (main->again && !follow_nearly_done(main))
		rule.number = main->rule.number;
	if (follow_from(t, h->list, &rule, h->since, 0, &f) < 0)
		return;
	f->again = same_rule(&rule, &main->rule);
	if (!is_another_programs(t, h)) {
		follow_after(f, main);
		begin_turn(t, h->since);
		follow_free(take_job(t, 0));
	}
	start_main(t, f);
}

bool score_nexts(struct tracker *t, const struct seen *s)
{
	bool continued = hypotheses_open(t, t->nexts, t->next_count, false, s->id);
	struct hypothesis *best = hypotheses_best(t->nexts, t->next_count);
	const struct follow *main = t->jobs[0];

	if (!best)
		return continued;
	/* The same order from its beginning while the main job is in the midst of it is another
	 * job, not the next epoch, nor will it be when the main job is done. */
	if (same_rule(&best->rule, &main->rule) && follow_alive(main) &&
	    !follow_nearly_done(main)) {
		best->score = (struct score){ 0 };
		return continued;
	}
	roll_over(t, best);
	return true;
}

/* --- Elsewhere -------------------------------------------------------------------------- */

/* Somebody is there already: these opens are his, or were lost to him. */
static bool occupied(const struct tracker *t, uint32_t position)
{
	for (size_t i = 0; i < t->job_count; i++) {
		const struct course *c = &t->jobs[i]->course;

		if (same_rule(&t->jobs[i]->rule, &t->jobs[0]->rule) && follow_alive(t->jobs[i]) &&
		    position + FOLLOW_WINDOW >= c->front && position <= c->reach + FOLLOW_WINDOW)
			return true;
	}
	return false;
}

/* Who goes on there had opened these before that was clear. */
static void take_seen(struct tracker *t, struct follow *f, uint32_t from, uint32_t to)
{
	uint64_t i = DL_MAX(t->opens > RECENT ? t->opens - RECENT : 0, t->turn_at);

	for (; i < t->opens; i++) {
		struct seen *s = &t->recent[i % RECENT];
		uint32_t index, p;

		if (s->taken || !list_index(f->course.list, s->id, &index) ||
		    follow_judge(f, index, &p) > FOLLOW_WITHIN || p < from || p > to)
			continue;
		follow_take(f, p, s->pid, s->time);
		s->taken = true;
		s->verdict = TRACKER_FITS;
	}
}

/* The main sequence at another place, where the last open was: a resumed job, or a second one.  To
 * see that it is none must not cost a whole sequence. */
static void move_main(struct tracker *t, uint32_t at)
{
	struct follow *main = t->jobs[0], *f;
	uint32_t from = score_start(&t->elsewhere, main->course.sequence->step);
	bool second = follow_alive(main) && main->opened_count > FOLLOW_WINDOW;

	t->elsewhere = (struct score){ 0 };
	/* From the beginning while the main job is at its end: the same order again (a forgotten
	 * set_epoch), which is among the next epochs. */
	if (from < FOLLOW_WINDOW && follow_nearly_done(main))
		return;
	if (follow_alive(main) && follow_stretch(main, from)) {
		take_seen(t, main, from, at);
		return;
	}
	if (second && (t->job_count == JOBS || occupied(t, from) || occupied(t, at)))
		return;
	if (follow_from(t, main->course.list, &main->rule, t->opens, from, &f) < 0)
		return;
	if (second && (f->opened_count < SECOND_OPENS || occupied(t, f->course.reach))) {
		follow_free(f);
		return;
	}
	if (second) {
		t->jobs[t->job_count++] = f;
		return;
	}
	f->course.epoch = main->course.epoch;
	f->course.next = main->course.next ? sequence_ref(main->course.next) : NULL;
	follow_free(main);
	t->jobs[0] = f;
}

bool score_elsewhere(struct tracker *t, const struct seen *s)
{
	struct follow *main = t->jobs[0];
	struct scale scale = scale_of(main->course.sequence);
	uint32_t index, p;
	bool continued;

	if (!list_index(main->course.list, s->id, &index))
		return false;
	if (t->elsewhere.bits <= 0.0f)
		score_restart(&t->elsewhere, scale);
	p = positions_first(&main->positions, index);
	follow_elsewhere(main, p);
	continued = t->elsewhere.lanes > 0 &&
		score_continues(&t->elsewhere, p, scale);
	score_open(&t->elsewhere, p, scale);
	if (t->elsewhere.bits >= SCORE_BELIEVED)
		move_main(t, p);
	return continued;
}

/* --- Walks, and the first --------------------------------------------------------------- */

/* From the beginning while the main job is at its end: an order that goes by the listing again. */
static bool is_next_epoch(const struct tracker *t, const struct list *list, uint32_t from)
{
	bool next = false;

	if (t->job_count == 0 || from >= FOLLOW_WINDOW || !follow_nearly_done(t->jobs[0]))
		return false;
	for (size_t i = 0; i < t->next_count; i++)
		next |= t->nexts[i].list == list && t->nexts[i].rule.rule == EPOCH_SEQUENTIAL;
	return next;
}

static void start_walk(struct tracker *t, size_t list)
{
	struct epoch rule = { .rule = EPOCH_SEQUENTIAL };
	uint32_t from = score_start(&t->walking[list], 1);
	struct follow *f;

	t->walking[list] = (struct score){ 0 };
	if (is_next_epoch(t, t->lists[list], from))
		return;
	if (t->walk_count == WALKS) {
		follow_free(t->walks[0]);
		memmove(&t->walks[0], &t->walks[1], --t->walk_count * sizeof(t->walks[0]));
	}
	if (follow_from(t, t->lists[list], &rule, t->opens, from, &f) < 0)
		return;
	f->course.sequential = true;
	t->walks[t->walk_count++] = f;
	memset(t->walking, 0, sizeof(t->walking));
}

bool score_walks(struct tracker *t, const struct seen *s)
{
	bool continued = false;

	for (size_t i = 0; i < t->list_count; i++) {
		struct score *score = &t->walking[i];
		struct scale scale = { list_count(t->lists[i]), 1, 0 };
		uint32_t index;
		bool begun;

		if (!list_index(t->lists[i], s->id, &index))
			continue;
		if (score->bits <= 0.0f)
			score_restart(score, scale);
		begun = score->lanes > 0;
		continued |= score_open(score, index, scale) && begun;
		if (score->bits >= SCORE_BELIEVED) {
			start_walk(t, i);
			return true;
		}
	}
	return continued;
}

void score_firsts(struct tracker *t, const struct seen *s)
{
	const struct hypothesis *best;
	struct follow *f;

	hypotheses_open(t, t->firsts, t->first_count, true, s->id);
	best = hypotheses_best(t->firsts, t->first_count);
	if (best && follow_from(t, best->list, &best->rule, best->since, 0, &f) == 0)
		start_main(t, f);
	else
		write_down(t, s);
}
