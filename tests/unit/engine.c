/* The engine between a source and a sink that the test drives: what is fetched and pushed, and who
 * is woken with what. */
#include "prefetch/engine_internal.h"
#include "tests/lib/engine_stage.h"

/* --- Late reads ---------------------------------------------------------------------------- */

Test(engine, one_fetch_for_all_who_wait)
{
	struct reader a, b;

	begin(MEMORY, 4);
	read_at(&a, f, 0);
	read_at(&b, f, 0);
	cr_assert_eq(fake_source_count(&source), 1u);
	cr_assert(a.woken == 0 && b.woken == 0);
	end_fetch(f, 0, 0);
	expect_bytes(&a, SMALL_SIZE);
	expect_bytes(&b, SMALL_SIZE);
	end();
	cr_assert(a.woken == 1 && b.woken == 1);
}

Test(engine, late_reads_overtake_what_was_planned)
{
	struct reader late, joined;
	unsigned planned, next;

	begin(MEMORY, 2);
	follow(order, ORDER);
	planned = fake_source_count(&source);
	cr_assert_geq(planned, 2u);
	for (unsigned i = 0; i < planned; i++)
		cr_assert_gt(fake_source_at(&source, i).due, 0u);
	read_at(&late, g, 0);
	cr_assert_eq(fake_source_count(&source), planned + 1);
	cr_assert_eq(fake_source_at(&source, planned).due, 0u);
	cr_assert(fake_source_next(&source, &next) && next == planned);
	end_fetch(g, 0, 0);
	expect_bytes(&late, HALF_SIZE);

	read_at(&joined, f + order[1], 0);
	cr_assert_eq(fake_source_count(&source), planned + 1, "it is being fetched");
	cr_assert(fake_source_at(&source, 1).hurried);
	end_fetch(f + order[1], 0, 0);
	expect_bytes(&joined, SMALL_SIZE);
	end();
}

Test(engine, a_late_fetch_is_the_plans_too)
{
	struct reader r;

	begin(MEMORY, 8);
	read_at(&r, f + order[0], 0);
	follow(order, ORDER);
	cr_assert_eq(fake_source_count(&source), ORDER);
	end_fetch(f + order[0], 0, 0);
	expect_bytes(&r, SMALL_SIZE);
	engine_known(engine, f + order[0]);
	settle();
	cr_assert_eq(fake_sink_count(&sink), 1u);
	cr_assert_eq(fake_sink_at(&sink, 0).id, f + order[0]);
	cr_assert_eq(fake_source_count(&source), ORDER, "none was fetched twice");
	cr_assert_eq(stats_get(&stats.memory_bytes), settle().plan.held, "counted twice");
	end();
}

Test(engine, the_reserve_bounds_what_is_late)
{
	struct reader a, b, c;
	struct block first;
	uint64_t start;

	begin(MEMORY, 4);
	first = engine_block(engine, g, 0, &start);
	read_at(&a, g, 0);
	read_at(&b, g + 1, 0);
	read_at(&c, f, 0);
	settle();
	cr_assert_eq(fake_source_count(&source), 1u, "nobody overtakes in the queue");
	end_fetch(g, 0, 0);
	expect_bytes(&a, HALF_SIZE);
	engine_spent(engine, first);
	settle();
	cr_assert_eq(fake_source_count(&source), 3u, "the room of the first one is free");
	cr_assert_eq(fake_source_at(&source, 1).id, g + 1);
	cr_assert_leq(fake_source_bytes(&source), RESERVE);
	end_fetch(g + 1, 0, 0);
	end_fetch(f, 0, 0);
	expect_bytes(&b, HALF_SIZE);
	expect_bytes(&c, SMALL_SIZE);
	end();
}

Test(engine, a_failed_or_refused_fetch_gives_its_room_back)
{
	struct reader a, b, c;

	begin(MEMORY, 4);
	read_at(&a, g, 0);
	read_at(&b, g + 1, 0);
	end_fetch(g, 0, -EIO);
	expect_error(&a, -EIO);
	cr_assert_eq(fake_source_count(&source), 2u);
	end_fetch(g + 1, 0, -EIO);
	expect_error(&b, -EIO);
	fake_source_refuse(&source, -ENOMEM);
	read_at(&a, g, 0);
	expect_error(&a, -ENOMEM);
	fake_source_refuse(&source, 0);
	read_at(&c, g + 1, 0);
	end_fetch(g + 1, 0, 0);
	expect_bytes(&c, HALF_SIZE);
	end();
}

static const unsigned in_order[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

/* A source that seeks would go there, and back again. */
Test(engine, who_waits_for_one_of_many_in_order_waits_for_its_turn)
{
	struct reader r;
	unsigned next;

	begin(MEMORY, 1);
	follow(in_order, DL_COUNT(in_order));
	cr_assert_eq(fake_source_count(&source), DL_COUNT(in_order), "all of the lead at once");
	read_at(&r, f + 5, 0);
	cr_assert_eq(fake_source_count(&source), DL_COUNT(in_order));
	for (unsigned i = 0; i < 5; i++) {
		cr_assert(fake_source_next(&source, &next) && next == i, "%u before %u", next, i);
		end_fetch(f + i, 0, 0);
	}
	end_fetch(f + 5, 0, 0);
	expect_bytes(&r, SMALL_SIZE);
	end();
}

/* --- Big files ----------------------------------------------------------------------------- */

Test(engine, big_files_come_in_blocks_that_are_read_ahead)
{
	uint64_t at = 0, len, start;
	unsigned ahead = 0;

	begin(MEMORY, 4);
	for (unsigned turn = 0; at < BIG_SIZE; turn++, at += len) {
		struct block b = engine_block(engine, h, at, &start);
		struct reader r;

		cr_assert_eq(b.number, turn);
		read_at(&r, h, at);
		cr_assert_leq(fake_source_bytes(&source), RESERVE);
		len = fake_source_at(&source, fetch_of(h, at)).len;
		cr_assert_lt(len, RESERVE);
		for (unsigned i = 0; i < fake_source_count(&source); i++)
			ahead += fake_source_at(&source, i).out &&
				 fake_source_at(&source, i).offset > at;
		cr_assert(turn > 0 || ahead == 0, "one block is no stream");
		end_fetch(h, at, 0);
		expect_bytes(&r, len);
		engine_spent(engine, b);
		settle();
		cr_assert_eq(stats_get(&stats.memory_bytes), fake_source_bytes(&source));
	}
	cr_assert_gt(ahead, 0u);
	cr_assert_eq(at, BIG_SIZE);
	cr_assert_eq(fake_source_bytes(&source), 0u);
	cr_assert_eq(stats_get(&stats.bytes_fetched), BIG_SIZE, "each block came once");
	end();
}

Test(engine, what_is_read_ahead_is_less_urgent_than_what_is_waited_for)
{
	struct reader r[2];
	uint64_t len;

	begin(MEMORY, 4);
	read_at(&r[0], h, 0);
	len = fake_source_at(&source, 0).len;
	read_at(&r[1], h, len);
	cr_assert_gt(fake_source_count(&source), 2u);
	for (unsigned i = 0; i < fake_source_count(&source); i++)
		cr_assert_eq(fake_source_at(&source, i).due == 0, i < 2);
	for (unsigned i = 0; i < 2; i++) {
		end_fetch(h, i * len, 0);
		expect_bytes(&r[i], len);
	}
	end();
}

Test(engine, what_nobody_needs_comes_last)
{
	begin(MEMORY, 2);
	cr_assert_eq(engine_warm(engine, &f, 1), 1);
	settle();
	cr_assert_eq(fake_source_at(&source, 0).due, UINT64_MAX);
	end();
}

/* --- What is planned ----------------------------------------------------------------------- */

Test(engine, samples_are_fetched_in_their_order_and_pushed_once_known)
{
	begin(MEMORY, 2);
	follow(order, ORDER);
	cr_assert_leq(fake_source_count(&source), 4u, "twice the depth");
	for (unsigned i = 0; i < ORDER; i++) {
		cr_assert_eq(fake_source_at(&source, i).id, f + order[i]);
		fake_source_end(&source, i, 0);
		settle();
		cr_assert_eq(engine_where(engine, f + order[i]), WHERE_MEMORY);
	}
	cr_assert_eq(fake_source_count(&source), ORDER);
	cr_assert_eq(fake_sink_count(&sink), 0u, "the kernel knows none of them");
	for (unsigned i = 0; i < ORDER; i++)
		engine_known(engine, f + order[i]);
	settle();
	cr_assert_eq(fake_sink_count(&sink), ORDER);
	for (unsigned i = 0; i < ORDER; i++) {
		struct fake_job job = fake_sink_at(&sink, i);

		cr_assert(!job.drop && job.id == f + order[i]);
		cr_assert(fake_bytes_right(store_view(job.out->entry), job.id, 0, SMALL_SIZE));
		fake_sink_end(&sink, i, 0);
		settle();
		cr_assert_eq(engine_where(engine, job.id), WHERE_PAGE_CACHE);
	}
	end();
}

/* The first sample of the order is out to the sink. */
static void begin_push(void)
{
	begin(MEMORY, 2);
	engine_known(engine, f + order[0]);
	follow(order, ORDER);
	end_fetch(f + order[0], 0, 0);
	settle();
	cr_assert_eq(fake_sink_count(&sink), 1u, "it was known before");
	cr_assert_eq(fake_sink_at(&sink, 0).id, f + order[0]);
}

static void expect_second_push(unsigned fetches)
{
	struct fake_job job;

	settle();
	cr_assert_eq(fake_sink_count(&sink), 2u);
	job = fake_sink_at(&sink, 1);
	cr_assert(!job.drop && job.id == f + order[0]);
	cr_assert(fake_bytes_right(store_view(job.out->entry), job.id, 0, SMALL_SIZE));
	fake_sink_end(&sink, 1, 0);
	settle();
	cr_assert_eq(engine_where(engine, job.id), WHERE_PAGE_CACHE);
	cr_assert_eq(fake_sink_count(&sink), 2u);
	cr_assert_eq(fake_source_count(&source), fetches, "its bytes were there all the time");
}

Test(engine, a_refused_push_waits_until_the_inode_is_known)
{
	unsigned fetches;

	begin_push();
	fetches = fake_source_count(&source);
	fake_sink_end(&sink, 0, -ENOENT);
	settle();
	cr_assert_eq(fake_sink_count(&sink), 1u, "nothing has changed for the kernel");
	cr_assert_eq(engine_where(engine, f + order[0]), WHERE_MEMORY);
	engine_known(engine, f + order[0]);
	expect_second_push(fetches);
	end();
}

Test(engine, an_inode_that_becomes_known_during_the_push_is_not_missed)
{
	unsigned fetches;

	begin_push();
	fetches = fake_source_count(&source);
	engine_known(engine, f + order[0]);
	fake_sink_end(&sink, 0, -ENOENT);
	expect_second_push(fetches);
	end();
}

Test(engine, what_is_pushed_is_not_pushed_again)
{
	begin_push();
	engine_known(engine, f + order[0]);
	fake_sink_end(&sink, 0, 0);
	engine_known(engine, f + order[0]);
	settle();
	cr_assert_eq(fake_sink_count(&sink), 1u);
	cr_assert_eq(engine_where(engine, f + order[0]), WHERE_PAGE_CACHE);
	end();
}

/* Who looks a file up and reads it at once is faster than we are: the kernel has what it was
 * answered, and need not get it once more. */
Test(engine, what_was_read_meanwhile_is_not_pushed)
{
	struct block b = { f + order[0], 0 };
	struct entry *entry;

	begin(MEMORY, 2);
	follow(order, ORDER);
	end_fetch(b.id, 0, 0);
	end_fetch(f + order[1], 0, 0);
	settle();
	cr_assert_eq(engine_read(engine, b, (struct read_by){ 1, false }, NULL, &entry), 1);
	cr_assert(store_add_read(entry, SMALL_SIZE));
	store_unpin(entry);
	engine_known(engine, b.id);
	engine_known(engine, f + order[1]);
	settle();
	cr_assert_eq(fake_sink_count(&sink), 1u);
	cr_assert_eq(fake_sink_at(&sink, 0).id, f + order[1], "nobody read it");
	cr_assert_eq(engine_where(engine, b.id), WHERE_PAGE_CACHE);
	end();
}

Test(engine, what_the_kernel_dropped_is_fetched_again)
{
	struct reader r;

	begin_push();
	fake_sink_end(&sink, 0, 0);
	settle();
	read_at(&r, f + order[0], 0);
	cr_assert_eq(stats_get(&stats.pressure), 1u);
	end_fetch(f + order[0], 0, 0);
	expect_bytes(&r, SMALL_SIZE);
	end();
}

static const struct read_by directly = { 1, true };

/* O_DIRECT: the pages are there, and not looked at. */
Test(engine, who_reads_past_the_page_cache_says_nothing_of_it)
{
	struct engine_report report;
	struct reader r;

	begin_push();
	fake_sink_end(&sink, 0, 0);
	report = settle();
	read_by(&r, f + order[0], 0, directly);
	end_fetch(f + order[0], 0, 0);
	expect_bytes(&r, SMALL_SIZE);
	cr_assert_eq(settle().plan.held, report.plan.held, "it is held as before");
	cr_assert_eq(stats_get(&stats.pressure), 0u);
	cr_assert_eq(engine_where(engine, f + order[0]), WHERE_PAGE_CACHE);
	cr_assert_eq(stats_get(&stats.memory_bytes), report.plan.held + SMALL_SIZE,
		     "what he had counts while it is held");
	end();
}

Test(engine, who_reads_past_the_page_cache_is_served_from_memory)
{
	sample_id next = f + order[1];
	struct reader r;
	struct entry *e;

	begin_push();
	fake_sink_end(&sink, 0, 0);
	settle();
	read_by(&r, f + order[0], 0, directly);
	end_fetch(f + order[0], 0, 0);
	engine_known(engine, next);
	end_fetch(next, 0, 0);
	settle();
	cr_assert_eq(fake_sink_count(&sink), 1u, "it would be fetched once more for him");
	cr_assert_eq(engine_read(engine, (struct block){ next, 0 }, directly, &r.waiter, &e), 1);
	cr_assert(fake_bytes_right(store_view(e), next, 0, SMALL_SIZE));
	store_unpin(e);
	end();
}

Test(engine, what_was_read_past_the_page_cache_is_pushed_once_that_is_over)
{
	struct block b = { f + order[0], 0 };
	struct entry *e;

	begin(MEMORY, 2);
	follow(order, ORDER);
	end_fetch(b.id, 0, 0);
	settle();
	cr_assert_eq(engine_read(engine, b, directly, NULL, &e), 1);
	cr_assert(store_add_read(e, SMALL_SIZE));
	store_unpin(e);
	engine->direct = 1;            /* long ago */
	engine_known(engine, b.id);
	settle();
	cr_assert_eq(fake_sink_count(&sink), 1u, "the kernel does not have it");
	end();
}

/* --- Errors -------------------------------------------------------------------------------- */

Test(engine, an_error_reaches_those_who_wait_and_nobody_later)
{
	struct reader late, joined, after;

	begin(MEMORY, 2);
	follow(order, ORDER);
	read_at(&late, g, 0);
	end_fetch(g, 0, -EACCES);
	expect_error(&late, -EACCES);
	read_at(&joined, f + order[0], 0);
	end_fetch(f + order[0], 0, -EIO);
	expect_error(&joined, -EIO);
	end_fetch(f + order[1], 0, -EIO);
	settle();
	read_at(&after, f + order[1], 0);
	end_fetch(f + order[1], 0, 0);
	expect_bytes(&after, SMALL_SIZE);
	cr_assert_eq(stats_get(&stats.fetch_errors), 3u);
	cr_assert_eq(stats_get(&stats.fetch_changed), 0u);
	cr_assert_eq(stale_calls, 0u);
	end();
}

Test(engine, another_version_is_told_of)
{
	struct reader late;

	begin(MEMORY, 2);
	follow(order, ORDER);
	end_fetch(f + order[0], 0, -ESTALE);
	settle();
	cr_assert(stale_calls == 1 && stale_id == f + order[0]);
	read_at(&late, g, 0);
	end_fetch(g, 0, -ESTALE);
	expect_error(&late, -ESTALE);
	settle();
	cr_assert(stale_calls == 2 && stale_id == g);
	cr_assert_eq(stats_get(&stats.fetch_changed), 2u);
	cr_assert_eq(stats_get(&stats.fetch_errors), 0u);
	end();
}

/* Of what is the plan's, the plan lets go. */
Test(engine, what_was_read_is_let_go_of_once)
{
	struct reader r;

	begin(MEMORY, 4);
	cr_assert(!engine_let_go(engine, g));
	read_at(&r, g, 0);
	end_fetch(g, 0, 0);
	cr_assert(engine_let_go(engine, g));
	cr_assert(!engine_let_go(engine, g), "until somebody reads");
	read_by(&r, f, 0, (struct read_by){ 1, true });
	end_fetch(f, 0, 0);
	cr_assert(!engine_let_go(engine, f), "past the page cache");
	read_at(&r, f + order[0], 0);
	end_fetch(f + order[0], 0, 0);
	follow(order, 1);
	cr_assert_eq(engine_where(engine, f + order[0]), WHERE_MEMORY);
	cr_assert(!engine_let_go(engine, f + order[0]), "it is the plan's");
	end();
}

static void on_failure(struct waiter *w, int result, struct entry *e)
{
	on_wake(w, result, e);
	follow(order, 1);
}

Test(engine, the_failure_of_a_late_fetch_is_not_the_plans)
{
	struct reader r;
	struct entry *e;

	begin(MEMORY, 2);
	r = (struct reader){ .waiter.wake = on_failure, .id = f + order[0] };
	cr_assert_eq(engine_read(engine, (struct block){ r.id, 0 }, (struct read_by){ 1, false },
				 &r.waiter, &e), 0);
	end_fetch(r.id, 0, -EIO);
	expect_error(&r, -EIO);
	cr_assert_eq(fake_source_count(&source), 2u, "the plan's own");
	cr_assert_eq(settle().plan.held, dl_paged(SMALL_SIZE), "in flight");
	end_fetch(r.id, 0, 0);
	settle();
	cr_assert_eq(engine_where(engine, r.id), WHERE_MEMORY);
	end();
}
