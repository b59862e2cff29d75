/* Requests that came too early: a LOOKUP in /.dlfs/epoch before the dataset was read to its end, so
 * that how many entries there are is not known yet.  They are parked, as no thread may wait.
 *
 * Thread-safety: every call on any thread, except early_stop().
 */
#pragma once
#include "fs/fuse.h"

struct early;
int early_start(struct early **ret) DL_MUST_CHECK;
/* All requests are over but those that are parked: these are answered with ESHUTDOWN. */
void early_stop(struct early *e);      /* NULL is fine */

/* Answer the request later, by op_lookup().  false: now is the time (or there is no memory). */
bool early_park(struct serve *s, fuse_req_t req, fuse_ino_t parent, const char *name);
void early_answer(struct serve *s);    /* the scan is complete, or has failed: EIO */
