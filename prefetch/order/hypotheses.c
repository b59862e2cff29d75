#include <string.h>

#include "prefetch/order/tracker_internal.h"

int epoch_sequence(struct tracker *t, struct list *list, const struct epoch *e, bool whole,
		   struct sequence **ret)
{
	uint32_t n = list_count(list);

	if (e->rule == EPOCH_DRAWN)
		return drawn_sequence(t, list, e, ret);

	if (e->rule == EPOCH_LISTED) {
		if (t->listed.count == 0)
			return -ENOENT;
		*ret = sequence_ref(t->listed.at[e->number % t->listed.count]);
		return 0;
	}
	return whole ? order_sequence(&t->spec, e, n, ret)
		     : order_prefix(&t->spec, e, n, HEAD, ret);
}

void hypotheses_clear(struct hypothesis *at, size_t *count)
{
	for (size_t i = 0; i < *count; i++) {
		positions_fini(&at[i].positions);
		sequence_unref(at[i].head);
		at[i] = (struct hypothesis){ 0 };
	}
	*count = 0;
}

/* Two that say the same would each keep the other from being the best by a margin. */
static bool is_there(const struct tracker *t, const struct hypothesis *at, size_t count,
		     const struct list *list, const struct epoch *e)
{
	for (size_t i = 0; i < count; i++) {
		const struct epoch *o = &at[i].rule;
		size_t lists = DL_MAX(t->listed.count, (size_t)1);

		if (at[i].list == list && same_rule(o, e) &&
		    (e->rule != EPOCH_DRAWN || o->number == e->number) &&
		    (e->rule != EPOCH_LISTED || o->number % lists == e->number % lists))
			return true;
	}
	return false;
}

/* One that cannot be had (no memory, torch's other algorithm) is left out. */
static void add(struct tracker *t, struct hypothesis *at, size_t *count, size_t max,
		struct list *list, const struct epoch *rule)
{
	struct hypothesis h = { .list = list, .rule = *rule };

	if (*count == max || is_there(t, at, *count, list, rule) ||
	    epoch_sequence(t, list, rule, false, &h.head) < 0)
		return;
	if (positions_init(&h.positions, h.head) < 0) {
		sequence_unref(h.head);
		return;
	}
	at[(*count)++] = h;
}

/* A run begins as the last one did, or is resumed in its last epoch.  Of worlds there is one. */
static void add_lesson(struct tracker *t, const struct lesson *e)
{
	struct epoch rule = {
		.rule = e->buffer ? EPOCH_NUMPY : e->world ? EPOCH_DISTRIBUTED : EPOCH_TORCH,
		.seed = e->seed, .skip = e->skip, .buffer = e->buffer,
	};

	if (e->world != 0 && t->spec.world == 0)
		t->spec.world = e->world;
	for (size_t l = 0; l < t->list_count; l++)
		if (list_count(t->lists[l]) == e->n && (e->world == 0 || e->world == t->spec.world))
			add(t, t->firsts, &t->first_count, HYPOTHESES, t->lists[l], &rule);
}

static void add_learned_firsts(struct tracker *t)
{
	const struct lesson *run;
	size_t count = t->lessons ? lessons_last_run(t->lessons, &run) : 0;

	if (count == 0 || t->spec.kind != ORDER_AUTO)
		return;
	add_lesson(t, &run[0]);
	add_lesson(t, &run[count - 1]);
}

static void add_first(struct tracker *t)
{
	struct epoch rules[ORDER_BRANCHES];

	for (size_t l = 0; l < t->list_count; l++) {
		size_t n = order_first(&t->spec, list_count(t->lists[l]), rules);

		for (size_t i = 0; i < n; i++)
			add(t, t->firsts, &t->first_count, HYPOTHESES, t->lists[l], &rules[i]);
	}
	add_learned_firsts(t);
	if (t->listed_over)
		add(t, t->firsts, &t->first_count, HYPOTHESES, t->listed_over,
		    &(struct epoch){ .rule = EPOCH_LISTED });
	t->deep_next = t->first_count;
	t->deep_at = UINT64_MAX;
	attend(t);
}

void hypotheses_first(struct tracker *t)
{
	hypotheses_clear(t->firsts, &t->first_count);
	add_first(t);
}

static void drop_listed(struct tracker *t)
{
	size_t i = 0;

	while (i < t->first_count && t->firsts[i].rule.rule != EPOCH_LISTED)
		i++;
	if (i == t->first_count)
		return;
	positions_fini(&t->firsts[i].positions);
	sequence_unref(t->firsts[i].head);
	t->firsts[i] = t->firsts[--t->first_count];
	t->firsts[t->first_count] = (struct hypothesis){ 0 };
}

void hypotheses_again(struct tracker *t, struct list *list, struct sequence *epoch)
{
	struct sequence **at = malloc(sizeof(*at));

	if (!at) {
		sequence_unref(epoch);
		return;
	}
	list_epochs_fini(&t->listed);
	*at = epoch;
	t->listed = (struct list_epochs){ .at = at, .count = 1 };
	list_ref(list);
	list_unref(t->listed_over);
	t->listed_over = list;
	t->recalled = false;
	t->listed_at = t->opens;
	drop_listed(t);
	add(t, t->firsts, &t->first_count, HYPOTHESES, t->listed_over,
	    &(struct epoch){ .rule = EPOCH_LISTED });
	t->deep_next = t->first_count;
	attend(t);
}

void hypotheses_around(struct tracker *t, struct list *list, const struct epoch *rule)
{
	struct epoch rules[ORDER_BRANCHES];
	size_t n = order_next(&t->spec, list_count(list), rule, rules);

	hypotheses_clear(t->firsts, &t->first_count);
	add(t, t->firsts, &t->first_count, HYPOTHESES, list, rule);
	for (size_t i = 0; i < n; i++)
		add(t, t->firsts, &t->first_count, HYPOTHESES, list, &rules[i]);
	add_first(t);
}

struct lesson hypotheses_lesson(const struct tracker *t, const struct list *list,
				const struct epoch *e)
{
	return (struct lesson){
		.n = list_count(list), .seed = e->seed, .skip = e->skip,
		.world = e->rule == EPOCH_DISTRIBUTED ? t->spec.world : 0,
		.buffer = e->buffer,
	};
}

static void add_learned(struct tracker *t, struct list *list, const struct epoch *now)
{
	struct lesson of_now = hypotheses_lesson(t, list, now);
	const struct lesson *after = t->lessons ? lessons_after(t->lessons, &of_now) : NULL;
	struct epoch next = *now;

	if (t->spec.kind != ORDER_AUTO || !after || after->world != of_now.world ||
	    after->buffer != of_now.buffer)
		return;
	next.number++;
	next.seed = after->seed;
	next.skip = after->skip;
	add(t, t->nexts, &t->next_count, NEXTS, list, &next);
}

/* Who listed the files before they changed goes on with those; who begins has the others. */
static void add_firsts_now(struct tracker *t, const struct list *followed)
{
	struct epoch rules[ORDER_BRANCHES];

	for (size_t l = 0; l < t->list_count; l++) {
		size_t n = 0;

		if (t->lists[l] != followed && list_kind(t->lists[l]) == list_kind(followed) &&
		    list_root(t->lists[l]) == list_root(followed))
			n = order_first(&t->spec, list_count(t->lists[l]), rules);
		for (size_t i = 0; i < n; i++)
			add(t, t->nexts, &t->next_count, NEXTS, t->lists[l], &rules[i]);
	}
}

void hypotheses_next(struct tracker *t)
{
	struct epoch rules[ORDER_BRANCHES];
	struct follow *main = t->jobs[0];
	size_t n;

	hypotheses_clear(t->nexts, &t->next_count);
	add_learned(t, main->course.list, &main->rule);
	n = order_next(&t->spec, list_count(main->course.list), &main->rule, rules);
	for (size_t i = 0; i < n; i++)
		add(t, t->nexts, &t->next_count, NEXTS, main->course.list, &rules[i]);
	add_firsts_now(t, main->course.list);
}

/* The first opens may be lost, or left out by a program that has the files already.  In small
 * datasets others lie there by chance. */
static uint32_t beginning_of(struct scale scale)
{
	return DL_MIN(scale.n / 64, scale.step * FOLLOW_WINDOW);
}

bool hypotheses_open(struct tracker *t, struct hypothesis *at, size_t count, bool anywhere,
		     sample_id id)
{
	bool continued = false;

	for (size_t i = 0; i < count; i++) {
		struct hypothesis *h = &at[i];
		struct scale scale = scale_of(h->head);
		uint32_t index, p;

		if (!list_index(h->list, id, &index))
			continue;
		p = positions_first(&h->positions, index);
		if (h->score.bits <= 0.0f) {            /* it starts anew */
			score_restart(&h->score, scale);
			if (!anywhere)
				score_restart_below(&h->score, beginning_of(scale));
			h->since = t->opens - 1;
		}
		continued |= score_open(&h->score, p, scale);
	}
	return continued;
}

/* The same over a list that differs further on, as after files have gone: the likelier is taken. */
static bool is_as_good(const struct hypothesis *a, const struct hypothesis *b)
{
	return a->list != b->list && same_rule(&a->rule, &b->rule);
}

struct hypothesis *hypotheses_best(struct hypothesis *at, size_t count)
{
	struct hypothesis *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (!best || at[i].score.bits > best->score.bits)
			best = &at[i];
	if (!best || best->score.bits < SCORE_BELIEVED)
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (&at[i] != best && !is_as_good(best, &at[i]) &&
		    best->score.bits < at[i].score.bits + MARGIN)
			return NULL;
	return best;
}

static uint64_t first_seen(const struct tracker *t, uint64_t since)
{
	uint64_t kept = t->opens > RECENT ? t->opens - RECENT : 0;
	uint64_t first = DL_MAX(kept, since > BEFORE ? since - BEFORE : 0);

	return DL_MAX(first, t->turn_at);
}

static int follow_since(struct tracker *t, struct list *list, const struct epoch *rule,
			uint64_t since, uint32_t from, bool mixed, struct follow **ret)
{
	dl_cleanup(follow_freep) struct follow *f = NULL;
	struct sequence *q;
	int r = epoch_sequence(t, list, rule, true, &q);

	if (r < 0)
		return r;
	r = follow_new(list, q, rule, &f);
	if (r < 0)
		return r;
	if (from > buffer_behind(q))
		follow_jump(f, from - buffer_behind(q));
	f->begun = mixed;                      /* there: the lowest of all its readers */
	for (uint64_t i = first_seen(t, since); i < t->opens; i++) {
		struct seen *s = &t->recent[i % RECENT];
		enum follow_verdict v;
		uint32_t index, p;

		if (s->sure || (i < since && s->taken) || !list_index(list, s->id, &index))
			continue;
		v = follow_judge(f, index, &p);
		if (mixed)
			f->judged = 0;         /* nobody is passed by: others may be where he is */
		if (v == FOLLOW_WITHIN && mixed)
			follow_perhaps(f, p);
		else if (v <= FOLLOW_WITHIN)
			follow_take(f, p, s->pid, s->time);
		if (v <= FOLLOW_AGAIN)
			s->verdict = TRACKER_FITS;
	}
	*ret = DL_TAKE(f);
	return 0;
}

int follow_from(struct tracker *t, struct list *list, const struct epoch *rule, uint64_t since,
		uint32_t from, struct follow **ret)
{
	return follow_since(t, list, rule, since, from, false, ret);
}

int follow_among(struct tracker *t, struct list *list, const struct epoch *rule, uint64_t since,
		 uint32_t from, struct follow **ret)
{
	int r = follow_since(t, list, rule, since, from, true, ret);

	if (r == 0)
		follow_trust(*ret);
	return r;
}

struct score score_recent(const struct tracker *t, struct list *list, const struct sequence *q,
			  const struct positions *positions, uint64_t from, bool unclaimed,
			  uint64_t *ret_since)
{
	struct score s = { 0 }, best = s;
	uint64_t since;

	from = DL_MAX(t->opens > RECENT ? t->opens - RECENT : 0, from);
	for (since = *ret_since = from; from < t->opens; from++) {
		const struct seen *o = &t->recent[from % RECENT];
		uint32_t index;

		if (unclaimed && o->sure)
			continue;
		if (s.bits <= 0.0f) {
			score_restart(&s, scale_of(q));
			since = from;
		}
		if (list_index(list, o->id, &index))
			score_open(&s, positions_first(positions, index),
				   scale_of(q));
		if (s.bits >= best.bits) {
			best = s;
			*ret_since = since;
		}
	}
	return best;
}

bool search_deep(struct tracker *t)
{
	struct hypothesis *h = &t->firsts[t->deep_next++];
	dl_cleanup(sequence_unrefp) struct sequence *q = NULL;
	dl_cleanup(positions_fini) struct positions positions = { 0 };
	struct score s;
	uint64_t since;

	if (epoch_sequence(t, h->list, &h->rule, true, &q) < 0 || positions_init(&positions, q) < 0)
		return false;
	/* What was listed must not be found again in what it was made of. */
	s = score_recent(t, h->list, q, &positions, DL_MAX(t->turn_at, t->listed_at), false,
			 &since);
	if (s.bits < SCORE_BELIEVED || s.lanes == 0)
		return false;
	if (follow_from(t, h->list, &h->rule, since, score_start(&s, q->step), &t->jobs[0]) < 0)
		return false;
	t->job_count = 1;
	return true;
}
