/* The store holds blocks of samples in memory: those that a reader waits for, and those
 * that cannot be pushed into the page cache yet.  It knows nothing of orders or sources.
 *
 * A sample up to `chunk` bytes is one block, number 0; a larger one is blocks of 1 MiB.
 *
 * Life of an entry (the only transitions there are):
 *
 *             begin()             commit()               drop()
 *     absent ---------> filling ----------> ready ------------------> absent
 *                          |                         (at the last unpin, if pinned)
 *                          `-- abort() --> absent; its waiters get the error
 *
 * One filler per block: whoever gets STORE_MINE must end with commit() or abort(); everyone
 * else is woken by that, so a block is never fetched twice at once.
 *
 * Thread-safety: every call, on any thread.  No call blocks on a fill.
 */
#pragma once
#include "base/buf.h"

struct store;
struct entry;

struct block {
	sample_id id;
	uint32_t number;
};

enum store_got {
	STORE_READY,                   /* bytes are there; the entry is pinned */
	STORE_MINE,                    /* you are the filler; the entry is pinned */
	STORE_BUSY,                    /* someone else is; your waiter (if any) is queued */
	STORE_ABSENT,                  /* store_peek only */
};

/* wake(w, result) runs exactly once after STORE_BUSY or STORE_MINE with a waiter: 0: the
 * block is ready and `e` is pinned for the waiter (it unpins); -errno: the fill failed,
 * e is NULL.  On the filler's thread, without the store's lock.
 */
struct waiter {
	void (*wake)(struct waiter *w, int result, struct entry *e);
	struct waiter *next_;
};

int store_new(struct store **ret) DL_MUST_CHECK;
void store_free(struct store *s);      /* nothing may be pinned or filling */

/* Find or create the entry.  w may be NULL. */
int store_begin(struct store *s, struct block b, struct waiter *w, struct entry **ret)
	DL_MUST_CHECK;                 /* enum store_got, or -ENOMEM */
int store_peek(struct store *s, struct block b, struct entry **ret) DL_MUST_CHECK;

void store_commit(struct entry *e, struct buf *bytes);  /* takes bytes; keeps the pin */
void store_abort(struct entry *e, int error);           /* error < 0; drops the pin */

struct bytes store_view(const struct entry *e);         /* pinned, ready entries only */
/* So many bytes more of it went to readers.  true, once: by now as many as it has. */
bool store_add_read(struct entry *e, uint64_t len);
bool store_was_read(const struct entry *e);            /* as many as it has */
struct block store_block(const struct entry *e);
void store_unpin(struct entry *e);
bool store_drop(struct store *s, struct block b);       /* false: absent or filling */
void store_empty(struct store *s);     /* drop all that is ready */

uint64_t store_bytes(struct store *s);                  /* in ready entries */
bool store_check(struct store *s);                      /* recompute all totals; for tests */
