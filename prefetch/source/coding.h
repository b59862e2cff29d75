/* One image coded anew, and the table of what is served told what came of it.
 *
 * Thread-safety: every call on any thread, with a room of its own.
 */
#pragma once
#include "base/buf.h"
#include "prefetch/source/served.h"

struct coding {                        /* all borrowed */
	struct served *served;
	const struct recode_want *want;
	struct recode_room *room;      /* NULL: there was no memory for one */
	bool may_decode;               /* there is memory for it: to see how long that takes */
};

/* What is to be delivered: 0 and the bytes, which may be the source's own, or -ESTALE (it is not
 * what had the size that was told) or -ENOMEM. */
int code_image(const struct coding *c, sample_id id, struct bytes source, struct buf *ret)
	DL_MUST_CHECK;
