/* Processor time that nobody else wants, for work that must slow nobody down.
 *
 * SCHED_IDLE holds inside a scheduling group only, and a session (autogroup), a service or a
 * container is one: it has its share of the processors whatever its threads' priorities.  So a
 * thread looks, while it rests, whether processors stay idle; if not, it rests fifty times as
 * long as it works, and before it begins: an epoch may be no longer than a few pieces of work.
 * Where it had to wait for its processor somebody else has begun: it rests at once, fifty times as
 * long as it kept him waiting.
 *
 * One a thread; zero at first.
 */
#pragma once
#include <stdatomic.h>

#include "base/dl.h"

struct spare {
	uint64_t began_cpu;            /* ns of the thread's time: the work since the last rest */
	uint64_t rest_at;
	uint64_t piece_at, piece_cpu;  /* ns, and of the thread's time: the piece began */
};

/* Between two pieces of work: returns at once, or rests first; soon when *stop becomes true. */
void spare_rest(struct spare *s, const _Atomic bool *stop);
