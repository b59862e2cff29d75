/* The order that was told goes on: over a dataset that has changed, or after a server that is
 * gone. */
#include <stdatomic.h>
#include <string.h>

#include "base/sum.h"
#include "prefetch/order/tracker_internal.h"

void standing_keep(struct standing_kept *k, const struct standing *s)
{
	uint32_t turn = k->turn + 1;

	k->at[turn % 2] = *s;
	atomic_store(&k->turn, turn);
}

struct standing standing_kept(const struct standing_kept *k)
{
	struct standing s = k->at[k->turn % 2];

	s.job_count = DL_MIN(s.job_count, (uint32_t)STANDING_JOBS);
	return s;
}

static uint64_t sum_of_spec(const struct tracker *t)
{
	return sum_of(t->spec.text, strlen(t->spec.text), 0);
}

/* What auto found of ranks, or wrote down, has more to it than the epoch's rule. */
static bool can_be_kept(const struct tracker *t, const struct epoch *e)
{
	return e->rule != EPOCH_DRAWN &&
	       (t->spec.kind != ORDER_AUTO ||
		(e->rule != EPOCH_DISTRIBUTED && e->rule != EPOCH_LISTED));
}

static struct standing_job job_of(const struct follow *f)
{
	struct standing_job job = {
		.epoch = f->rule, .kind = list_kind(f->course.list),
		.root = list_root(f->course.list), .count = list_count(f->course.list),
		.front = f->course.front, .reach = f->course.reach, .beside = f->beside,
		.last_open = f->course.last_open, .pid = f->course.pid,
	};

	job.epoch.number = f->course.epoch;
	return job;
}

struct standing tracker_standing(struct tracker *t)
{
	struct standing *s = &t->stood;

	if (t->job_count > 0)
		s->job_count = 0;
	if (t->job_count > 0 && t->jobs[0]->rule.rule == EPOCH_DRAWN)
		s->jobs[0] = job_of(t->jobs[0]);
	for (size_t i = 0; i < t->job_count && can_be_kept(t, &t->jobs[0]->rule); i++)
		if (can_be_kept(t, &t->jobs[i]->rule) &&
		    (i == 0 || t->jobs[i]->beside || !follow_finished(t->jobs[i])))
			s->jobs[s->job_count++] = job_of(t->jobs[i]);
	if (t->spec.kind != ORDER_NONE) {
		s->spec = sum_of_spec(t);
		s->next_epoch = t->spec.epoch;
	}
	return *s;
}

void tracker_stood(struct tracker *t, const struct standing *s)
{
	t->stood = *s;
}

/* --- After a server that is gone --------------------------------------------------------- */

static struct list *list_of(const struct tracker *t, const struct standing_job *job)
{
	for (size_t i = 0; i < t->list_count; i++)
		if (list_kind(t->lists[i]) == job->kind && list_root(t->lists[i]) == job->root)
			return t->lists[i];
	return NULL;
}

/* What its readers had opened ahead of the front is not known. */
static int follow_on(struct tracker *t, struct list *list, const struct standing_job *job,
		     struct follow **ret)
{
	struct sequence *q;
	struct follow *f;
	int r;

	if (list_count(list) != job->count)
		return -ESTALE;
	r = epoch_sequence(t, list, &job->epoch, true, &q);
	if (r == 0)
		r = follow_new(list, q, &job->epoch, &f);
	if (r < 0)
		return r;
	follow_resume(f, DL_MIN(job->front, f->course.sequence->length));
	f->beside = f->course.sequential = job->beside;
	f->course.last_open = job->last_open;
	f->course.pid = job->pid;
	*ret = f;
	return 0;
}

/* Beside the main one. */
static void add_jobs(struct tracker *t, const struct standing *s)
{
	for (uint32_t i = 1; i < s->job_count && t->job_count < JOBS; i++) {
		struct list *list = list_of(t, &s->jobs[i]);

		if (list && follow_on(t, list, &s->jobs[i], &t->jobs[t->job_count]) == 0)
			t->job_count++;
	}
}

static void go_on(struct tracker *t, const struct standing *s)
{
	const struct standing_job *main = &s->jobs[0];
	struct list *list = s->job_count > 0 ? list_of(t, main) : NULL;
	struct follow *f;

	if (s->spec != sum_of_spec(t))
		return;
	if (t->spec.kind == ORDER_DRAWN) {
		drawn_go_on(t, main);
		return;
	}
	if (t->spec.kind != ORDER_AUTO && s->next_epoch != t->spec.epoch)
		tracker_epoch(t, s->next_epoch);
	if (!list || !can_be_kept(t, &main->epoch))
		return;
	t->stood = *s;
	t->changed |= list_count(list) != main->count;
	if (follow_on(t, list, main, &f) == 0) {
		while (t->job_count > 0)
			follow_free(t->jobs[--t->job_count]);
		start_main(t, f);
		add_jobs(t, s);
	} else if (t->job_count == 0) {
		hypotheses_around(t, list, &main->epoch);
	} else {                       /* the only one there is */
		tracker_epoch(t, main->epoch.number);
	}
}

/* --- Over another dataset ---------------------------------------------------------------- */

size_t tracker_followed(const struct tracker *t, struct list *ret[TRACKER_FOLLOWED])
{
	size_t count = 0;

	_Static_assert(JOBS + WALKS <= TRACKER_FOLLOWED, "a place for each");
	for (size_t i = 0; i < t->job_count + t->walk_count; i++) {
		const struct follow *f = i < t->job_count ? t->jobs[i] : t->walks[i - t->job_count];
		size_t k = 0;

		while (k < count && ret[k] != f->course.list)
			k++;
		if (k == count)
			ret[count++] = list_ref(f->course.list);
	}
	return count;
}

static struct list *now_of(const struct tracker *t, const struct follow *f,
			   const struct renewed *lists, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (lists[i].before != f->course.list || !can_be_kept(t, &f->rule))
			continue;
		for (size_t k = 0; k < t->list_count; k++)
			if (t->lists[k] == lists[i].now)
				return t->lists[k];
	}
	return NULL;
}

/* Indices mean the same files as before: sequence, position and what was opened stay. */
static void move(const struct tracker *t, struct follow **at, size_t *count,
		 const struct renewed *lists, size_t list_count)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++) {
		struct list *now = now_of(t, at[i], lists, list_count);

		if (now && follow_over(at[i], now) == 0)
			at[kept++] = at[i];
		else
			follow_free(at[i]);
	}
	*count = kept;
}

static void replace_lists(struct tracker *t, struct list *const *lists, size_t count,
			  struct list_epochs *listed)
{
	while (t->list_count > 0)
		list_unref(t->lists[--t->list_count]);
	t->alone = NULL;
	while (t->list_count < DL_MIN(count, (size_t)LISTS)) {
		t->lists[t->list_count] = list_ref(lists[t->list_count]);
		t->list_count++;
	}
	if (listed || t->spec.kind != ORDER_LIST)
		list_epochs_fini(&t->listed);
	if (listed) {
		t->listed = *listed;
		*listed = (struct list_epochs){ 0 };
	}
	list_unref(t->listed_over);
	t->listed_over = NULL;
	replay_fini(&t->replay);
	memset(t->walking, 0, sizeof(t->walking));
}

static void change_lists(struct tracker *t, struct list *const *lists, size_t count,
			 struct list_epochs *listed, const struct renewed *renewed,
			 size_t renewed_count)
{
	struct standing stood = tracker_standing(t);

	t->changed = true;
	hypotheses_clear(t->firsts, &t->first_count);
	hypotheses_clear(t->nexts, &t->next_count);
	replace_lists(t, lists, count, listed);
	move(t, t->jobs, &t->job_count, renewed, renewed_count);
	move(t, t->walks, &t->walk_count, renewed, renewed_count);
	if (t->job_count > 0) {        /* perhaps another one is the first of them now */
		start_main(t, take_job(t, 0));
		return;
	}
	hypotheses_first(t);
	believe_the_only_one(t);
	go_on(t, &stood);
}

static bool is_same(const struct order_spec *a, const struct order_spec *b)
{
	return a->kind == b->kind && a->kind != ORDER_NONE && a->kind != ORDER_DRAWN &&
		strcmp(a->text, b->text) == 0;
}

int tracker_again(struct tracker *t, const struct order_spec *spec, struct list *const *lists,
		  size_t list_count, struct list_epochs *listed, const struct renewed *renewed,
		  size_t renewed_count)
{
	struct standing stood = tracker_standing(t);
	bool first = t->spec.kind == ORDER_NONE;
	int r;

	if (is_same(&t->spec, spec)) {
		change_lists(t, lists, list_count, listed, renewed, renewed_count);
		return 0;
	}
	if (spec->kind == ORDER_LIST && !listed)
		return -EINVAL;
	r = tracker_order(t, spec, lists, list_count, listed);
	if (r == 0 && (first || spec->kind == ORDER_DRAWN))
		go_on(t, &stood);
	return r;
}
