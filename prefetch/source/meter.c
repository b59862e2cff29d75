#include "prefetch/source/meter.h"

#include "base/clock.h"

#define FIRST 256

void meter_init(struct meter *m, void (*due)(void *context), void *context)
{
	*m = (struct meter){ .next = FIRST, .due = due, .context = context };
	dl_lock_init(&m->lock);
}

void meter_fini(struct meter *m)
{
	dl_lock_fini(&m->lock);
}

void meter_began(struct meter *m)
{
	DL_HOLD(&m->lock);
	keep_meter_began(&m->at, clock_now());
}

static bool take_end(struct meter *m, uint64_t bytes)
{
	DL_HOLD(&m->lock);
	keep_meter_ended(&m->at, clock_now(), bytes);
	if (m->at.measured < m->next)
		return false;
	m->next *= 2;
	return true;
}

void meter_ended(struct meter *m, uint64_t bytes)
{
	if (take_end(m, bytes))
		m->due(m->context);
}

struct keep_cost meter_cost(struct meter *m)
{
	DL_HOLD(&m->lock);
	return keep_meter_cost(&m->at);
}
