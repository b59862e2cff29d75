/* The samples of a list, in its order: the making of a list, see list.h.
 * Thread-safety: every call on any thread.
 */
#pragma once
#include "prefetch/manifest/list.h"

/* Appends their ids (uint32_t each); -ENOENT: none.  Errors as of list_new(). */
int number_samples(struct manifest *m, enum list_kind kind, node_id root, struct buf *ret)
	DL_MUST_CHECK;
