/* Processor time that nobody else wants, for work that must slow nobody down.
 *
 * SCHED_IDLE holds inside a scheduling group only, and a session (autogroup), a service or a
 * container is one: it has its share of the processors whatever its threads' priorities.  So a
 * thread looks, while it rests, whether processors stay idle; if not, it rests fifty times as
 * long as it works, and before it begins.
 * Where it had to wait for its processor somebody else has begun: it rests at once, fifty times as
 * long as it kept him waiting.  That is seen after a piece of work, and an epoch of files in memory
 * may last 30 ms: so pieces take half a millisecond.
 *
 * One a thread; zero at first.
 */
#pragma once
#include <stdatomic.h>

#include "base/dl.h"

struct spare {
	uint64_t began_cpu;            /* ns of the thread's time: the work since the last rest */
	uint64_t rest_at;              /* or look again; 0: processors were not idle lately */
	uint64_t seen_at, seen_cpu;    /* ns, and of its time: since when it looks who waits */
};

/* Between two pieces of work: returns at once, or rests first; soon when *stop becomes true. */
void spare_rest(struct spare *s, const _Atomic bool *stop);
