/* `dlfs warm` and `dlfs drop`: what is kept here, filled ahead of a run, or forgotten.  One of them
 * at a time, on a thread of its own; whoever asked looks at the report until it is done.
 * Thread-safety: every call on any thread, but start and stop.
 */
#pragma once
#include "fs/serve.h"

struct warm;
int warm_start(struct serve *s, struct warm **ret) DL_MUST_CHECK;
/* Before the engine; what runs is ended. */
void warm_stop(struct warm *w);        /* NULL is fine */
void warm_free(struct warm *w);        /* NULL is fine; when no request runs any more */

/* Fill the store with the files that match (base/pattern.h; "": with all), as far as it has room;
 * without a store, memory.  -EBUSY: one runs already; -EINVAL: not a pattern. */
int warm_fill(struct warm *w, const char *pattern) DL_MUST_CHECK;
/* Forget those that match, in store and memory.  The same errors. */
int warm_drop(struct warm *w, const char *pattern) DL_MUST_CHECK;
void warm_cancel(struct warm *w);      /* what runs, if something does */
/* How far the last one is, as a JSON object (no text in it needs an escape):
 *     what      "warm", "drop", or "" before the first
 *     number    of it; the next one's is one more, those of another server are far from these
 *     state     "running", "done", "stopped", "failed"
 *     where     "store", "memory"
 *     files, bytes             there (warm; bytes in the source), or forgotten (drop; bytes in the
 *               store); of
 *     all_files, all_bytes     that there will be
 *     before    files that were there already
 *     large, never, left_out, failed  files that are too large to be kept whole; that the settings
 *               say are never to be kept; that have no room; that could not be read
 *     bound     what would have to be larger for that room: "store.size", "store.files", "memory",
 *               or "" where it is none of them
 *     memory    bytes in memory that were forgotten (drop)
 *     matched   files that match the pattern
 *     before_bytes  of `before`
 *     coming    files that were being fetched when they were forgotten, and still are (drop)
 *     filling   nobody says what comes, so that memory is being filled, and the store with it
 *     why       it failed, or ""
 *     error     of one of those that could not be read, or "": of none it is known */
int warm_report(struct warm *w, struct buf *ret) DL_MUST_CHECK;
