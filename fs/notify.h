/* What the kernel must forget: names and attributes of folders whose listing was replaced by a
 * refresh, and pages that a program changed.  The only thread that calls notify_inval_*; fed by
 * a queue, so that no request handler and no holder of a lock ever waits for the kernel's inode
 * locks.
 *
 * Thread-safety: every call on any thread, but start, stop and free.
 */
#pragma once
#include "fs/serve.h"

struct notify;
int notify_start(struct serve *s, struct notify **ret) DL_MUST_CHECK;
void notify_stop(struct notify *n);    /* what is queued, and still comes, is not done */
void notify_free(struct notify *n);    /* stopped; NULL is fine, as above */
/* For the calls of manifest.h that read folders again; as long as n lives. */
const struct manifest_change *notify_change(struct notify *n);
void notify_forget_pages(struct notify *n, node_id file);
/* Wait until all that was queued by now is done, or the deadline; false: the deadline. */
bool notify_drain(struct notify *n, uint64_t deadline);
