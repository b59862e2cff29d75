/* Processor time that nobody else wants, for work that must slow nobody down.
 *
 * SCHED_IDLE holds inside a scheduling group only, and a session (autogroup), a service or a
 * container is one: it has its share of the processors whatever its threads' priorities.  So a
 * thread looks, while it rests, whether processors stay idle; if not, it rests fifty times as
 * long as it works.
 *
 * One a thread; zero at first.
 */
#pragma once
#include <stdatomic.h>

#include "base/dl.h"

struct spare {
	uint64_t began;                /* ns: the work since the last rest */
	uint64_t rest_at;
};

/* Between two pieces of work: returns at once, or rests first; soon when *stop becomes true. */
void spare_rest(struct spare *s, const _Atomic bool *stop);
