/* A mutex that knows its owner, so "must hold the lock" is a check and not a comment.
 *
 * Lock order (take a later one while holding an earlier one, never the reverse; most code
 * holds one only).  No lock is held across a call into the kernel or a library that may
 * block.
 *
 *     manifest.writer → store.lock → source.lock → mailbox.lock → log
 *     commands.lock, refreshes.lock → mailbox.lock
 *     tier.lock → disk.lock, meter.lock
 */
#pragma once
#include <assert.h>
#include <pthread.h>
#include "base/dl.h"

struct dl_lock {
	pthread_mutex_t mutex;         /* PTHREAD_MUTEX_ERRORCHECK */
	_Atomic(uintptr_t) owner;      /* pthread_self() of the holder, 0 while free */
};

void dl_lock_init(struct dl_lock *l);
void dl_lock_fini(struct dl_lock *l);
void dl_lock_take(struct dl_lock *l);
void dl_lock_drop(struct dl_lock *l);
bool dl_lock_mine(const struct dl_lock *l);
void dl_cond_init(pthread_cond_t *c);                      /* on CLOCK_MONOTONIC */
void dl_cond_wait(pthread_cond_t *c, struct dl_lock *l);
/* false: the deadline (clock_now(), ns) has passed. */
bool dl_cond_wait_until(pthread_cond_t *c, struct dl_lock *l, uint64_t deadline);

static inline void dl_lock_dropp(struct dl_lock **l) { dl_lock_drop(*l); }

/* DL_HOLD(l): take l now, drop it when the enclosing block ends. */
#define DL_HOLD(l) DL_HOLD_(l, __COUNTER__)
#define DL_HOLD_(l, n) DL_HOLD__(l, n)
#define DL_HOLD__(l, n) \
	dl_cleanup(dl_lock_dropp) struct dl_lock *hold_##n = (l); \
	dl_lock_take(hold_##n)

#define dl_assert_held(l) assert(dl_lock_mine(l))
