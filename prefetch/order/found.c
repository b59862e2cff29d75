/* An order that nobody told: a search found it. */
#include <string.h>

#include "prefetch/order/tracker_internal.h"

#define LESSON_OPENS 32u

static bool has_list(const struct tracker *t, const struct list *list)
{
	for (size_t i = 0; i < t->list_count; i++)
		if (t->lists[i] == list)
			return true;
	return false;
}

static bool in_use(const struct tracker *t, const struct list *list)
{
	bool used = false;

	for (size_t i = 0; i < t->job_count; i++)
		used |= t->jobs[i]->course.list == list;
	for (size_t i = 0; i < t->first_count; i++)
		used |= t->firsts[i].list == list;
	for (size_t i = 0; i < t->next_count; i++)
		used |= t->nexts[i].list == list;
	return used;
}

bool tracker_lists(struct tracker *t, struct list *const *lists, size_t count)
{
	size_t before = t->list_count;

	if (t->spec.kind != ORDER_AUTO)
		return false;
	t->list_count = 0;
	for (size_t i = 0; i < before; i++) {
		if (in_use(t, t->lists[i]))
			t->lists[t->list_count++] = t->lists[i];
		else
			list_unref(t->lists[i]);
	}
	for (size_t i = 0; i < count && t->list_count < LISTS; i++)
		t->lists[t->list_count++] = list_ref(lists[i]);
	t->alone = NULL;
	memset(t->walking, 0, sizeof(t->walking));
	if (t->replay.list && !has_list(t, t->replay.list) && t->list_count > 0)
		replay_move(&t->replay, t->lists[0]);
	return true;
}

/* What the spec would say of ranks, had it been told. */
static int complete_spec(const struct order_spec *s, const struct found *f, struct order_spec *ret)
{
	struct order_spec spec = *s;

	spec.seed = f->seed;
	spec.world = f->world;
	spec.ranks = f->rank_count ? (uint32_t *)f->ranks : NULL;
	spec.rank_count = f->rank_count;
	return order_spec_copy(&spec, ret);
}

static struct epoch epoch_of(const struct found *f)
{
	return (struct epoch){
		.rule = f->buffer ? EPOCH_NUMPY : f->world ? EPOCH_DISTRIBUTED : EPOCH_TORCH,
		.seed = f->seed, .skip = f->skip, .shuffle = f->shuffle, .buffer = f->buffer,
	};
}

/* From its middle on it is what is followed already: the opens are old ones. */
static bool is_main_again(const struct tracker *t, const struct epoch *rule, uint32_t from)
{
	const struct epoch *main = t->job_count > 0 ? &t->jobs[0]->rule : NULL;

	return main && same_rule(main, rule) && from >= FOLLOW_WINDOW;
}

/* Found too late for itself: but the next epoch is known by it.  What pads it, a file a rank at
 * most, need not be opened by then. */
static bool is_over(const struct follow *f, const struct found *found)
{
	const struct sequence *q = f->course.sequence;
	uint32_t padding = found->world > 0 ? q->step : 0;

	return found->opened > 0 && found->opened + padding >= q->length;
}

/* Another order than what is followed: so it cannot be that of opens that go on with that. */
static bool is_beside_main(const struct tracker *t, const struct found *f,
			   const struct epoch *rule)
{
	return t->job_count > 0 && f->world == 0 && !same_rule(rule, &t->jobs[0]->rule);
}

static int follow_found(struct tracker *t, const struct found *f, struct follow **ret)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = NULL;
	dl_cleanup(positions_fini) struct positions positions = { 0 };
	struct epoch rule = epoch_of(f);
	struct score s;
	uint64_t since;
	int r = epoch_sequence(t, f->list, &rule, true, &q);

	if (r == 0)
		r = positions_init(&positions, q);
	if (r < 0)
		return r;
	s = score_recent(t, f->list, q, &positions, t->turn_at, is_beside_main(t, f, &rule),
			 &since);
	if (s.bits < SCORE_BELIEVED ||
	    (f->world == 0 && is_main_again(t, &rule, score_start(&s, q->step))))
		return -EAGAIN;
	r = follow_among(t, f->list, &rule, since, score_start(&s, q->step), ret);
	if (r == 0 && is_over(*ret, f))
		follow_end(*ret);
	return r;
}

/* The epoch's number goes on counting from the order that was found before, unless that is the
 * same one with fewer ranks. */
static uint64_t number_of(const struct tracker *t, const struct order_spec *before,
			  const struct found *f)
{
	const struct epoch *last = t->job_count > 0 ? &t->jobs[0]->rule : NULL;
	uint32_t seed = last ? last->seed : (uint32_t)(before->seed + before->epoch - 1);
	uint64_t next = last ? last->number + 1 : before->epoch;

	return next > 0 && f->world > 0 && before->world > 0 && seed == f->seed ? next - 1 : next;
}

/* Who was followed goes on in the midst of his epoch: these opens are somebody else's. */
static bool is_second_job(const struct tracker *t, const struct follow *f)
{
	const struct follow *main = t->job_count > 0 ? t->jobs[0] : NULL;

	return main && t->job_count < JOBS && follow_alive(main) && !main->over &&
	       !follow_mostly_read(main) &&
	       f->rule.rule == EPOCH_TORCH && main->rule.rule == EPOCH_TORCH;
}

static void take_over(struct tracker *t, struct follow *f, uint64_t number)
{
	f->course.epoch = f->rule.number = number;
	t->spec.seed -= number;        /* seed + epoch is what was found */
	t->spec.epoch = number + 1;
	if (t->job_count > 0)
		follow_free(t->jobs[0]);
	t->job_count = DL_MAX(t->job_count, (size_t)1);
	t->jobs[0] = f;
	t->elsewhere = (struct score){ 0 };
	hypotheses_clear(t->firsts, &t->first_count);
	hypotheses_next(t);
}

void tracker_teach(struct tracker *t, const struct lessons *lessons)
{
	t->lessons = lessons;
	if (t->job_count > 0)
		hypotheses_next(t);
	else if (t->spec.kind == ORDER_AUTO)
		hypotheses_first(t);
}

/* The main job, or a validation set. */
static const struct follow *last_opened(const struct tracker *t)
{
	const struct follow *last = t->job_count > 0 ? t->jobs[0] : NULL;

	for (size_t i = 1; i < t->job_count; i++)
		if (t->jobs[i]->beside && t->jobs[i]->course.last_open > last->course.last_open)
			last = t->jobs[i];
	return last;
}

/* Once it is certain: what was believed for a few opens is no lesson. */
bool tracker_lesson(const struct tracker *t, struct lesson *ret)
{
	const struct follow *f = last_opened(t);

	if (!f || t->spec.kind != ORDER_AUTO || !follow_confirmed(f) ||
	    f->rule.rule > EPOCH_NUMPY || f->rule.shuffle || f->opened_count < LESSON_OPENS)
		return false;
	*ret = hypotheses_lesson(t, f->course.list, &f->rule);
	return true;
}

static void doubt_recalled(struct tracker *t, sample_id id)
{
	uint32_t index;

	for (size_t i = 0; t->recalled && i < t->first_count; i++)
		if (t->firsts[i].rule.rule == EPOCH_LISTED && t->firsts[i].score.bits < PROMISING &&
		    list_index(t->listed_over, id, &index))
			t->unlike++;
}

/* What a program does in one epoch it may do in all. */
void write_down(struct tracker *t, const struct seen *s)
{
	struct list *list = t->replay.list;
	struct sequence *epoch = NULL;
	uint32_t index;

	if (t->spec.kind != ORDER_AUTO)
		return;
	doubt_recalled(t, s->id);
	for (size_t i = 0; !list && i < t->list_count; i++)
		if (list_index(t->lists[i], s->id, &index))
			list = t->lists[i];
	if (list && list_index(list, s->id, &index))
		epoch = replay_open(&t->replay, list, index);
	if (epoch)
		hypotheses_again(t, list, epoch);
}

void tracker_recall(struct tracker *t, struct list *list, const struct sequence *epoch)
{
	if (t->spec.kind != ORDER_AUTO || t->listed_over || t->job_count > 0)
		return;
	hypotheses_again(t, list, sequence_ref((struct sequence *)epoch));
	t->recalled = t->listed_over;
}

const struct sequence *tracker_written(const struct tracker *t, struct list **ret_list)
{
	if (!t->listed_over || t->recalled)
		return NULL;
	*ret_list = t->listed_over;
	return t->listed.at[0];
}

bool tracker_replays(const struct tracker *t)
{
	return t->job_count > 0 && t->listed_over && t->jobs[0]->rule.rule == EPOCH_LISTED;
}

bool tracker_took(const struct tracker *t)
{
	return t->opens > 0 && t->recent[(t->opens - 1) % RECENT].sure;
}

uint64_t tracker_turn(const struct tracker *t)
{
	return t->turn;
}

size_t tracker_left(const struct tracker *t, uint32_t ret[TRACKER_READERS])
{
	size_t count = 0;

	while (count < TRACKER_READERS && t->left[count] != 0) {
		ret[count] = t->left[count];
		count++;
	}
	return count;
}

bool tracker_found(struct tracker *t, const struct found *found)
{
	struct order_spec spec, before = t->spec;
	struct follow *f;
	uint64_t number = number_of(t, &before, found);

	if (t->spec.kind != ORDER_AUTO || !has_list(t, found->list) ||
	    complete_spec(&t->spec, found, &spec) < 0)
		return false;
	t->spec = spec;
	if (follow_found(t, found, &f) < 0) {
		t->spec = before;
		order_spec_fini(&spec);
		return false;
	}
	t->spec = before;
	if (follow_beside(t, f, found->world)) {
		order_spec_fini(&spec);
		return true;
	}
	t->spec = spec;
	order_spec_fini(&before);
	if (is_second_job(t, f))
		t->jobs[t->job_count++] = f;
	else
		take_over(t, f, number);
	return true;
}
