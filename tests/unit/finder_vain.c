/* When the finder searches for what cannot be found: this file has searches of its own. */
#include <pthread.h>

#include "tests/lib/stage.h"

#include "base/clock.h"
#include "prefetch/find/finder_internal.h"

#define PATIENCE 100                   /* seconds until a test gives up */
#define N 2000u
#define WORKERS 16u
#define PIECES 1000u
#define MINUTE (60 * CLOCK_S)

static struct stage stage;
static struct list *list = &stage.list;
static uint64_t now;
static _Atomic unsigned begun;         /* searches */
static struct begun { uint32_t pid, from; size_t opens; } searches[64];
static _Atomic uint32_t pieces = PIECES;       /* that one does before it waits to be stopped */

void search_init(struct search *s) { dl_lock_init(&s->lock); }

bool search_prepare(struct search *s)
{
	searches[begun % DL_COUNT(searches)] = (struct begun){
		.pid = s->evidence.opens[0].pid, .from = s->from, .opens = s->evidence.count,
	};
	begun++;
	return true;
}

void search_run(struct search *s)
{
	while (pieces < PIECES && !s->stop)
		usleep(1000);
}

bool search_again(struct search *s) { (void)s; return false; }
float search_share(const struct search *s) { (void)s; return (float)pieces / PIECES; }
uint32_t search_came_to(const struct search *s, unsigned threads) { return s->from + threads; }

void search_fini(struct search *s)
{
	while (s->list_count > 0)
		list_unref(s->lists[--s->list_count]);
	dl_lock_fini(&s->lock);
}

int search_positions(const struct found *f, struct positions *ret)
{
	(void)f;
	(void)ret;
	return -ENOTSUP;
}

static uint32_t parent(uint32_t pid) { return pid / 1000; }

static struct finder *start(void)
{
	struct finder_options options = { .threads = 1, .parent = parent };
	struct finder *f;

	now = clock_now();
	stage = (struct stage){ .list = { 1, FIRST_ID, N }, .random = { 1 } };
	cr_assert_eq(finder_start(&options, &f), 0);
	finder_lists(f, &list, 1);
	return f;
}

/* Nobody knows what comes next; just enough to search for, and no less before.  pid 0: of nobody
 * known, else each worker has one. */
static void read_epoch(struct finder *f, uint32_t pid)
{
	uint32_t pids[WORKERS];
	unsigned opens = pid ? 32 : 64;

	for (unsigned w = 0; w < WORKERS; w++)
		pids[w] = pid ? pid + w : 0;
	for (unsigned i = 0; i < opens; i++)
		finder_open(f, list_at(list, stage_draw(&stage, N)), pids[i % WORKERS], false, now);
}

/* It is over; with it what is searched for it. */
static void end_epoch(struct finder *f, uint32_t pid)
{
	uint32_t pids[WORKERS];

	for (unsigned w = 0; w < WORKERS; w++)
		pids[w] = pid + w;
	finder_turn(f, pids, WORKERS, false);
}

static bool is_idle(struct finder *f, bool put_off)
{
	DL_HOLD(&f->lock);
	return !f->searching && f->tried == f->evidence.turn && f->put_off == put_off;
}

static void expect_searches(unsigned count)
{
	while (begun < count)
		usleep(1000);
	cr_assert_eq(begun, count);
}

/* Epochs that are searched as long as they last; the first pid of each is so much higher. */
static void read_epochs(struct finder *f, uint32_t pid, uint32_t step, unsigned count)
{
	unsigned before = begun;

	for (unsigned i = 0; i < count; i++, pid += step) {
		read_epoch(f, pid);
		expect_searches(before + i + 1);
		while (pieces == PIECES && !is_idle(f, false))
			usleep(1000);
		end_epoch(f, pid);
	}
}

static void expect_none(struct finder *f, uint32_t pid)
{
	unsigned before = begun;

	read_epoch(f, pid);
	while (!is_idle(f, true))
		usleep(1000);
	cr_assert_eq(begun, before);
}

Test(finder_vain, another_job_does_not_wait_for_the_end_of_a_pause, .timeout = PATIENCE)
{
	struct finder *f = start();

	read_epochs(f, 5000, WORKERS, 3);
	expect_none(f, 5000 + 3 * WORKERS);
	end_epoch(f, 5000 + 3 * WORKERS);
	read_epochs(f, 7000, WORKERS, 3);
	cr_assert_eq(searches[3].pid, 7000);
	expect_none(f, 7000 + 3 * WORKERS);
	finder_stop(f);
	cr_assert_eq(list->refs, 1, "refs are left: %u", list->refs);
}

Test(finder_vain, what_was_put_off_is_searched_after_the_pause, .timeout = PATIENCE)
{
	struct finder *f = start();

	read_epochs(f, 5000, 0, 3);
	expect_none(f, 5000);
	now += 12 * MINUTE;
	finder_open(f, list_at(list, 0), 5000, false, now);
	expect_searches(4);
	finder_stop(f);
}

/* Each is cut off by its epoch's end, and the next goes on with other seeds. */
Test(finder_vain, short_epochs_are_not_searched_for_ever, .timeout = PATIENCE)
{
	struct finder *f = start();

	pieces = PIECES / 4;
	read_epochs(f, 5000, 0, 12);
	expect_none(f, 5000);
	for (uint32_t i = 0; i < 12; i++)
		cr_assert_eq(searches[i].from, i);
	finder_stop(f);
}

Test(finder_vain, without_pids_who_begins_after_a_while_is_searched_for, .timeout = PATIENCE)
{
	struct finder *f = start();

	read_epochs(f, 0, 0, 3);
	expect_none(f, 0);
	now += MINUTE;
	read_epoch(f, 0);
	expect_searches(4);
	cr_assert_eq(searches[3].opens, 64, "%zu, with those before it", searches[3].opens);
	finder_stop(f);
}
