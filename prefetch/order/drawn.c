/* The epoch view's orders in the tracker.  What is read is not found out but known: a reader asks
 * what an entry is, and then opens it.  So the same files in two epochs, of which one has begun
 * while the last readers of the other are still at it, are told apart. */
#include "prefetch/order/tracker_internal.h"

#define LEFT 16u                       /* another epoch's entries that were asked for in a row, */
#define LEFT_OPENS 8u                  /* and opens in a row that are of no epoch: this is left */
#define AWAITED_MAX 64u                /* entries may be only looked at (ls -l) */

/* Drawn as a whole, at once; the last two are remembered, since each is asked for several times. */
int drawn_sequence(struct tracker *t, struct list *list, const struct epoch *e,
		   struct sequence **ret)
{
	struct drawn *d = &t->drawn[e->number % DL_COUNT(t->drawn)];
	const uint32_t *borders;
	size_t count;
	int r;

	if (d->sequence && d->list == list && d->number == e->number) {
		*ret = sequence_ref(d->sequence);
		return 0;
	}
	borders = list_borders(list, &count);
	r = order_drawn(&t->spec, e, list_count(list), borders, count, ret);
	if (r < 0)
		return r;
	sequence_unref(d->sequence);
	*d = (struct drawn){ .list = list, .number = e->number, .sequence = sequence_ref(*ret) };
	return 0;
}

void drawn_forget(struct tracker *t)
{
	for (size_t i = 0; i < DL_COUNT(t->drawn); i++) {
		sequence_unref(t->drawn[i].sequence);
		t->drawn[i] = (struct drawn){ .list = NULL };
	}
	t->outside = (struct outside){ .asked = 0 };
}

/* The epoch before is followed on until the last of its readers has ended; what was foreseen of the
 * next one is this one's. */
static void retire(struct tracker *t, bool follow_on)
{
	struct follow *main = t->jobs[0];

	while (t->job_count > follow_on)
		follow_free(t->jobs[--t->job_count]);
	if (follow_on) {
		sequence_unref(main->course.next);
		main->course.next = NULL;
	}
}

static bool begin(struct tracker *t, uint64_t epoch, bool successor)
{
	struct epoch rule = { .rule = EPOCH_DRAWN, .number = epoch };
	struct follow *main = t->jobs[0], *f;
	struct sequence *q;

	if (drawn_sequence(t, main->course.list, &rule, &q) < 0 ||
	    follow_new(main->course.list, q, &rule, &f) < 0)
		return false;
	begin_turn(t, t->opens);
	retire(t, successor && !follow_finished(main));
	start_main(t, f);
	return true;
}

void drawn_go_on(struct tracker *t, const struct standing_job *job)
{
	struct follow *f;

	if (job->epoch.rule != EPOCH_DRAWN || t->job_count == 0 ||
	    !begin(t, job->epoch.number, false))
		return;
	f = t->jobs[0];
	if (job->count != list_count(f->course.list))
		return;
	follow_jump(f, DL_MIN(job->front, f->course.sequence->length));
	follow_asked_before(f, job->reach);
}

/* What was opened of an epoch before it was clear that it is read: up to the last entry that was
 * asked for. */
static void take_recent(struct tracker *t, struct follow *f, uint32_t last)
{
	uint64_t i = t->opens > RECENT ? t->opens - RECENT : 0;

	for (; i + 1 < t->opens; i++) {
		struct seen *s = &t->recent[i % RECENT];
		uint32_t index, p;

		if (s->taken || !list_index(f->course.list, s->id, &index))
			continue;
		p = f->course.sequence->pieces->where[index];
		if (p > last)
			continue;
		follow_ask(f, p);
		follow_take(f, p, s->pid, s->time);
		s->taken = s->sure = true;
	}
}

static bool begin_at(struct tracker *t, uint64_t epoch, bool successor, uint32_t position)
{
	bool begun = begin(t, epoch, successor);

	t->outside = (struct outside){ .asked = 0 };
	if (begun && successor)
		follow_ask(t->jobs[0], position);
	else if (begun)                /* the last that was asked for may have been opened, too */
		follow_asked_before(t->jobs[0], position);
	if (begun && !successor)
		take_recent(t, t->jobs[0], position);
	return begun;
}

static void note_outside(struct outside *o, uint64_t epoch, uint32_t position)
{
	o->position = o->epoch == epoch ? DL_MAX(o->position, position) : position;
	o->epoch = epoch;
	o->asked++;
	o->awaited = DL_MIN(o->awaited + 1, AWAITED_MAX);
}

bool tracker_drawn(struct tracker *t, uint64_t epoch, uint32_t position)
{
	const struct follow *main = t->job_count ? t->jobs[0] : NULL;

	if (t->spec.kind != ORDER_DRAWN || !main)
		return false;
	for (size_t i = 0; i < t->job_count; i++)
		if (t->jobs[i]->rule.number == epoch) {
			t->outside = (struct outside){ .awaited = t->outside.awaited };
			follow_ask(t->jobs[i], position);
			return false;
		}
	if (epoch == main->rule.number + 1 && follow_nearly_done(main))
		return begin_at(t, epoch, true, position);
	note_outside(&t->outside, epoch, position);
	return false;
}

void tracker_drawn_before(struct tracker *t, uint32_t position, sample_id id, bool opened,
			  uint64_t now)
{
	struct follow *main = t->job_count ? t->jobs[0] : NULL;
	uint32_t index, p;

	if (t->spec.kind != ORDER_DRAWN || !main || position >= main->course.sequence->length)
		return;
	follow_ask(main, position);
	/* The dataset may have changed, and the entry with it. */
	if (opened && list_index(main->course.list, id, &index) &&
	    follow_awaits(main, index, &p) && p == position)
		follow_take(main, p, 0, now);
}

/* The last readers of the epoch before have ended, or are too far behind. */
static void let_go(struct tracker *t)
{
	struct follow *f = t->job_count > 1 ? t->jobs[1] : NULL;

	if (!f || (!follow_finished(f) && !follow_is_left(f, t->jobs[0]->course.reach)))
		return;
	follow_free(f);
	t->job_count--;
}

/* The oldest first: the next epoch may have been asked for as a whole before this one is over. */
static bool take_open(struct tracker *t, const struct seen *s)
{
	for (size_t i = t->job_count; i-- > 0;) {
		struct follow *f = t->jobs[i];
		uint32_t index, p;

		if (!list_index(f->course.list, s->id, &index) || !follow_awaits(f, index, &p))
			continue;
		follow_take(f, p, s->pid, s->time);
		let_go(t);
		return true;
	}
	return false;
}

/* Entries that are asked for may be only looked at (ls -l); it takes opens to leave an epoch. */
bool drawn_open(struct tracker *t, const struct seen *s)
{
	struct outside *o = &t->outside;

	if (take_open(t, s)) {
		o->opens = 0;
		return true;
	}
	if (o->asked < LEFT || ++o->opens < LEFT_OPENS)
		return false;
	return begin_at(t, o->epoch, false, o->position) && take_open(t, s);
}

bool drawn_is_outside(struct tracker *t)
{
	if (t->outside.awaited == 0)
		return false;
	t->outside.awaited--;
	return true;
}
