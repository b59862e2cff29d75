#include "prefetch/order/tracker.h"

#include <string.h>

#include "prefetch/order/tracker_internal.h"

int tracker_new(struct tracker **ret)
{
	struct tracker *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->nothing = calloc(HEAD / 64 + 1, sizeof(*t->nothing));
	if (!t->nothing) {
		free(t);
		return -ENOMEM;
	}
	*ret = t;
	return 0;
}

static void drop_all(struct follow **at, size_t *count)
{
	while (*count > 0)
		follow_free(at[--*count]);
}

static void forget(struct tracker *t)
{
	hypotheses_clear(t->firsts, &t->first_count);
	hypotheses_clear(t->nexts, &t->next_count);
	drop_all(t->jobs, &t->job_count);
	drop_all(t->walks, &t->walk_count);
	for (size_t i = 0; i < t->list_count; i++)
		list_unref(t->lists[i]);
	t->list_count = 0;
	list_epochs_fini(&t->listed);
	list_unref(t->listed_over);
	t->listed_over = NULL;
	replay_fini(&t->replay);
	drawn_forget(t);
	order_spec_fini(&t->spec);
	memset(t->walking, 0, sizeof(t->walking));
	t->elsewhere = (struct score){ 0 };
	t->opens = t->told_at = t->turn_at = t->listed_at = t->attended = 0;
	t->deep_at = t->deep_from = 0;
	t->settled = t->unlike = 0;
	t->alone = NULL;
	t->deep_next = 0;
	t->stood = (struct standing){ 0 };
	t->changed = false;
}

void tracker_free(struct tracker *t)
{
	if (!t)
		return;
	forget(t);
	free(t->nothing);
	free(t);
}

struct follow *take_job(struct tracker *t, size_t i)
{
	struct follow *f = t->jobs[i];

	memmove(&t->jobs[i], &t->jobs[i + 1], (--t->job_count - i) * sizeof(t->jobs[0]));
	return f;
}

void start_main(struct tracker *t, struct follow *f)
{
	assert(t->job_count < JOBS);
	f->beside = f->course.sequential = false;
	memmove(&t->jobs[1], &t->jobs[0], t->job_count * sizeof(t->jobs[0]));
	t->jobs[0] = f;
	t->job_count++;
	t->elsewhere = (struct score){ 0 };
	t->alone = NULL;
	t->unlike = 0;
	hypotheses_clear(t->firsts, &t->first_count);
	hypotheses_next(t);
}

void believe_the_only_one(struct tracker *t)
{
	struct follow *f;

	if (t->first_count == 1 && t->spec.kind != ORDER_AUTO &&
	    follow_from(t, t->firsts[0].list, &t->firsts[0].rule, t->opens, 0, &f) == 0)
		start_main(t, f);
}

int tracker_order(struct tracker *t, const struct order_spec *spec, struct list *const *lists,
		  size_t list_count, struct list_epochs *listed)
{
	struct order_spec copy;
	int r = order_spec_copy(spec, &copy);

	if (r < 0)
		return r;
	forget(t);
	t->spec = copy;
	for (size_t i = 0; i < DL_MIN(list_count, (size_t)LISTS); i++)
		t->lists[t->list_count++] = list_ref(lists[i]);
	if (listed) {
		t->listed = *listed;
		*listed = (struct list_epochs){ 0 };
	}
	hypotheses_first(t);
	believe_the_only_one(t);
	return 0;
}

int tracker_epoch(struct tracker *t, uint64_t epoch)
{
	if (t->spec.kind == ORDER_NONE || t->spec.kind == ORDER_AUTO || t->spec.kind == ORDER_DRAWN)
		return -EINVAL;
	if (t->spec.epochs > 0 && epoch >= t->spec.epochs)
		return -ERANGE;
	t->spec.epoch = epoch;
	t->stood = (struct standing){ 0 };
	t->told_at = t->opens;
	drop_all(t->jobs, &t->job_count);
	hypotheses_clear(t->nexts, &t->next_count);
	hypotheses_first(t);
	believe_the_only_one(t);
	return 0;
}

void tracker_overflow(struct tracker *t)
{
	/* Lanes are broken; the agreement that was counted must not be held against them. */
	for (size_t i = 0; i < t->job_count; i++)
		t->jobs[i]->agreed = UINT64_MAX;
}

/* --- One open ------------------------------------------------------------------------- */

void begin_turn(struct tracker *t, uint64_t first)
{
	t->turn++;
	t->turn_at = first;
	t->jobs[0]->over = true;
	memcpy(t->left, t->jobs[0]->pids, sizeof(t->left));
}

/* A look at a few files, say: in its window may lie all that somebody else reads since, and it
 * would keep that from being seen. */
static void drop_refuted_walks(struct tracker *t)
{
	for (size_t i = t->walk_count; i-- > 0;) {
		if (!follow_refuted(t->walks[i]))
			continue;
		follow_free(t->walks[i]);
		memmove(&t->walks[i], &t->walks[i + 1],
			(--t->walk_count - i) * sizeof(t->walks[0]));
	}
}

/* A job that no longer agrees is dropped; without any the search begins again. */
static void drop_refuted(struct tracker *t)
{
	struct epoch rule = { .rule = EPOCH_SEQUENTIAL };
	struct list *list = NULL;

	for (size_t i = t->job_count; i-- > 0;) {
		if (!follow_refuted(t->jobs[i]))
			continue;
		rule = t->jobs[i]->rule;
		list = t->jobs[i]->course.list;        /* one of the tracker's own */
		follow_free(take_job(t, i));
		if (i == 0 && t->job_count > 0)
			start_main(t, take_job(t, 0));
	}
	if (t->job_count == 0) {
		hypotheses_clear(t->nexts, &t->next_count);
		hypotheses_around(t, list, &rule);
	}
}

static void miss_all(struct tracker *t, sample_id id)
{
	uint32_t index;

	for (size_t i = 0; i < t->job_count; i++)
		if (list_index(t->jobs[i]->course.list, id, &index))
			follow_miss(t->jobs[i]);
}

static struct seen *last_seen(struct tracker *t)
{
	return &t->recent[(t->opens - 1) % RECENT];
}

/* In small datasets nearly all lies in a walk's window: what merely does is its own only if
 * nobody else expects it. */
static bool give_to_walks(struct tracker *t, const struct seen *s, bool surely)
{
	bool listed;

	if (give(t->walks, t->walk_count, s, surely, &listed) == GIVEN_NOT)
		return false;
	last_seen(t)->taken = true;
	return true;
}

/* All was opened, and not just the last file again. */
static void end_finished(struct tracker *t, const struct seen *s)
{
	if (t->job_count > 0 && !t->jobs[0]->over && follow_finished(t->jobs[0]) &&
	    t->recent[(t->opens - 1) % RECENT].id != s->id)
		begin_turn(t, t->opens);
}

/* Its last batch may have been left out, or opens were lost. */
static void end_mostly_read(struct tracker *t, const struct seen *s)
{
	uint32_t index;

	if (t->job_count > 0 && !t->jobs[0]->over && follow_mostly_read(t->jobs[0]) &&
	    list_index(t->jobs[0]->course.list, s->id, &index))
		begin_turn(t, t->opens - 1);
}

/* Whose open is it, and what does it say for or against what is believed? */
static enum tracker_verdict consider(struct tracker *t, const struct seen *seen)
{
	struct seen s = *seen;
	bool listed = false, expected = false, looked = is_looked_at(t, &s);
	enum given taken;

	end_finished(t, &s);
	t->recent[t->opens++ % RECENT] = s;
	if (give_successor(t->jobs, t->job_count, &s) ||
	    give_successor(t->walks, t->walk_count, &s)) {
		last_seen(t)->taken = last_seen(t)->sure = true;
		return TRACKER_FITS;
	}
	taken = give(t->jobs, t->job_count, &s, false, &listed);
	last_seen(t)->taken = taken >= GIVEN_PERHAPS;
	last_seen(t)->sure = taken == GIVEN_SURELY;
	if (taken == GIVEN_SURELY)
		return TRACKER_FITS;
	if (give_to_walks(t, &s, true))
		return TRACKER_FITS;
	if (!taken)
		end_mostly_read(t, &s);
	if (t->job_count > 0) {
		expected = score_nexts(t, &s);
		expected |= score_elsewhere(t, &s);
	} else if (looked) {
		score_firsts(t, &s);
	} else {
		write_down(t, &s);
	}
	expected |= looked && score_walks(t, &s);
	if (!expected && !taken)
		expected = give_to_walks(t, &s, false);
	if (taken)
		return taken == GIVEN_PERHAPS && follow_doubtful(t->jobs[0]) ? TRACKER_MISPREDICTED
									     : TRACKER_FITS;
	if (!expected && listed)
		miss_all(t, s.id);
	if (expected)
		return TRACKER_FITS;
	if (t->job_count == 0)
		return verdict_without_jobs(t, s.id);
	return listed ? TRACKER_MISPREDICTED : TRACKER_STRANGE;
}

/* What is drawn is not guessed: whose open it is, is known.  Others may be walks. */
static enum tracker_verdict consider_drawn(struct tracker *t, const struct seen *s)
{
	t->recent[t->opens++ % RECENT] = *s;
	if (drawn_open(t, s)) {
		last_seen(t)->taken = last_seen(t)->sure = true;
		return TRACKER_FITS;
	}
	if (give_to_walks(t, s, true) ||
	    (!drawn_is_outside(t) && (score_walks(t, s) || give_to_walks(t, s, false))))
		return TRACKER_FITS;
	return TRACKER_STRANGE;
}

enum tracker_verdict tracker_open(struct tracker *t, sample_id id, uint32_t pid, uint64_t now)
{
	struct seen s = { .id = id, .pid = pid, .time = now, .verdict = TRACKER_STRANGE };
	enum tracker_verdict verdict;

	if (t->spec.kind == ORDER_NONE)
		return TRACKER_STRANGE;
	verdict = t->spec.kind == ORDER_DRAWN ? consider_drawn(t, &s) : consider(t, &s);
	/* If it began something that is followed now, it fits already. */
	if (last_seen(t)->verdict != TRACKER_FITS)
		last_seen(t)->verdict = verdict;
	restart_finished(t);
	drop_refuted_walks(t);
	if (t->job_count > 0 && t->spec.kind != ORDER_DRAWN)
		drop_refuted(t);
	verdicts_settle(t);
	return verdict;
}
