#include "base/lock.h"

#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"

/* A pthread call that can only fail through a mistake of ours. */
#define MUST(call) do { int must_ = (call); assert(must_ == 0); (void)must_; } while (0)

static uintptr_t self(void)
{
	return (uintptr_t)pthread_self();
}

void dl_lock_init(struct dl_lock *l)
{
	pthread_mutexattr_t attr;

	MUST(pthread_mutexattr_init(&attr));
	MUST(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK));
	MUST(pthread_mutex_init(&l->mutex, &attr));
	MUST(pthread_mutexattr_destroy(&attr));
	atomic_init(&l->owner, 0);
}

void dl_lock_fini(struct dl_lock *l)
{
	MUST(pthread_mutex_destroy(&l->mutex));
}

static void owned(struct dl_lock *l, uintptr_t by)
{
	atomic_store_explicit(&l->owner, by, memory_order_relaxed);
}

void dl_lock_take(struct dl_lock *l)
{
	MUST(pthread_mutex_lock(&l->mutex));
	owned(l, self());
}

void dl_lock_drop(struct dl_lock *l)
{
	dl_assert_held(l);
	owned(l, 0);
	MUST(pthread_mutex_unlock(&l->mutex));
}

bool dl_lock_mine(const struct dl_lock *l)
{
	return atomic_load_explicit(&l->owner, memory_order_relaxed) == self();
}

void dl_cond_init(pthread_cond_t *c)
{
	pthread_condattr_t attr;

	MUST(pthread_condattr_init(&attr));
	MUST(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC));
	MUST(pthread_cond_init(c, &attr));
	MUST(pthread_condattr_destroy(&attr));
}

void dl_cond_wait(pthread_cond_t *c, struct dl_lock *l)
{
	dl_assert_held(l);
	owned(l, 0);
	MUST(pthread_cond_wait(c, &l->mutex));
	owned(l, self());
}

bool dl_cond_wait_until(pthread_cond_t *c, struct dl_lock *l, uint64_t deadline)
{
	struct timespec at = {
		.tv_sec = (time_t)(deadline / CLOCK_S),
		.tv_nsec = (long)(deadline % CLOCK_S),
	};
	int r;

	if (deadline == UINT64_MAX) {
		dl_cond_wait(c, l);
		return true;
	}
	dl_assert_held(l);
	owned(l, 0);
	r = pthread_cond_timedwait(c, &l->mutex, &at);
	owned(l, self());
	assert(r == 0 || r == ETIMEDOUT);
	return r == 0;
}
