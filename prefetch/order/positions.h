/* Where in a sequence an index is read: the inverse of a sequence, which may be the head of a
 * longer one, and in which an index may come more than once.  Owned by one thread.
 */
#pragma once
#include "prefetch/order/order.h"

#define POSITION_NONE UINT32_MAX

struct positions {
	uint32_t *first;               /* by index, when the sequence covers its list; or NULL */
	uint32_t *following;           /* by position: the next one with the same index; or NULL */
	uint64_t *sorted;              /* index << 32 | position, of a short head; or NULL */
	uint32_t count;
};

int positions_init(struct positions *p, const struct sequence *q) DL_MUST_CHECK;
void positions_fini(struct positions *p);

/* The lowest position of the index, and its next one after `position`; POSITION_NONE: no more. */
uint32_t positions_first(const struct positions *p, uint32_t index);
uint32_t positions_following(const struct positions *p, uint32_t index, uint32_t position);
