/* Fetches that wait, the most urgent (lowest due) first, first come first among equals.
 *
 * Thread-safety: none; the owner's lock.
 */
#pragma once
#include "base/clock.h"
#include "prefetch/source/source.h"

/* So long a reader waits for a fetch to come in its turn.  One who is a few batches ahead of others
 * never does; but in the midst of all that the source was asked for it could take minutes. */
#define QUEUE_PATIENCE CLOCK_S

struct queue {
	struct fetch **heap;           /* stamp_ of each: when it came */
	size_t count, cap;
	uint64_t stamps;
	uint64_t overdue_at;           /* when patience ends, or earlier; 0: nobody waits */
};

int queue_push(struct queue *q, struct fetch *f) DL_MUST_CHECK;         /* -ENOMEM */
/* Put back what was popped: it keeps its place among its equals.  Needs no memory as long
 * as nothing was pushed beyond what the heap once held. */
int queue_return(struct queue *q, struct fetch *f) DL_MUST_CHECK;
/* The first, which stays; NULL: empty.  Whose reader has waited in turn for too long becomes due
 * now (0) before. */
struct fetch *queue_first(struct queue *q, uint64_t now);
/* The first; NULL: empty.  Then whose reader has waited in turn for too long becomes due now (0),
 * so that what was seen at the top is what comes. */
struct fetch *queue_pop(struct queue *q, uint64_t now);
/* The fetches of id that hold this byte are hurried, and become due now (0), if in_turn only after
 * QUEUE_PATIENCE. */
void queue_hurry(struct queue *q, sample_id id, uint64_t offset, uint64_t now);
void queue_fini(struct queue *q);      /* must be empty */
