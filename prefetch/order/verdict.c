/* Was an open where the order has it?  At once that is a guess: the first opens of an epoch are
 * read before it is known, and of several workers one may be far behind.  So it counts as
 * mispredicted only if nothing that is followed claims it while so many more come; or at once,
 * where what was told explains nothing.  Of fewer files an epoch is over by then, and workers with
 * small batches have a good part of it on the way at any time: that says nothing of an order. */
#include "prefetch/order/tracker_internal.h"

#define LATER 64u                       /* opens: over so many a job's agreement is judged */

static bool is_told(const struct tracker *t)
{
	return t->spec.kind != ORDER_NONE && t->spec.kind != ORDER_AUTO &&
		t->spec.kind != ORDER_DRAWN;
}

static bool is_listed(const struct tracker *t, sample_id id, uint32_t least)
{
	uint32_t index;

	for (size_t i = 0; i < t->list_count; i++)
		if (list_count(t->lists[i]) >= least && list_index(t->lists[i], id, &index))
			return true;
	return false;
}

enum tracker_verdict verdict_without_jobs(const struct tracker *t, sample_id id)
{
	return is_told(t) && is_listed(t, id, 1) ? TRACKER_MISPREDICTED : TRACKER_STRANGE;
}

/* It lies in a job's window, and that has agreed since. */
static bool has_turned_out_well(const struct tracker *t, const struct seen *s)
{
	return s->taken && t->job_count > 0 && follow_alive(t->jobs[0]);
}

void verdicts_settle(struct tracker *t)
{
	uint64_t later = tracker_unfit(t) && is_told(t) ? 0 : LATER;

	for (; t->settled + later < t->opens; t->settled++) {
		const struct seen *s = &t->recent[t->settled % RECENT];

		if (s->verdict == TRACKER_MISPREDICTED && !has_turned_out_well(t, s) &&
		    is_listed(t, s->id, LATER))
			t->mispredicted++;
	}
}

uint64_t tracker_mispredicted(const struct tracker *t)
{
	return t->mispredicted;
}
