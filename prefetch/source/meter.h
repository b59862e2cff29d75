/* What whole samples cost to fetch from a source, measured by its fetches (see keep.h).
 * Thread-safety: every call on any thread.
 */
#pragma once
#include "base/lock.h"
#include "prefetch/keep/keep.h"

struct meter {
	struct dl_lock lock;           /* guards the next two */
	struct keep_meter at;
	uint64_t next;                 /* fetches measured when due() runs next */
	/* Enough was measured to look again: with no lock held, and each time after twice as
	 * many.  On a thread of the source; must not block. */
	void (*due)(void *context);
	void *context;
};

void meter_init(struct meter *m, void (*due)(void *context), void *context);
void meter_fini(struct meter *m);
void meter_began(struct meter *m);
void meter_ended(struct meter *m, uint64_t bytes);     /* 0: it failed */
struct keep_cost meter_cost(struct meter *m);
