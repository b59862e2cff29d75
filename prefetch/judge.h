/* Was an open a hit?  The watcher reports an open, a request thread a READ that had to wait,
 * and either may come first.  So an open is judged a little later: late, if a waiting READ of
 * its sample came within JUDGE_NS, else a hit.  A waiting READ that no open claims within that
 * time was an open that nobody saw, and counts as one that was late.  Who waited for the size of a
 * file alone may be about to open it: then that open was late; without an open it is nothing.
 *
 * Settled is what is old enough, every 50 ms.  hits + late == opens whenever nothing waits for its
 * judgement.  The planner's alone.  It may lie in memory that outlives a server that was killed, as
 * its stats do: the next one judges what that one has left.
 */
#pragma once
#include "base/clock.h"
#include "base/stats.h"

#define JUDGE_NS (300 * CLOCK_MS)
#define JUDGE_RING 65536u              /* opens within JUDGE_NS; more are judged early */
#define JUDGE_BUCKET_BITS 12

struct judged {
	sample_id id;
	bool opened, late, memory;     /* memory: it was in the store when it was opened */
	bool asked;                    /* late for its size alone */
	uint64_t time;
	uint64_t before;               /* number of the one before it in its bucket */
};

struct judge {
	struct stats *stats;
	struct judged ring[JUDGE_RING];        /* from first to end, modulo */
	uint64_t first, end;           /* numbers, from 1 on; 0: none */
	uint32_t unopened;             /* of these */
	uint64_t newest[1u << JUDGE_BUCKET_BITS];        /* by hash of the sample */
};

/* j is zeroed before, or was that of a planner who is gone, in the midst of writing perhaps. */
void judge_init(struct judge *j, struct stats *stats);
void judge_open(struct judge *j, sample_id id, bool memory, uint64_t now);
/* true: the first for this open. */
bool judge_late(struct judge *j, sample_id id, uint64_t now);
/* Somebody waits, or has waited, for its size. */
void judge_asked(struct judge *j, sample_id id, uint64_t now);
/* Settle what is old enough.  Returns when to come again; UINT64_MAX: nothing waits. */
uint64_t judge_settle(struct judge *j, uint64_t now);
