/* Who is inside, without a lock: a writer can wait until all who came before it have left.
 * Thread-safety: enter and leave on any thread; wait on one at a time.
 */
#pragma once
#include <stdatomic.h>

#include "base/clock.h"

struct grace {                         /* zeroes at first */
	_Atomic unsigned turn;
	_Atomic uint32_t inside[2];    /* by the turn in which they came */
};

/* For grace_leave(). */
static inline unsigned grace_enter(struct grace *g)
{
	for (;;) {
		unsigned turn = atomic_load(&g->turn);

		atomic_fetch_add(&g->inside[turn % 2], 1);
		if (atomic_load(&g->turn) == turn)
			return turn;
		atomic_fetch_sub(&g->inside[turn % 2], 1);
	}
}

static inline void grace_leave(struct grace *g, unsigned turn)
{
	atomic_fetch_sub(&g->inside[turn % 2], 1);
}

static inline bool grace_empty(struct grace *g, unsigned turn, uint64_t deadline)
{
	while (atomic_load(&g->inside[turn % 2]) > 0) {
		if (clock_now() > deadline)
			return false;
		usleep(50);
	}
	return true;
}

/* false: the deadline came first. */
static inline bool grace_wait(struct grace *g, uint64_t deadline)
{
	unsigned turn = atomic_load(&g->turn);

	/* Whom an earlier wait gave up is of the other turn. */
	if (!grace_empty(g, turn + 1, deadline))
		return false;
	atomic_store(&g->turn, turn + 1);
	return grace_empty(g, turn, deadline);
}
