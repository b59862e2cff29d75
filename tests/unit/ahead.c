/* The windows of readers of big files: how far ahead, what is asked for, how long it is held. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/clock.h"
#include "prefetch/plan/ahead.h"

#define MOST 100u
#define FILE_ID 7u

static struct ahead a;
static uint64_t now = CLOCK_S;
static unsigned asked[4096];           /* how often each block was */

static struct ahead_range read_as(uint32_t pid, uint32_t number, enum ahead_got got)
{
	struct ahead_range r = ahead_read(&a, FILE_ID, pid, number, got, MOST, now);

	cr_assert_leq(r.first, r.end);
	for (uint32_t i = r.first; i < r.end; i++) {
		cr_assert_gt(i, number);
		asked[i]++;
	}
	return r;
}

static uint32_t window(uint32_t pid, uint32_t number, enum ahead_got got)
{
	return read_as(pid, number, got).end - number - 1;
}

/* What a reader finds who reads whole blocks and whom the source serves in no time: what was asked
 * for before is there. */
static enum ahead_got got_of(uint32_t number)
{
	return asked[number] > 0 ? AHEAD_READY : AHEAD_ABSENT;
}

Test(ahead, one_read_is_no_run)
{
	cr_assert_eq(window(1, 0, AHEAD_ABSENT), 0u);
	cr_assert_eq(window(1, 50, AHEAD_ABSENT), 0u);
	cr_assert_eq(window(1, 40, AHEAD_ABSENT), 0u);
}

Test(ahead, grows_while_its_reader_waits)
{
	static const uint32_t windows[] = { 0, 1, 5, 21, 85, MOST, MOST };

	for (uint32_t i = 0; i < DL_COUNT(windows); i++)
		cr_assert_eq(window(1, i, AHEAD_COMING), windows[i], "block %u", i);
	for (uint32_t i = 0; i < DL_COUNT(windows) + MOST; i++)
		cr_assert_eq(asked[i], i > 1, "block %u was asked for %u times", i, asked[i]);
}

Test(ahead, is_short_for_who_is_slower_than_the_source)
{
	for (uint32_t i = 0; i < 1000; i++)
		cr_assert_leq(window(1, i, got_of(i)), 1u, "block %u", i);
	for (uint32_t i = 0; i < 1000; i++)
		cr_assert_leq(asked[i], 1u);
}

Test(ahead, parts_of_a_block_are_one_block)
{
	for (uint32_t i = 0; i < 100; i++)
		for (unsigned part = 0; part < 8; part++)
			cr_assert_leq(window(1, i, i < 2 && part == 0 ? AHEAD_ABSENT :
					     AHEAD_READY), 1u);
	for (uint32_t i = 0; i < 100; i++)
		cr_assert_leq(asked[i], 1u);
}

Test(ahead, requests_that_overtake_each_other_end_no_run)
{
	for (uint32_t i = 0; i < 4; i++)
		read_as(1, i, AHEAD_COMING);
	cr_assert_eq(read_as(1, 2, AHEAD_COMING).end, 25u);
	cr_assert_eq(window(1, 4, AHEAD_COMING), 85u);
	cr_assert_eq(window(1, 6, AHEAD_READY), 85u);
	cr_assert_eq(read_as(1, 5, AHEAD_READY).end, 92u);
	cr_assert_eq(window(1, 7, AHEAD_READY), 85u);
	cr_assert_eq(window(1, 10, AHEAD_READY), 0u, "that is another place");
}

Test(ahead, what_was_let_go_is_asked_for_again)
{
	struct ahead_range r;

	for (uint32_t i = 0; i < 4; i++)
		r = read_as(1, i, AHEAD_COMING);
	cr_assert_eq(r.end, 25u);
	r = read_as(1, 4, AHEAD_ABSENT);
	cr_assert_eq(r.first, 5u);
	cr_assert_eq(r.end, 10u, "the window was too long");
	r = read_as(1, 5, AHEAD_READY);
	cr_assert_eq(r.first, 10u);
}

/* He reads some blocks in a row, and is away then for longer than a window is held. */
Test(ahead, who_comes_back_late_again_and_again_has_most_fetched_once)
{
	const uint32_t bursts = 40, blocks = 16;
	unsigned fetched = 0;
	uint32_t there = 0;            /* blocks below it were fetched and not let go */

	for (uint32_t i = 0; i < bursts * blocks; i++) {
		struct ahead_range r;
		enum ahead_got got;

		if (i % blocks == 0)
			there = i;
		got = i >= there ? AHEAD_ABSENT : i % 4 == 0 ? AHEAD_COMING : AHEAD_READY;
		r = ahead_read(&a, FILE_ID, 1, i, got, MOST, now);
		fetched += got == AHEAD_ABSENT;
		fetched += r.end - r.first;
		there = DL_MAX(r.end, i + 1);
	}
	cr_assert_lt(fetched, bursts * blocks * 2, "%u of %u", fetched, bursts * blocks);
}

/* With memory again he has a window again. */
Test(ahead, a_window_that_was_let_go_grows_again)
{
	for (uint32_t i = 0; i < 5; i++)
		read_as(1, i, i < 4 ? AHEAD_COMING : AHEAD_ABSENT);
	for (uint32_t i = 5; i < 500; i++)
		window(1, i, AHEAD_COMING);
	cr_assert_eq(window(1, 500, AHEAD_COMING), MOST);
}

Test(ahead, what_had_no_room_is_asked_for_again)
{
	struct ahead_range r;

	for (uint32_t i = 0; i < 4; i++)
		r = read_as(1, i, AHEAD_COMING);
	ahead_no_room(&a, FILE_ID, 6);
	r = read_as(1, 3, AHEAD_READY);
	cr_assert_eq(r.first, 6u);
	cr_assert_eq(r.end, 25u);
	ahead_no_room(&a, FILE_ID + 1, 6);     /* that nobody reads */
	cr_assert_eq(read_as(1, 3, AHEAD_READY).first, 25u);
}

/* At one block in three seconds no block of the window may go before he is there. */
Test(ahead, is_held_as_long_as_its_reader_goes_on)
{
	for (uint32_t i = 0; i < 4; i++)
		read_as(1, i, AHEAD_COMING);
	for (uint32_t i = 4; i < 40; i++) {
		for (unsigned step = 0; step < 30; step++, now += CLOCK_S / 10)
			for (uint32_t ahead = i; ahead < i + 21; ahead++)
				cr_assert(ahead_wanted(&a, FILE_ID, ahead, true, now));
		cr_assert_eq(window(1, i, AHEAD_READY), 21u);
		cr_assert(!ahead_wanted(&a, FILE_ID, i + 22, false, now), "nobody asked for it");
		cr_assert(!ahead_wanted(&a, FILE_ID, i - 2, false, now), "he had it");
		cr_assert(!ahead_wanted(&a, FILE_ID + 1, i, false, now));
	}
	now += AHEAD_PAUSE;
	cr_assert(!ahead_wanted(&a, FILE_ID, 40, false, now), "he is gone");
}

Test(ahead, a_block_that_is_being_read_is_wanted_but_no_run)
{
	read_as(1, 20, AHEAD_ABSENT);
	cr_assert(ahead_wanted(&a, FILE_ID, 20, false, now));
	cr_assert(!ahead_wanted(&a, FILE_ID, 20, true, now));
	cr_assert(!ahead_wanted(&a, FILE_ID, 21, false, now));
}

Test(ahead, what_was_begun_is_in_hand_and_what_comes_is_not)
{
	for (uint32_t i = 0; i < 4; i++)
		read_as(1, i, AHEAD_COMING);
	cr_assert(ahead_in_hand(&a, FILE_ID, 3, now));
	cr_assert(ahead_in_hand(&a, FILE_ID, 2, now));
	cr_assert(!ahead_in_hand(&a, FILE_ID, 1, now));
	cr_assert(!ahead_in_hand(&a, FILE_ID, 4, now));
	cr_assert(!ahead_in_hand(&a, FILE_ID + 1, 3, now));
	cr_assert(!ahead_in_hand(&a, FILE_ID, 3, now + AHEAD_PAUSE));
}

Test(ahead, each_reader_has_his_own_and_the_one_longest_gone_makes_room)
{
	for (uint32_t pid = 0; pid <= AHEAD_STREAMS; pid++)
		for (uint32_t i = 0; i < 2; i++, now++)
			read_as(pid, pid * 10 + i, AHEAD_COMING);
	cr_assert(!ahead_wanted(&a, FILE_ID, 2, true, now), "the first one's");
	for (uint32_t pid = 1; pid <= AHEAD_STREAMS; pid++)
		cr_assert(ahead_wanted(&a, FILE_ID, pid * 10 + 2, true, now));
}

/* A pool of threads whose next one to be free takes the next block; now and then one overtakes. */
Test(ahead, threads_that_take_blocks_in_turns_are_one_reader)
{
	for (unsigned threads = 2; threads <= 16; threads *= 2) {
		uint32_t block = 0, longest = 0;

		a = (struct ahead){ 0 };
		memset(asked, 0, sizeof(asked));
		for (; block < 400; block++) {
			uint32_t at = block + (block % 7 == 5) - (block % 7 == 6);
			struct ahead_range r = read_as(50 + at % threads, at, AHEAD_COMING);

			if (r.end > at)
				longest = DL_MAX(longest, r.end - at - 1);
		}
		cr_assert_geq(longest, MOST, "%u threads: %u blocks", threads, longest);
		for (uint32_t i = 8; i < 400; i++)
			cr_assert_eq(asked[i], 1u, "%u threads: block %u, %u times", threads, i,
				     asked[i]);
	}
}

Test(ahead, threads_that_read_anywhere_are_no_reader_of_all)
{
	uint32_t place = 1;
	unsigned fetched = 0;

	for (unsigned i = 0; i < 4000; i++) {
		struct ahead_range r;

		place = place * 1103515245u + 12345u;
		r = read_as(i % 8, place / 65536 % 1000, AHEAD_ABSENT);
		fetched += r.end - r.first;
	}
	cr_assert_leq(fetched, 200u, "%u blocks ahead of 4000", fetched);
}
