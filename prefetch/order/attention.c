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

void attend(struct tracker *t)
{
	t->attended = t->opens;
	if (t->deep_at > t->opens + DEEP_FIRST)
		t->deep_at = t->opens + DEEP_FIRST;
}

/* A process that others have made forgotten is new again, which costs only time. */
static bool is_new(struct tracker *t, const struct seen *s)
{
	uint32_t *pid = &t->known_pids[s->pid % DL_COUNT(t->known_pids)];
	bool quiet = s->time > t->opened_at + QUIET_NS;

	t->opened_at = s->time;
	if (*pid == s->pid)
		return quiet;
	*pid = s->pid;
	return true;
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

	if (is_new(t, s))
		attend(t);
	if (t->job_count > 0)
		return true;
	since = t->opens - t->attended;
	if (since >= ALERT && since % ROUND == RUN && is_promising(t))
		attend(t);
	return t->opens - t->attended < ALERT || since % ROUND < RUN;
}
