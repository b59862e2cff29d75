/* Epochs that are worked out from two: which seed a script gave to torch's default generator, and
 * with it all the epochs to come.  One search, shared by several threads.  No I/O.
 * Thread-safety: forecast_run() on any number of threads at once, the others on one.
 */
#pragma once
#include "prefetch/order/chain.h"
#include "prefetch/order/lessons.h"

struct forecast {
	struct lesson first, second;   /* epochs in a row of the running run */
	uint32_t seeds[CHAIN_POPULAR_MAX + 1];
	size_t count;
	struct chain known;            /* what was found before; seed 0, word 0: nothing */
	enum seeds_kernel kernel;

	_Atomic uint32_t next;         /* the seed that nobody has tried yet */
	_Atomic bool stop;
	_Atomic bool claimed;          /* by who found it: may write the next */
	struct chain found;
};

/* Is there something to work out?  The last two epochs had seeds that were drawn, not chosen, and
 * what follows is not known.  f->known stays from the last time. */
bool forecast_prepare(struct forecast *f, const struct lessons *l);
/* Try seeds until there are none, or stop.  Any number of threads at once. */
void forecast_run(struct forecast *f);
/* Add what was found: two runs, since after the first epochs the stride may become another. */
void forecast_teach(const struct forecast *f, struct lessons *l);
