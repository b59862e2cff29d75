/* The one thread that opens the store and writes: a queue, the newest segment, and what is done
 * about faults.
 * Thread-safety: writer_put() on any thread.
 */
#pragma once
#include "base/clock.h"
#include "prefetch/store/disk_internal.h"

#define PAUSE_FIRST (2 * CLOCK_S)
#define PAUSE_MOST (300 * CLOCK_S)

int writer_start(struct disk *d) DL_MUST_CHECK;
/* Writes what is queued, for 2 s at most.  false: the disk does not answer, so the thread is still
 * there. */
bool writer_stop(struct disk *d) DL_MUST_CHECK;

/* How the first try to open it went; -EINPROGRESS: the deadline (UINT64_MAX: none) came first. */
int writer_await_open(struct disk *d, uint64_t deadline) DL_MUST_CHECK;

bool writer_suspended(const struct disk *d);
void writer_retry(struct disk *d);     /* as if the pause were over; for tests */

/* --- disk_queue.c ----------------------------------------------------------------------------- */

/* Takes q.  false: it was dropped, the queue is full. */
bool writer_put(struct disk *d, struct queued *q);
void writer_drain(struct disk *d);     /* until all that was queued is written; for tests */

/* On the writer thread: the next one.  NULL: there is none; wait: only when there is something else
 * to do, it is closing, or offline and to be tried again. */
struct queued *writer_take(struct disk *d, bool wait);
void writer_took(struct disk *d, const struct queued *q);      /* it was written, or dropped */
void writer_settle(struct disk *d);    /* nothing waits for the index any more */

/* --- disk_append.c: on the writer thread ------------------------------------------------------ */

/* Append to the newest segment, or to a new one, whatever room there is.  `from`: the record is
 * moved from there. */
int writer_append(struct disk *d, const struct record *r, const void *bytes, struct place from)
	DL_MUST_CHECK;
/* What was appended is in the index from now on. */
int writer_flush(struct disk *d) DL_MUST_CHECK;
void writer_let_go(struct disk *d);     /* of all segments but the newest */
void writer_end_segments(struct disk *d);      /* of all; the next record begins one */
