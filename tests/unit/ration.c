/* Memory that is handed out: who waits for much, and who goes ahead of him. */
#include <criterion/criterion.h>
#include <unistd.h>

#include "base/clock.h"
#include "prefetch/source/ration.h"

#define MOST 100u
#define PATIENCE (30 * CLOCK_S)

static struct dl_lock lock;
static struct ration ration;

struct taker {
	uint64_t amount;
	bool modest;
	pthread_t thread;
	_Atomic bool asks, has;
};

static void begin(void)
{
	dl_lock_init(&lock);
	ration_init(&ration, MOST);
}

static void end(void)
{
	ration_fini(&ration);
	dl_lock_fini(&lock);
}

TestSuite(ration, .init = begin, .fini = end, .timeout = 120);

static void *take_main(void *arg)
{
	struct taker *t = arg;

	DL_HOLD(&lock);
	t->asks = true;
	ration_take(&ration, &lock, t->amount, t->modest);
	t->has = true;
	return NULL;
}

static bool becomes_true(const _Atomic bool *what)
{
	uint64_t deadline = clock_now() + PATIENCE;

	while (!*what && clock_now() < deadline)
		usleep(500);
	return *what;
}

/* When it returns, the taker has it or waits. */
static void ask(struct taker *t, uint64_t amount, bool modest)
{
	*t = (struct taker){ .amount = amount, .modest = modest };
	cr_assert_eq(pthread_create(&t->thread, NULL, take_main, t), 0);
	cr_assert(becomes_true(&t->asks));
	DL_HOLD(&lock);
}

static void give(struct taker *t)
{
	cr_assert(t->has);
	pthread_join(t->thread, NULL);
	DL_HOLD(&lock);
	ration_give(&ration, t->amount, t->modest);
}

Test(ration, who_needs_little_does_not_wait_behind_one_who_needs_much)
{
	struct taker first, large, little;

	ask(&first, 60, false);
	ask(&large, 90, false);
	cr_assert(first.has && !large.has);
	ask(&little, 40, false);
	cr_assert(becomes_true(&little.has), "there is enough for it");
	cr_assert(!large.has);
	give(&first);
	give(&little);
	cr_assert(becomes_true(&large.has));
	give(&large);
}

Test(ration, who_needs_much_is_not_passed_by_for_ever)
{
	struct taker first, large, little, last;

	ask(&first, 60, false);
	ask(&large, 90, false);
	for (unsigned had = 0; had < MOST; had += 40) {
		ask(&little, DL_MIN(MOST - had, 40u), false);
		cr_assert(becomes_true(&little.has));
		give(&little);
	}
	ask(&last, 10, false);
	cr_assert(!last.has, "those after it had as much as there is");
	give(&first);
	cr_assert(becomes_true(&large.has));
	cr_assert(becomes_true(&last.has));
	give(&large);
	give(&last);
}

Test(ration, the_modest_let_the_others_go_first)
{
	struct taker first, large, modest;

	ask(&first, 60, false);
	ask(&large, 90, false);
	ask(&modest, 10, true);
	cr_assert(!modest.has && !large.has);
	give(&first);
	cr_assert(becomes_true(&large.has));
	cr_assert(becomes_true(&modest.has));
	give(&modest);
	give(&large);
}

Test(ration, one_who_is_alone_gets_more_than_there_is)
{
	struct taker first, all;

	ask(&first, 1, true);
	ask(&all, 2 * MOST, false);
	cr_assert(!all.has);
	give(&first);
	cr_assert(becomes_true(&all.has));
	give(&all);
}
