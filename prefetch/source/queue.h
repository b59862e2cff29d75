/* Fetches that wait, the most urgent (lowest due) first, first come first among equals.
 *
 * Thread-safety: none; the owner's lock.
 */
#pragma once
#include "prefetch/source/source.h"

struct queue {
	struct fetch **heap;           /* stamp_ of each: when it came */
	size_t count, cap;
	uint64_t stamps;
};

int queue_push(struct queue *q, struct fetch *f) DL_MUST_CHECK;         /* -ENOMEM */
/* Put back what was popped: it keeps its place among its equals.  Needs no memory as long
 * as nothing was pushed beyond what the heap once held. */
int queue_return(struct queue *q, struct fetch *f) DL_MUST_CHECK;
struct fetch *queue_pop(struct queue *q);              /* NULL: empty */
/* The fetches of id that hold this byte are hurried, and become due now (0) if not in_turn. */
void queue_hurry(struct queue *q, sample_id id, uint64_t offset);
void queue_fini(struct queue *q);      /* must be empty */
