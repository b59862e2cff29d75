#include "prefetch/store/disk_effort.h"

#include "base/clock.h"

#define LOOK (200 * CLOCK_MS)          /* clock_idle() counts in 10 ms */
#define TOO_MUCH 0.5                   /* waits */
#define MUCH 0.25

static const int levels[] = { 0, 1, 2, 3, 5 };

/* Since the last look, half a processor or more was. */
static bool were_idle(const struct effort *e, uint64_t now, uint64_t idle)
{
	return idle > e->idle && idle - e->idle >= (now - e->looked_at) / 2;
}

void effort_look(struct effort *e, uint64_t now, uint64_t idle, double waiting)
{
	if (e->looked_at > 0 && (!were_idle(e, now, idle) || waiting > MUCH))
		e->step -= e->step > 0;
	else if (e->step + 1 < DL_COUNT(levels))
		e->step++;
	e->looked_at = now;
	e->idle = idle;
}

int effort_level(struct effort *e, double waiting)
{
	uint64_t now = clock_now();

	if (now - e->looked_at >= LOOK)
		effort_look(e, now, clock_idle(), waiting);
	return waiting > TOO_MUCH ? 0 : levels[e->step];
}
