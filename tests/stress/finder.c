/* Opens, lists and refusals while a finder searches; it is stopped in the midst of it. */
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "prefetch/find/finder.h"
#include "prefetch/order/mt19937.h"

#define N 2000u
#define ROUNDS 12u
#define ROUND_OPENS 3000u

struct list {                          /* a double: index = id */
	_Atomic unsigned refs;
};

struct list *list_ref(struct list *l) { l->refs++; return l; }
void list_unref(struct list *l) { if (l) l->refs--; }
uint32_t list_count(const struct list *l) { (void)l; return N; }
sample_id list_at(const struct list *l, uint32_t index) { (void)l; return index; }
const uint64_t *list_lost(const struct list *l) { (void)l; return NULL; }

bool list_index(const struct list *l, sample_id id, uint32_t *ret_index)
{
	(void)l;
	*ret_index = id;
	return true;
}

struct asked {
	_Atomic unsigned times;
	_Atomic uint32_t seed;
};

static bool refuse(void *context, const struct found *f)
{
	struct asked *a = context;

	a->seed = f->seed;
	a->times++;
	return a->times % 2 == 0;
}

struct reader {
	pthread_t thread;
	struct finder *finder;
	uint32_t seed, pid;
	bool fits;
};

static void *read_all(void *arg)
{
	const struct reader *r = arg;
	struct mt19937 g;
	uint32_t p[N];

	mt19937_seed(&g, r->seed);
	torch_randperm(&g, N, p);
	for (uint32_t i = 0; i < ROUND_OPENS; i++)
		finder_open(r->finder, p[i % N], r->pid, r->fits && i % 64 < 10, 0);
	return NULL;
}

/* A seed that is found at once, until it is; then ones that it takes minutes to find. */
static void one_round(unsigned round, struct asked *asked)
{
	struct list list = { 1 };
	struct list *lists = &list;
	struct finder_options options = {
		.threads = 3, .hasty = true, .found = refuse, .context = asked,
	};
	struct reader readers[2];
	struct finder *f;

	assert(finder_start(&options, &f) == 0);
	finder_lists(f, &lists, 1);
	if (round % 3 == 0) {
		unsigned before = asked->times;

		readers[0] = (struct reader){ .finder = f, .seed = 42 + round, .pid = 7 };
		read_all(&readers[0]);
		while (asked->times == before)
			usleep(1000);
		assert(asked->seed == 42 + round);
	}
	for (uint32_t i = 0; i < DL_COUNT(readers); i++) {
		readers[i] = (struct reader){ .finder = f, .seed = UINT32_MAX - i, .pid = 9 + i,
					      .fits = round % 2 };
		assert(pthread_create(&readers[i].thread, NULL, read_all, &readers[i]) == 0);
	}
	if (round % 4 == 1)
		finder_lists(f, &lists, 1);
	for (uint32_t i = 0; i < DL_COUNT(readers); i++)
		pthread_join(readers[i].thread, NULL);
	finder_stop(f);
	assert(list.refs == 1);
}

int main(void)
{
	struct asked asked = { 0 };

	for (unsigned round = 0; round < ROUNDS; round++)
		one_round(round, &asked);
	printf("%u rounds, %u times asked\n", ROUNDS, (unsigned)asked.times);
	return 0;
}
