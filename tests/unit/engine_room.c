/* The engine in little memory: what it drops, and that it never holds more than its bound. */
#include "tests/lib/engine_stage.h"

/* What is certainly held: in flight, with the sink, or pushed and not dropped since. */
static uint64_t held_at_least(void)
{
	uint64_t held = fake_source_bytes(&source);

	for (unsigned i = 0; i < fake_sink_count(&sink); i++) {
		struct fake_job job = fake_sink_at(&sink, i);

		if (!job.drop && (job.out || job.result == 0))
			held += dl_paged(SMALL_SIZE);
		if (job.drop && !job.out)
			held -= dl_paged(SMALL_SIZE);
	}
	return held;
}

/* Everything that is out ends. */
static void go_on(void)
{
	settle();
	cr_assert_leq(held_at_least(), LITTLE);
	fetch_all();
	cr_assert_leq(held_at_least(), LITTLE);
	fake_sink_end_all(&sink);
}

static unsigned drops(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < fake_sink_count(&sink); i++)
		count += fake_sink_at(&sink, i).drop;
	return count;
}

static bool is_pushed(sample_id id)
{
	return engine_where(engine, id) == WHERE_PAGE_CACHE;
}

Test(engine_room, memory_is_never_above_its_bound)
{
	begin_little(true);
	follow(all, SMALL);
	for (unsigned i = 0; i < SMALL; i++) {
		sample_id far = f + all[SMALL - 1 - i / 4];
		struct reader r;

		wait_until((go_on(), is_pushed(f + all[i])));
		engine_opened(engine, f + all[i], (uint32_t)getpid());
		settle();
		if (i % 4 != 0 || engine_where(engine, far) != WHERE_SOURCE)
			continue;
		read_at(&r, far, 0);
		wait_until((go_on(), r.woken));
		expect_bytes(&r, SMALL_SIZE);
		engine_spent(engine, (struct block){ far, 0 });
	}
	cr_assert_gt(drops(), 0u);
	cr_assert_gt(stats_get(&stats.bytes_fetched), LITTLE);
	end();
}

/* An order takes the place of another: the room of its samples is needed. */
Test(engine_room, what_is_being_pushed_is_dropped_after_it)
{
	unsigned pushes;

	begin_little(true);
	follow(all, SMALL / 2);
	fetch_all();
	pushes = fake_sink_count(&sink);
	cr_assert_gt(pushes, 0u);
	follow(all + SMALL / 2, SMALL / 2);
	fetch_all();
	cr_assert_eq(drops(), 0u, "the sink is at them");
	for (unsigned i = 0; i < pushes; i++)
		fake_sink_end(&sink, i, 0);
	settle();
	cr_assert_gt(drops(), 0u);
	wait_until((go_on(), is_pushed(f + all[SMALL / 2])));
	end();
}

Test(engine_room, what_was_not_pushed_goes_without_the_sink)
{
	struct reader r;

	begin_little(false);
	follow(all, SMALL / 2);
	fetch_all();
	cr_assert_eq(engine_where(engine, f + all[0]), WHERE_MEMORY);
	follow(all + SMALL / 2, SMALL / 2);
	fetch_all();
	cr_assert_eq(engine_where(engine, f + all[SMALL / 2]), WHERE_MEMORY);
	cr_assert_eq(engine_where(engine, f + all[0]), WHERE_SOURCE);
	read_at(&r, f + all[0], 0);
	end_fetch(f + all[0], 0, 0);
	expect_bytes(&r, SMALL_SIZE);
	cr_assert_eq(fake_sink_count(&sink), 0u);
	end();
}

static uint64_t share(void) { return stats_get(&stats.memory_share); }

static bool is_within_share(void)
{
	go_on();
	return share() < LITTLE && stats_get(&stats.memory_bytes) <= share();
}

Test(engine_room, others_that_lack_memory_get_some)
{
	begin_little(true);
	follow(all, SMALL);
	for (unsigned i = 0; i < 4; i++)
		go_on();
	cr_assert_eq(share(), LITTLE);
	cr_assert_gt(stats_get(&stats.memory_bytes), LITTLE / 2);
	engine_pressed(engine);
	wait_until(is_within_share());
	cr_assert_gt(drops(), 0u);
	end();
}

static unsigned pushed(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < SMALL; i++)
		count += is_pushed(f + all[i]);
	return count;
}

static void go_further(void)
{
	settle();
	fetch_all();
	fake_sink_end_all(&sink);
}

Test(engine_room, losing_much_of_what_was_pushed_is_heard)
{
	struct reader readers[16];
	unsigned count = 0;

	begin(2 * LITTLE, 2);
	for (unsigned i = 0; i < SMALL; i++)
		engine_known(engine, f + i);
	follow(all, SMALL);
	wait_until((go_further(), pushed() >= 10));
	for (unsigned i = 0; i < SMALL && count < DL_COUNT(readers); i++)
		if (is_pushed(f + all[i]))     /* who reads it: the kernel has it no more */
			read_at(&readers[count++], f + all[i], 0);
	wait_until((go_further(), share() < 2 * LITTLE));
	for (unsigned i = 0; i < count; i++) {
		wait_until((go_further(), readers[i].woken));
		expect_bytes(&readers[i], SMALL_SIZE);
		engine_spent(engine, (struct block){ readers[i].id, 0 });
	}
	end();
}

/* A reader who jumps about in a big file reads all of no block. */
Test(engine_room, random_reads_do_not_wait_for_blocks_that_had_their_reader)
{
	uint64_t block = 0;
	struct reader r;

	begin(MEMORY, 2);
	for (unsigned i = 0; i < 24; i++) {
		read_at(&r, h, (i * 5 % 8) * block);
		settle();
		cr_assert_eq(fake_source_count(&source), i + 1, "it waits for room");
		fetch_all();
		wait_until(r.woken);
		block = r.len;
		cr_assert_gt(BIG_SIZE / block, 7u);
		expect_bytes(&r, block);
	}
	end();
}

/* Nobody asks, and nothing happens any more. */
Test(engine_room, what_was_let_go_is_in_no_figure)
{
	struct reader r;

	begin(MEMORY, 2);
	read_at(&r, f, 0);
	fetch_all();
	expect_bytes(&r, SMALL_SIZE);
	settle();
	cr_assert_eq(stats_get(&stats.memory_bytes), SMALL_SIZE);
	wait_until(stats_get(&stats.memory_bytes) == 0);
	end();
}

/* Read past the page cache, it is held for other such readers for a moment; then it is dropped, and
 * fetched again, all within that. */
Test(engine_room, what_is_fetched_anew_is_not_let_go_with_what_was_there_before)
{
	struct block b = { f, 0 };
	struct entry *entry;
	struct reader r;
	uint64_t bytes;

	begin(MEMORY, 2);
	engine_known(engine, f);
	cr_assert_eq(engine_warm(engine, &f, 1), 1);
	fetch_all();
	fake_sink_end_all(&sink);
	settle();
	cr_assert(is_pushed(f));
	read_by(&r, f, 0, (struct read_by){ 1, true });
	end_fetch(f, 0, 0);
	expect_bytes(&r, SMALL_SIZE);
	settle();
	cr_assert_eq(engine_forget(engine, &f, 1, &bytes), 0);
	settle();
	fake_sink_end_all(&sink);
	settle();
	cr_assert_eq(engine_where(engine, f), WHERE_SOURCE);
	cr_assert_eq(engine_warm(engine, &f, 1), 1);
	fetch_all();
	wait_until(stats_get(&stats.memory_bytes) == settle().plan.held);
	cr_assert_eq(engine_where(engine, f), WHERE_MEMORY);
	cr_assert_eq(engine_read(engine, b, (struct read_by){ 1, true }, NULL, &entry), 1,
		     "it is not there");
	store_unpin(entry);
	end();
}

Test(engine_room, what_was_forgotten_does_not_come_back_with_another_engine)
{
	static struct standing_kept kept;
	struct reader r;
	uint64_t bytes;

	standing = &kept;
	begin(MEMORY, 2);
	follow(order, ORDER);
	fetch_all();
	cr_assert_eq(fake_source_count(&source), ORDER);
	for (unsigned i = 0; i < SMALL; i++)
		cr_assert_eq(engine_forget(engine, &(sample_id){ f + i }, 1, &bytes), 0);
	settle();
	end();
	begin(MEMORY, 2);
	follow(order, ORDER);
	fetch_all();
	cr_assert_eq(fake_source_count(&source), 0u, "nobody reads");
	read_by(&r, f + 5, 0, (struct read_by){ 1, false });
	end_fetch(f + 5, 0, 0);
	expect_bytes(&r, SMALL_SIZE);
	fetch_all();
	cr_assert_gt(fake_source_count(&source), 1u, "somebody reads");
	end();
	begin(MEMORY, 2);
	follow(order, ORDER);
	fetch_all();
	cr_assert_gt(fake_source_count(&source), 0u, "and did so before");
	end();
}
