/* The finder's threads, before opens of simulated DataLoaders. */
#include <pthread.h>

#include "tests/lib/stage.h"

#include "prefetch/find/finder.h"

#define PATIENCE 100                   /* seconds until a test gives up */

struct listener {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	unsigned asked;
	struct found last;
	struct finder *finder;
	struct list *better;           /* is given once opens were seen */
};

/* Each test has a process of its own. */
static struct listener heard = {
	.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER,
};
static struct stage stage;
static struct list *list = &stage.list;

/* A finder for so many samples, whom `heard` listens to. */
static struct finder *start(uint32_t n, struct finder_options options)
{
	struct finder *f;

	options.context = &heard;
	stage = (struct stage){ .list = { 1, FIRST_ID, n }, .random = { 1 } };
	cr_assert_eq(finder_start(&options, &f), 0);
	finder_lists(f, &list, 1);
	return f;
}

static bool refuse_once(void *context, const struct found *f)
{
	struct listener *l = context;
	bool follow;

	pthread_mutex_lock(&l->mutex);
	follow = ++l->asked > 1;
	l->last = *f;
	pthread_cond_signal(&l->cond);
	pthread_mutex_unlock(&l->mutex);
	return follow;
}

static void read_epoch(struct finder *f, const struct sequence *q, uint32_t opens)
{
	struct loader l = { .sequence = q, .to = q->length, .workers = 2, .batch = 16, .pid = 50 };
	uint32_t position, pid;

	while (opens-- > 0 && loader_step(&l, &stage, &position, &pid))
		finder_open(f, list_at(list, q->at[position]), pid, false, 0);
}

static bool follow(void *context, const struct found *f)
{
	refuse_once(context, f);
	return true;
}

/* Waits until it was asked so often; how often it was. */
static unsigned asked(unsigned least)
{
	unsigned times;

	pthread_mutex_lock(&heard.mutex);
	while (heard.asked < least)
		pthread_cond_wait(&heard.cond, &heard.mutex);
	times = heard.asked;
	pthread_mutex_unlock(&heard.mutex);
	return times;
}

Test(finder_threads, asks_until_it_is_followed, .timeout = PATIENCE)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(2000, 42, 0);
	struct finder *f = start(2000, (struct finder_options){
		.threads = 2, .found = refuse_once });

	read_epoch(f, q, 64);
	cr_assert_eq(asked(2), 2);
	finder_stop(f);
	cr_assert_eq(heard.last.seed, 42);
	cr_assert_eq(heard.last.world, 0);
	cr_assert_eq(heard.asked, 2);
	cr_assert_eq(list->refs, 1, "refs are left: %u", list->refs);
}

/* One rank of four was found, and the others are waited for: but not beyond the epoch, whose end
 * the next one's opens do not show, since they are as foreseen. */
Test(finder_threads, waits_for_no_rank_of_an_epoch_that_is_over, .timeout = PATIENCE)
{
	struct sequence *one = rank_sequence(2000, 5, 4, 1), *all = torch_sequence(2000, 5, 0);
	struct finder *f = start(2000, (struct finder_options){ .threads = 2, .found = follow });

	read_epoch(f, one, 64);
	cr_assert_eq(asked(1), 1);
	finder_turn(f, (const uint32_t[]){ 50, 51 }, 2, false);
	for (uint32_t i = 0; i < 400; i++)      /* of all its ranks */
		finder_open(f, list_at(list, all->at[i]), 50, true, 0);
	usleep(1200000);                        /* longer than it waits before it asks again */
	cr_assert_eq(asked(1), 1);
	finder_stop(f);
	sequence_unref(one);
	sequence_unref(all);
}

static uint32_t parent(uint32_t pid) { return pid < 60 ? 40 : 41; }

/* It begins while the search for a job's order goes on that has none. */
Test(finder_threads, finds_what_begins_beside_a_hopeless_job, .timeout = PATIENCE)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(5000, 42, 0);
	struct loader l = { .sequence = q, .to = 400, .workers = 2, .batch = 16, .pid = 60 };
	struct finder *f = start(5000, (struct finder_options){
		.threads = 2, .found = follow, .parent = parent });
	uint32_t position, pid;

	for (uint32_t i = 0; i < 1500; i++)
		finder_open(f, list_at(list, stage_draw(&stage, 5000)), 50 + i % 4, false, 0);
	usleep(300000);                         /* the search has begun */
	while (loader_step(&l, &stage, &position, &pid)) {
		finder_open(f, list_at(list, stage_draw(&stage, 5000)), 50 + position % 4, false,
			    0);
		finder_open(f, list_at(list, q->at[position]), pid, false, 0);
	}
	cr_assert_geq(asked(1), 1);
	finder_stop(f);
	cr_assert_eq(heard.last.seed, 42);
	cr_assert_eq(list->refs, 1);
}

/* Nobody knows whose opens they are.  Once one is followed its opens fit, many in a row. */
Test(finder_threads, finds_another_job_without_pids, .timeout = PATIENCE)
{
	struct finder *f = start(2000, (struct finder_options){
		.threads = 2, .hasty = true, .found = follow });
	uint32_t position, pid, first = 0;
	struct loader jobs[2];

	for (unsigned j = 0; j < 2; j++) {
		struct sequence *q = torch_sequence(2000, order_constants[j], 0);

		jobs[j] = (struct loader){ .sequence = q, .to = 2000, .workers = 3, .batch = 16 };
	}
	for (uint32_t i = 0; i < 900; i++) {
		unsigned j = i / 10 % 2;        /* ten opens of each */

		if (i == 200) {
			asked(1);
			first = heard.last.seed;
		}
		cr_assert(loader_step(&jobs[j], &stage, &position, &pid));
		finder_open(f, list_at(list, jobs[j].sequence->at[position]), 0,
			    i >= 200 && order_constants[j] == first, 0);
	}
	/* Of the first again, where more was opened before its opens were known to be its own. */
	for (unsigned times = 2; asked(times) && heard.last.seed == first;)
		times++;
	finder_stop(f);
	cr_assert(heard.last.seed == order_constants[0] || heard.last.seed == order_constants[1]);
	for (unsigned j = 0; j < 2; j++)
		sequence_unref((struct sequence *)jobs[j].sequence);
}

/* Without pids a search that began with few opens begins anew when there are many: what it has
 * tried by then, it tried too soon. */
Test(finder_threads, begins_anew_with_ample_evidence, .timeout = PATIENCE)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(2000, 3000000000u, 0);
	struct lessons lessons = {
		.at = { { .n = 2000, .seed = 3000000000u }, { .n = 2000, .seed = 1 } }, .count = 2,
	};
	struct finder *f = start(2000, (struct finder_options){
		.threads = 2, .hasty = true, .found = follow });

	finder_lessons(f, &lessons, false);
	for (uint32_t i = 0; i < 70; i++)
		finder_open(f, list_at(list, stage_draw(&stage, 2000)), 0, false, 0);
	usleep(300000);                         /* the search has begun, and would take minutes */
	for (uint32_t i = 0; i < 450; i++)
		finder_open(f, list_at(list, q->at[i]), 0, false, 0);
	cr_assert_geq(asked(1), 1);
	finder_stop(f);
	cr_assert_eq(heard.last.seed, 3000000000u);
}

static void look(void *context, const sample_id *opened, size_t count)
{
	struct listener *l = context;

	cr_assert_geq(count, 6);
	for (size_t i = 0; i < count; i++)
		cr_assert(opened[i] >= FIRST_ID && opened[i] < FIRST_ID + 2000);
	finder_instead(l->finder, &l->better, 1);
}

/* The list that it began with has other files as well, so that no seed explains the opens. */
Test(finder_threads, asks_for_lists_before_it_searches, .timeout = PATIENCE)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(2000, 42, 0);
	struct list all = { 1, FIRST_ID, 3000 }, *instead = &all;

	heard.better = list;
	heard.finder = start(2000, (struct finder_options){
		.threads = 2, .found = refuse_once, .look = look });
	finder_lists(heard.finder, &instead, 1);
	read_epoch(heard.finder, q, 64);
	asked(2);
	finder_stop(heard.finder);
	cr_assert_eq(heard.last.seed, 42);
	cr_assert_eq(heard.last.list, list);
	cr_assert_eq(all.refs, 1);
	cr_assert_eq(list->refs, 1);
}

/* The search of all seeds would take minutes. */
Test(finder_threads, stops_in_the_midst_of_a_search, .timeout = PATIENCE)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(2000, UINT32_MAX - 1, 0);

	for (unsigned i = 0; i < 3; i++) {
		struct finder *f = start(2000, (struct finder_options){
			.threads = 2, .found = refuse_once });

		read_epoch(f, q, 40);
		usleep(i * 100000);
		if (i == 1)
			finder_lists(f, NULL, 0);
		finder_stop(f);
		cr_assert_eq(list->refs, 1, "refs are left: %u", list->refs);
	}
	cr_assert_eq(heard.asked, 0);
}

static void save(void *context, const struct lessons *lessons)
{
	struct listener *l = context;

	cr_expect_eq(lessons->count, 1);
	follow(l, &l->last);
}

/* Who is killed in the midst of it has lost nothing. */
Test(finder_threads, keeps_what_was_learned_while_it_searches, .timeout = PATIENCE)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(2000, UINT32_MAX - 1, 0);
	struct lessons lessons = { .at = { { .n = 2000, .seed = 7 } }, .count = 1 };
	struct finder *f = start(2000, (struct finder_options){
		.threads = 1, .found = refuse_once, .save = save });

	read_epoch(f, q, 40);
	usleep(100000);                         /* it would go on for minutes */
	finder_lessons(f, &lessons, true);
	cr_assert_eq(asked(1), 1);
	finder_stop(f);
}
