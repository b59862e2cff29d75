/* The share of memory under pressure: when it shrinks, how far, and when it grows again. */
#include <criterion/criterion.h>

#include "base/clock.h"
#include "prefetch/plan/share.h"

#define MOST (160 * MiB)

static struct share s;

static void set_up(void) { share_init(&s, MOST); }
TestSuite(share, .init = set_up);

Test(share, nothing_happens_while_nothing_is_lost)
{
	for (uint64_t i = 1; i < 100000; i++)
		cr_assert(!share_opened(&s, i * CLOCK_MS, i % 200 == 0));
	cr_assert_eq(s.room, MOST);
	cr_assert_eq(share_wake(&s), UINT64_MAX);
}

Test(share, many_losses_shrink_it_once_a_second)
{
	unsigned changes = 0;

	for (uint64_t i = 0; i < 3000; i++)
		changes += share_opened(&s, CLOCK_S + i * CLOCK_MS, i % 4 == 0);
	cr_assert_eq(changes, 3);
	cr_assert_eq(s.room, MOST / 4 * 3 / 4 * 3 / 4 * 3);
}

Test(share, never_below_an_eighth)
{
	for (uint64_t i = 1; i < 100; i++)
		share_pressed(&s, i * CLOCK_S);
	cr_assert_eq(s.room, MOST / 8);
}

Test(share, what_does_not_fit_is_let_go_at_once)
{
	cr_assert(!share_fits(&s, CLOCK_S, 2 * MOST));
	cr_assert(!share_fits(&s, CLOCK_S, MOST - MOST / 40), "next to all is all");
	cr_assert_eq(share_wake(&s), UINT64_MAX);
	cr_assert(share_fits(&s, CLOCK_S, 100 * MiB));
	cr_assert(share_fits(&s, CLOCK_S + 1, 50 * MiB), "not a step a second");
	cr_assert_eq(s.room, 50 * MiB);
	cr_assert(share_fits(&s, CLOCK_S + 2, 0));
	cr_assert_eq(s.room, MOST / 64, "but never nothing");
	cr_assert(!share_pressed(&s, 20 * CLOCK_S), "that is less than the least of pressure");
	cr_assert_eq(s.room, MOST / 64);
}

Test(share, grows_no_further_than_fits)
{
	uint64_t now = CLOCK_S;

	cr_assert(share_fits(&s, now, 40 * MiB));
	for (unsigned i = 0; i < 100; i++) {
		cr_assert_leq(share_wake(&s), now + 5 * CLOCK_S, "it looks again");
		now = DL_MAX(share_wake(&s), now);
		cr_assert(!share_fits(&s, now, 40 * MiB));
		cr_assert(!share_tick(&s, now));
	}
	for (unsigned i = 0; i < 12; i++) {
		now += CLOCK_S;
		cr_assert(!share_fits(&s, now, 100 * MiB));
		share_tick(&s, now);
	}
	cr_assert_eq(s.room, 100 * MiB);
	while (s.room < MOST) {
		now = DL_MAX(share_wake(&s), now);
		cr_assert(!share_fits(&s, now, UINT64_MAX));
		cr_assert(share_tick(&s, now));
	}
	cr_assert_eq(share_wake(&s), UINT64_MAX);
}

/* Time until it is all again, from a moment on. */
static uint64_t recover(uint64_t now)
{
	uint64_t since = now;

	while (s.room < MOST) {
		cr_assert_lt(share_wake(&s), UINT64_MAX);
		now = DL_MAX(now, share_wake(&s));
		cr_assert(share_tick(&s, now));
	}
	return now - since;
}

Test(share, grows_back_once_it_is_calm)
{
	share_pressed(&s, 10 * CLOCK_S);
	cr_assert(!share_tick(&s, 14 * CLOCK_S), "not yet");
	cr_assert_leq(recover(10 * CLOCK_S), 10 * CLOCK_S);
	for (uint64_t i = 0; i < 20; i++)
		share_pressed(&s, (100 + i) * CLOCK_S);
	cr_assert_leq(recover(120 * CLOCK_S), 20 * CLOCK_S);
}

Test(share, pressure_that_stays_is_tried_ever_more_rarely)
{
	uint64_t now = CLOCK_S;
	unsigned tries = 0;

	share_pressed(&s, now);                /* there is room for three quarters */
	while (now < 600 * CLOCK_S) {
		now = share_wake(&s);
		cr_assert(share_tick(&s, now));
		tries++;
		now += CLOCK_S;
		cr_assert(share_pressed(&s, now));
		cr_assert_geq(s.room, MOST / 8);
	}
	cr_assert_lt(tries, 15, "%u", tries);
}
