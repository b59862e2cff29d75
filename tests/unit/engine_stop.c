/* The end of an engine: whoever waits is woken once; what is out with the source or the sink is
 * waited for. */
#include "tests/lib/engine_stage.h"

struct stop_case {
	const char *why;
	int at_stop;                   /* how the source ends what is in flight */
};

static const struct stop_case cases[] = {
	{ "the source ends what waits", -ESHUTDOWN },
	{ "the source has the bytes after all", 0 },
	{ "the source gave it up", -ETIMEDOUT },
};

static void expect_end(const struct reader *r, const struct stop_case *c, uint64_t len)
{
	cr_assert_eq(r->woken, 1u, "%s", c->why);
	if (c->at_stop < 0)
		expect_error(r, c->at_stop);
	else
		expect_bytes(r, len);
}

static void stop_while_readers_wait(const struct stop_case *c)
{
	struct reader a, b, planned, queued[2];

	begin(MEMORY, 2);
	fake_source_at_stop(&source, c->at_stop);
	follow(order, ORDER);
	read_at(&a, g, 0);
	read_at(&b, g, 0);
	read_at(&planned, f + order[0], 0);
	read_at(&queued[0], g + 1, 0);
	read_at(&queued[1], g + 2, 0);
	end();
	expect_end(&a, c, HALF_SIZE);
	expect_end(&b, c, HALF_SIZE);
	expect_end(&planned, c, SMALL_SIZE);
	expect_error(&queued[0], -ESHUTDOWN);
	expect_error(&queued[1], -ESHUTDOWN);
}

Test(engine_stop, wakes_all_who_wait)
{
	for (size_t i = 0; i < DL_COUNT(cases); i++)
		stop_while_readers_wait(&cases[i]);
}

static void stop_while_a_stream_is_read(const struct stop_case *c)
{
	struct reader r[3];
	uint64_t len;

	begin(MEMORY, 2);
	fake_source_at_stop(&source, c->at_stop);
	read_at(&r[0], h, 0);
	len = fake_source_at(&source, 0).len;
	for (unsigned i = 1; i < 3; i++)
		read_at(&r[i], h, i * len);
	end();
	for (unsigned i = 0; i < 3; i++)
		expect_end(&r[i], c, len);
}

Test(engine_stop, ends_streams_of_big_files)
{
	for (size_t i = 0; i < DL_COUNT(cases); i++)
		stop_while_a_stream_is_read(&cases[i]);
}

/* Stop, and come to where only the sink's jobs are missing. */
static pthread_t stop_all_but_the_sink(void)
{
	pthread_t thread = begin_stop();

	wait_until(fake_source_stopped(&source) && fake_source_bytes(&source) == 0);
	cr_assert(!ended, "the sink has its bytes still");
	return thread;
}

static void stop_during_push(int result)
{
	pthread_t thread;
	unsigned jobs;

	begin(MEMORY, 4);
	for (unsigned i = 0; i < ORDER; i++)
		engine_known(engine, f + order[i]);
	follow(order, ORDER);
	for (unsigned i = 0; i < 3; i++)
		end_fetch(f + order[i], 0, 0);
	settle();
	jobs = fake_sink_count(&sink);
	cr_assert_eq(jobs, 3u);
	engine_known(engine, f + order[0]);
	thread = stop_all_but_the_sink();
	for (unsigned i = 0; i < jobs; i++) {
		struct fake_job job = fake_sink_at(&sink, i);

		cr_assert(!ended);
		cr_assert(fake_bytes_right(store_view(job.out->entry), job.id, 0, SMALL_SIZE));
		fake_sink_end(&sink, i, result);
	}
	wait_until(ended);
	cr_assert_eq(fake_sink_count(&sink), jobs, "nothing new is begun");
	end_stop(thread);
}

Test(engine_stop, waits_for_pushes)
{
	stop_during_push(0);
}

Test(engine_stop, waits_for_pushes_that_are_refused)
{
	stop_during_push(-ENOENT);
}

/* Who asks it for something then asks what is freed. */
Test(engine_stop, memory_runs_short_once_the_source_is_closed)
{
	pthread_t thread;

	begin(MEMORY, 4);
	engine_known(engine, f + order[0]);
	follow(order, ORDER);
	end_fetch(f + order[0], 0, 0);
	settle();
	cr_assert_eq(fake_sink_count(&sink), 1u);
	thread = stop_all_but_the_sink();
	wait_until(fake_source_closed(&source));
	engine_pressed(engine);
	end_stop(thread);
}

Test(engine_stop, of_an_engine_that_did_nothing)
{
	begin(MEMORY, 1);
	end();
	cr_assert(source.count == 0 && sink.count == 0);
}

/* What the sink has it finishes, and gets nothing more. */
static void end_without_more_jobs(void)
{
	unsigned jobs = fake_sink_count(&sink);
	pthread_t thread = stop_all_but_the_sink();

	fake_sink_end_all(&sink);
	wait_until(ended);
	cr_assert_eq(fake_sink_count(&sink), jobs);
	end_stop(thread);
}

/* Samples that nobody wants any more are with the sink, which shall drop them. */
Test(engine_stop, waits_for_drops)
{
	unsigned jobs;

	begin_little(true);
	follow(all, SMALL / 2);
	fetch_all();
	fake_sink_end_all(&sink);
	jobs = fake_sink_count(&sink);
	follow(all + SMALL / 2, SMALL / 2);
	cr_assert_gt(fake_sink_count(&sink), jobs);
	cr_assert(fake_sink_at(&sink, jobs).drop);
	end_without_more_jobs();
}

Test(engine_stop, no_drop_follows_a_push)
{
	begin_little(true);
	follow(all, SMALL / 2);
	fetch_all();
	follow(all + SMALL / 2, SMALL / 2);
	end_without_more_jobs();
}
