/* What others see of the tracker. */
#include "prefetch/order/tracker_internal.h"

#define UNFIT 64                        /* opens without a job, and something is wrong */
#define DRAWN_BEFORE "; is the seed right, and is nothing drawn after it, as for a model? " \
		     "Seed just before the loader is iterated, or give it a generator"

/* Before any open agrees with it: what is told; what the last run had, unless this one is seen
 * to be unlike it.  That an epoch of this run comes again is a bet: what it lets go is missed. */
static bool is_fetched_unseen(const struct tracker *t)
{
	return !t->listed_over || (t->recalled && t->unlike < RECALL_OPENS);
}

size_t tracker_courses(const struct tracker *t, const struct course **ret)
{
	struct course *to = ((struct tracker *)t)->courses;
	size_t count = 0;

	for (size_t i = 0; i < t->job_count; i++)
		to[count++] = t->jobs[i]->course;
	for (size_t i = 0; i < t->walk_count; i++)
		to[count++] = t->walks[i]->course;
	for (size_t i = 0; i < t->first_count && count < TRACKER_COURSES; i++) {
		const struct hypothesis *h = &t->firsts[i];

		if (h->rule.rule == EPOCH_LISTED && !is_fetched_unseen(t))
			continue;
		to[count++] = (struct course){
			.list = h->list, .sequence = h->head, .positions = &h->positions,
			.opened = t->nothing, .epoch = h->rule.number, .provisional = true,
		};
	}
	*ret = to;
	return count;
}

enum tracker_state tracker_state(const struct tracker *t)
{
	if (t->job_count == 0 && t->first_count == 0 && t->spec.kind != ORDER_AUTO)
		return TRACKER_NONE;
	if (t->job_count > 0)
		return follow_confirmed(t->jobs[0]) ? TRACKER_CONFIRMED : TRACKER_BELIEVED;
	/* What was told is believed until opens speak against it. */
	return t->spec.kind != ORDER_AUTO && t->opens == t->told_at ? TRACKER_BELIEVED
								     : TRACKER_SEARCHING;
}

const struct course *tracker_main(const struct tracker *t)
{
	return t->job_count ? &t->jobs[0]->course : NULL;
}

/* Its batch is over: what comes next was opened by another worker, or there is nothing more. */
static bool is_over(const struct follow *f, uint32_t tail)
{
	uint32_t next = tail + f->course.sequence->step;

	return next >= f->course.sequence->length || f->opened[next / 64] >> (next % 64) & 1;
}

/* Each stream of opens that went on lately is one worker in its batch. */
static int describe_streams(const struct follow *f, struct buf *ret)
{
	const struct score *s = &f->score;
	bool any = false;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < s->lanes; i++) {
		if (s->opens - s->moved[i] >= FOLLOW_WINDOW || s->runs[i] == 0 ||
		    is_over(f, s->tails[i]))
			continue;
		r = buf_printf(ret, any ? ", %u" : "; readers at %u", s->tails[i]);
		any = true;
	}
	return r < 0 ? r : buf_printf(ret, "\n");
}

/* Who reads by name while nothing is told is followed, without being a job. */
static bool is_walk_all(const struct tracker *t)
{
	return t->job_count == 0 && t->walk_count > 0 && t->spec.kind == ORDER_AUTO;
}

bool tracker_unfit(const struct tracker *t)
{
	return !is_walk_all(t) && t->first_count > 0 && t->job_count == 0 &&
		t->opens - t->told_at >= UNFIT;
}

/* What may come first, as far as there is anything to say of it. */
static int describe_firsts(const struct tracker *t, struct buf *ret)
{
	int r = 0;

	if (t->job_count > 0 || t->spec.kind == ORDER_NONE)
		return 0;
	if (t->spec.epoch > 0)
		r = buf_printf(ret, "next epoch: %llu\n", (unsigned long long)t->spec.epoch);
	if (r == 0 && tracker_unfit(t))
		r = buf_printf(ret, "the last opens fit none of the %zu way%s to read it%s\n",
			       t->first_count, t->first_count == 1 ? "" : "s",
			       t->spec.kind == ORDER_TORCH ? DRAWN_BEFORE : "");
	else if (r == 0 && t->first_count > 0 && !is_walk_all(t))
		r = buf_printf(ret, "waits for the first opens; %zu way%s prepared to read it\n",
			       t->first_count, t->first_count == 1 ? " is" : "s are");
	for (size_t i = 0; r == 0 && i < t->first_count; i++) {
		if (t->firsts[i].score.bits < 1)
			continue;
		r = buf_printf(ret, "perhaps: ");
		if (r == 0)
			r = order_describe(&t->spec, &t->firsts[i].rule, ret);
		if (r == 0)
			r = buf_printf(ret, "; %.0f bits of evidence\n",
				       (double)t->firsts[i].score.bits);
	}
	return r;
}

int tracker_describe(const struct tracker *t, struct buf *ret)
{
	static const char *const names[] = { "none", "searching", "believed", "confirmed" };
	int r = buf_printf(ret, "%s\n", names[tracker_state(t)]);

	for (size_t i = 0; r == 0 && i < t->job_count + t->walk_count; i++) {
		const struct follow *f = i < t->job_count ? t->jobs[i] : t->walks[i - t->job_count];
		const struct course *c = &f->course;

		r = order_describe(&t->spec, &f->rule, ret);
		if (r == 0)
			r = buf_printf(ret, "; epoch %llu, position %u of %u, %u of the last %u "
				       "opens went on where one had been",
				       (unsigned long long)c->epoch, c->front, c->sequence->length,
				       (unsigned)__builtin_popcountll(f->agreed), f->judged);
		if (r == 0)
			r = describe_streams(f, ret);
	}
	return r < 0 ? r : describe_firsts(t, ret);
}

int tracker_describe_main(const struct tracker *t, struct buf *ret)
{
	if (is_walk_all(t))
		return order_describe(&t->spec, &t->walks[t->walk_count - 1]->rule, ret);
	return t->job_count ? order_describe(&t->spec, &t->jobs[0]->rule, ret) : 0;
}
