/* How hard the writer tries to make samples smaller: as hard as costs nobody anything.
 *
 * While half a processor or more is idle, a little harder each time it looks; while none is, or
 * much waits to be written, less, down to not at all.
 *
 * Thread-safety: none.
 */
#pragma once
#include "base/dl.h"

struct effort {                        /* zeroes at first */
	unsigned step;
	uint64_t looked_at;            /* clock_now() */
	uint64_t idle;                 /* of all processors, ns, by then */
};

/* A level for packer_pack(), or 0: not at all.  waiting: how full the queue is, 0 to 1. */
int effort_level(struct effort *e, double waiting);
/* What it does now and then, with what it sees; for tests. */
void effort_look(struct effort *e, uint64_t now, uint64_t idle, double waiting);
