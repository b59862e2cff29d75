/* How closely opens are looked at that nothing explains.  Such an order may never be found, and
 * then each open must cost next to nothing: only runs of opens are looked at, each long enough to
 * see an order in its midst.  But all of them for a while, whenever something new begins: an epoch,
 * a process, reading after a pause; or when there is something else to look for. */
#include "base/clock.h"
#include "prefetch/order/tracker_internal.h"

#define ALERT 1024u                     /* opens since something began */
#define ROUND 1024u                     /* opens after them, ... */
#define RUN 128u                        /* ... of which so many are looked at */
#define QUIET_NS CLOCK_S
#define DEEP_FIRST 64u
#define DEEP_PART 16u                   /* of what it takes, in opens, for the sake of a process */

uint64_t deep_cost(const struct tracker *t)
{
	uint64_t total = 0;

	for (size_t i = 0; i < t->first_count; i++)
		total += t->firsts[i].head->n;
	return total;
}

void attend(struct tracker *t)
{
	t->attended = t->deep_from = t->opens;
	if (t->deep_at > t->opens + DEEP_FIRST)
		t->deep_at = t->opens + DEEP_FIRST;
}

/* There may be one for each open: then all are looked at, but whole sequences are not searched for
 * each. */
static void attend_process(struct tracker *t)
{
	if (t->opens >= t->deep_from + deep_cost(t) / DEEP_PART)
		attend(t);
	t->attended = t->opens;
}

/* A process that others have made forgotten is new again, which costs only time. */
static void notice_new(struct tracker *t, const struct seen *s)
{
	uint32_t *pid = &t->known_pids[s->pid % DL_COUNT(t->known_pids)];
	bool quiet = s->time > t->opened_at + QUIET_NS;

	t->opened_at = s->time;
	if (quiet)
		attend(t);
	else if (*pid != s->pid)
		attend_process(t);
	*pid = s->pid;
}

static bool is_promising(const struct tracker *t)
{
	for (size_t i = 0; i < t->first_count; i++)
		if (t->firsts[i].score.bits >= PROMISING)
			return true;
	for (size_t i = 0; i < t->list_count; i++)
		if (t->walking[i].bits >= PROMISING)
			return true;
	return false;
}

bool is_looked_at(struct tracker *t, const struct seen *s)
{
	uint64_t since;

	notice_new(t, s);
	if (t->job_count > 0)
		return true;
	since = t->opens - t->attended;
	if (since >= ALERT && since % ROUND == RUN && is_promising(t))
		attend(t);
	return t->opens - t->attended < ALERT || since % ROUND < RUN;
}
