/* Questions to the planner.  The fact only has a number, with which one whose asker has gone is not
 * found any more. */
#include <unistd.h>

#include "base/log.h"
#include "prefetch/engine_internal.h"

/* With the lock: the question with this number, which then is nobody's to take any more. */
static struct ask *take_out(struct engine *e, uint64_t number)
{
	dl_assert_held(&e->asking);
	for (struct ask **at = &e->asks; *at; at = &(*at)->next)
		if ((*at)->number == number) {
			struct ask *a = *at;

			*at = a->next;
			return a;
		}
	return NULL;
}

static void put_in(struct engine *e, struct ask *a)
{
	DL_HOLD(&e->asking);
	a->answered = false;
	a->number = ++e->asked;
	a->next = e->asks;
	e->asks = a;
}

/* What the planner has begun to answer comes to an end, and writes to memory that is the asker's:
 * only what it has not come to yet can be taken back. */
static int await(struct engine *e, struct ask *a, uint64_t deadline)
{
	DL_HOLD(&e->asking);
	while (!a->answered)
		if (!dl_cond_wait_until(&e->answered, &e->asking, deadline)) {
			if (take_out(e, a->number))
				return -ETIMEDOUT;
			deadline = UINT64_MAX;
		}
	return 0;
}

int ask(struct engine *e, struct ask *a)
{
	struct fact f = { .kind = FACT_ASK };
	int r;

	put_in(e, a);
	f.time = a->number;
	r = mailbox_post(e->facts, &f, 0);
	if (r < 0) {
		DL_HOLD(&e->asking);
		take_out(e, a->number);
		return r;
	}
	r = await(e, a, clock_now() + e->options.patience);
	if (r == -ETIMEDOUT)
		log_warning("the planner does not come to a question, for %.1f s now",
			    (double)e->options.patience / CLOCK_S);
	return r;
}

void ask_until_answered(struct engine *e, struct ask *a)
{
	while (ask(e, a) < 0)
		usleep(1000);
}

void answer(struct engine *e, uint64_t number)
{
	struct ask *a;

	{
		DL_HOLD(&e->asking);
		a = take_out(e, number);
	}
	if (!a)
		return;
	a->run(e, a);
	planner_order(e);
	DL_HOLD(&e->asking);
	a->answered = true;
	pthread_cond_broadcast(&e->answered);
}
