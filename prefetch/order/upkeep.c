/* What the tracker does when no open waits: it makes sequences, looks farther, lets go. */
#include <string.h>

#include "base/clock.h"
#include "prefetch/order/tracker_internal.h"

#define JOB_AGE (30 * CLOCK_S)
#define WALK_AGE (600 * CLOCK_S)

/* A search makes whole sequences: about a hundredth of what reading from memory costs, more while
 * something is new. */
static uint64_t deep_pause(const struct tracker *t)
{
	uint64_t pause = DL_MIN(t->opens - t->deep_from, deep_cost(t) / 10);

	return DL_MAX(pause, (uint64_t)64);
}

bool tracker_work(struct tracker *t)
{
	struct follow *main = t->job_count ? t->jobs[0] : NULL;

	if (main && !main->course.next && t->next_count > 0 && !t->nexts[0].rule.perhaps) {
		if (epoch_sequence(t, main->course.list, &t->nexts[0].rule, true,
				   &main->course.next) < 0)
			main->course.next = sequence_ref(t->nexts[0].head);
		return false;
	}
	if (main || t->first_count == 0)
		return false;
	if (t->deep_next == t->first_count && t->opens >= t->deep_at) {
		t->deep_next = 0;
		t->deep_at = t->opens + deep_pause(t);
	}
	if (t->deep_next == t->first_count)
		return false;
	if (search_deep(t)) {
		hypotheses_clear(t->firsts, &t->first_count);
		hypotheses_next(t);
	}
	return t->deep_next < t->first_count;
}

static void age(struct follow **at, size_t *count, size_t keep, uint64_t now, uint64_t limit,
		bool (*alive)(uint32_t pid))
{
	for (size_t i = *count; i-- > keep;) {
		const struct course *c = &at[i]->course;

		if (at[i]->beside ? now < c->last_open + WALK_AGE
				  : now < c->last_open + limit && (c->pid == 0 || alive(c->pid)))
			continue;
		follow_free(at[i]);
		memmove(&at[i], &at[i + 1], (--*count - i) * sizeof(at[0]));
	}
}

static bool always(uint32_t pid)
{
	(void)pid;
	return true;
}

void tracker_age(struct tracker *t, uint64_t now, bool (*alive)(uint32_t pid))
{
	/* While all wait, nobody is gone. */
	if (t->opens > 0)
		now = DL_MIN(now, t->recent[(t->opens - 1) % RECENT].time);
	age(t->jobs, &t->job_count, 1, now, JOB_AGE, alive);
	/* A validation loader's workers end with each epoch, and come again. */
	age(t->walks, &t->walk_count, 0, now, WALK_AGE, always);
}
