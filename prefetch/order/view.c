/* What others see of the tracker. */
#include "prefetch/order/tracker_internal.h"

#define UNFIT 64                        /* opens without a job, and something is wrong */
#define CHANGED "; the dataset has changed since it was told, and who had listed it before reads " \
		"another one.  If that is not it"
#define DRAWN_BEFORE ": is the seed right, are the files those that the program lists, and is " \
		     "nothing drawn after the seed, as for a model? Seed just before the loader " \
		     "is iterated, or give it a generator"

/* Before any open agrees with it: what is told; what the last run had, unless this one is seen
 * to be unlike it.  That an epoch of this run comes again is a bet: what it lets go is missed. */
static bool is_fetched_unseen(const struct tracker *t)
{
	return !t->listed_over || (t->recalled && t->unlike < RECALL_OPENS);
}

/* Of what is read as it is listed: more than a look at a few files. */
static bool is_read(const struct follow *f)
{
	uint32_t few = DL_MIN(f->course.sequence->length / 2, (uint32_t)FOLLOW_WINDOW);

	return f->course.epoch > 0 || f->opened_count >= few;
}

static bool fitted_of_late(const struct tracker *t)
{
	unsigned fitted = 0;

	for (uint64_t i = t->opens - DL_MIN(t->opens, (uint64_t)FOLLOW_WINDOW); i < t->opens; i++)
		fitted += t->recent[i % RECENT].verdict == TRACKER_FITS;
	return fitted >= FOLLOW_WINDOW / 16 * 15;
}

/* Nothing was told, or found, and nearly all that was opened of late was of one that goes by the
 * listing: that is what is read. */
static const struct follow *main_walk(const struct tracker *t)
{
	const struct follow *last = NULL;

	if (t->spec.kind != ORDER_AUTO || t->job_count > 0 || t->walk_count == 0 ||
	    !fitted_of_late(t))
		return NULL;
	for (size_t i = 0; i < t->walk_count; i++)
		if (!last || t->walks[i]->course.last_open > last->course.last_open)
			last = t->walks[i];
	return last && is_read(last) ? last : NULL;
}

static const struct follow *main_of(const struct tracker *t)
{
	return t->job_count > 0 ? t->jobs[0] : main_walk(t);
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
	const struct follow *main = main_of(t);

	if (!main && t->first_count == 0 && t->spec.kind != ORDER_AUTO)
		return TRACKER_NONE;
	if (main)
		return follow_confirmed(main) ? TRACKER_CONFIRMED : TRACKER_BELIEVED;
	/* What was told is believed until opens speak against it. */
	return t->spec.kind != ORDER_AUTO && t->opens == t->told_at ? TRACKER_BELIEVED
								     : TRACKER_SEARCHING;
}

/* Of word i. */
static uint64_t lost_word(const struct course *c, uint32_t i)
{
	return c->lost ? c->lost[i] & ~c->opened[i] : 0;
}

uint32_t tracker_length(const struct course *c)
{
	uint32_t count = c->sequence->length;

	for (uint32_t i = 0; c->lost && i <= c->sequence->length / 64; i++)
		count -= (unsigned)__builtin_popcountll(lost_word(c, i));
	return count;
}

/* One file that nobody came for may leave the front behind. */
uint32_t tracker_position(const struct course *c)
{
	uint32_t length = c->sequence->length, left = length - c->front;
	uint64_t mask = UINT64_MAX << (c->front % 64);

	for (uint32_t i = c->front / 64; i <= length / 64; i++, mask = UINT64_MAX)
		left -= (unsigned)__builtin_popcountll((c->opened[i] | lost_word(c, i)) & mask);
	return tracker_length(c) - left;
}

const struct course *tracker_main(const struct tracker *t)
{
	const struct follow *main = main_of(t);

	return main ? &main->course : NULL;
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

bool tracker_unfit(const struct tracker *t)
{
	return !main_walk(t) && t->first_count > 0 && t->job_count == 0 &&
		t->opens - t->told_at >= UNFIT;
}

/* What may come first, as far as there is anything to say of it. */
static int describe_unfit(const struct tracker *t, struct buf *ret)
{
	int r;

	if (t->spec.kind == ORDER_AUTO)
		return buf_printf(ret, "the last opens come in no order that is known\n");
	r = t->first_count == 1 ? buf_printf(ret, "the last opens do not fit it") :
		buf_printf(ret, "the last opens fit none of the %zu ways to read it",
			   t->first_count);

	if (r == 0 && t->changed)
		r = buf_printf(ret, CHANGED);
	if (r == 0 && t->spec.kind == ORDER_TORCH)
		r = buf_printf(ret, DRAWN_BEFORE);
	return r < 0 ? r : buf_printf(ret, "\n");
}

static int describe_firsts(const struct tracker *t, struct buf *ret)
{
	int r = 0;

	if (t->job_count > 0 || t->spec.kind == ORDER_NONE)
		return 0;
	if (t->spec.epoch > 0)
		r = buf_printf(ret, "next epoch: %llu\n", (unsigned long long)t->spec.epoch);
	if (r == 0 && tracker_unfit(t))
		r = describe_unfit(t, ret);
	else if (r == 0 && t->first_count > 0 && !main_walk(t))
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

static int describe_one(const struct tracker *t, const struct follow *f, struct buf *ret)
{
	const struct follow *main = main_of(t);
	const struct course *c = &f->course;
	int r = main && f != main && c->sequential ? buf_printf(ret, "beside it: ") : 0;

	if (r == 0)
		r = order_describe(&t->spec, &f->rule, ret);
	if (r == 0)
		r = buf_printf(ret, "; epoch %llu%s, position %u of %u",
			       (unsigned long long)c->epoch,
			       c->epoch + 1 == t->spec.epochs ? " (the last)" : "",
			       tracker_position(c), tracker_length(c));
	if (r == 0 && f->judged > 0)
		r = buf_printf(ret, ", %u of the last %u opens went on where one had been",
			       (unsigned)__builtin_popcountll(f->agreed), f->judged);
	return r < 0 ? r : describe_streams(f, ret);
}

/* What others read beside it comes after the main one; whoever has come to an end reads nothing. */
int tracker_describe(const struct tracker *t, struct buf *ret)
{
	static const char *const names[] = { "none", "searching", "believed", "confirmed" };
	const struct follow *main = main_walk(t);
	int r = buf_printf(ret, "%s\n", names[tracker_state(t)]);

	if (r == 0 && main)
		r = describe_one(t, main, ret);
	for (size_t i = 0; r == 0 && i < t->job_count; i++)
		r = describe_one(t, t->jobs[i], ret);
	for (size_t i = 0; r == 0 && i < t->walk_count; i++)
		if (t->walks[i] != main && t->walks[i]->opened_count > 0 && is_read(t->walks[i]))
			r = describe_one(t, t->walks[i], ret);
	return r < 0 ? r : describe_firsts(t, ret);
}

int tracker_describe_main(const struct tracker *t, struct buf *ret)
{
	const struct follow *main = main_of(t);

	return main ? order_describe(&t->spec, &main->rule, ret) : 0;
}
