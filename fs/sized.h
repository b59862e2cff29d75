/* Attributes of files that are coded anew: their size is known once that was done.
 * Thread-safety: every call on any thread.
 */
#pragma once
#include "fs/fuse.h"

/* Put the size that is served into *a.  false: it is not known yet. */
bool sized(struct serve *s, struct attr *a);
/* Answer a LOOKUP or GETATTR, sooner or later: what is not known yet is fetched and coded first.
 * No thread waits for it. */
void sized_lookup(fuse_req_t req, struct serve *s, const struct attr *a);
void sized_getattr(fuse_req_t req, struct serve *s, const struct attr *a);
