/* Fetches that a test waits for.  For one test program only; asks_begin() comes first. */
#pragma once
#include <criterion/criterion.h>

#include "base/clock.h"
#include "base/lock.h"
#include "prefetch/source/source.h"

#define PATIENCE (60 * CLOCK_S)

struct ask {
	struct fetch fetch;            /* its done() is on_done(), or calls that */
	unsigned turn;                 /* when done() ran, counted from 1 */
};

static struct dl_lock lock;            /* guards the turns */
static pthread_cond_t changed;
static unsigned turns;

static inline void asks_begin(void)
{
	dl_lock_init(&lock);
	dl_cond_init(&changed);
	turns = 0;
}

static inline void on_done(struct fetch *f)
{
	struct ask *a = dl_container_of(f, struct ask, fetch);

	DL_HOLD(&lock);
	cr_assert_eq(a->turn, 0, "done() ran twice");
	a->turn = ++turns;
	pthread_cond_broadcast(&changed);
}

static inline void wait_done(struct ask *a)
{
	uint64_t deadline = clock_now() + PATIENCE;

	DL_HOLD(&lock);
	while (a->turn == 0)
		cr_assert(dl_cond_wait_until(&changed, &lock, deadline), "done() did not run");
}
