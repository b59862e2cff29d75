/* bench-seeds: what the search for a seed costs, and what its first opens tell.
 *
 *   kernels                           those that this processor has
 *   speed KERNEL THREADS N SEEDS      try so many seeds for one start of n: "wall cpu", in seconds
 *   sets KERNEL THREADS N SEEDS OPENS the same where nobody knows who made these first opens
 *   left THREADS SEEDS N:SEED...      how many of so many seeds begin as this one does: a line
 *                                     each with those left after 1, 2, ... 6 exact entries
 *   small N PIDS                      2^20 seeds with world and rank unknown, as dlfs does it
 *                                     (PIDS 0: nor who opened): "wall cpu", in seconds
 *   numpy N OPENS                     10^6 seeds of a list that numpy shuffled, of which so many
 *                                     files were opened: processor-seconds
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "prefetch/order/mt19937.h"
#include "prefetch/order/numpy.h"
#include "prefetch/order/sparse.h"
#include "prefetch/find/search.h"

#define PIECE (UINT64_C(1) << 16)
#define THREADS_MAX 256

static const char *const names[SEEDS_KERNELS] = { "portable", "avx2", "avx512" };
static const _Atomic bool never;

/* --- Threads that share a range of seeds ------------------------------------------------ */

struct work {
	enum seeds_kernel kernel;
	struct seeds_start starts[SEEDS_STARTS];
	uint32_t seed_of[SEEDS_STARTS];
	size_t start_count;
	_Atomic uint64_t next;
	uint64_t end;
	void (*hit)(void *context, uint32_t seed, size_t start);
	_Atomic uint64_t left[SEEDS_STARTS][SEEDS_DEPTH];
	_Atomic uint64_t cpu_ns;
};

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *share(void *arg)
{
	struct work *w = arg;
	uint64_t from;

	while ((from = atomic_fetch_add(&w->next, PIECE)) < w->end)
		seeds_search(w->kernel, w->starts, w->start_count, from,
			     DL_MIN(from + PIECE, w->end), &never, w->hit, w);
	w->cpu_ns += now(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

/* The wall time, in ns. */
static uint64_t share_out(struct work *w, unsigned threads)
{
	pthread_t ids[THREADS_MAX];
	uint64_t begin = now(CLOCK_MONOTONIC);

	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, share, w) != 0)
			exit(1);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return now(CLOCK_MONOTONIC) - begin;
}

/* The first entries under a seed. */
static void begin_of(uint32_t seed, uint32_t n, uint32_t ret[SEEDS_DEPTH])
{
	struct mt19937 g;

	mt19937_seed(&g, seed);
	if (sparse_randperm(&g, n, SEEDS_DEPTH, ret) < 0)
		exit(1);
}

static void add_start(struct work *w, uint32_t n, uint32_t seed)
{
	struct seeds_start *s = &w->starts[w->start_count];

	*s = (struct seeds_start){ .n = n, .count = 1 };
	begin_of(seed, n, s->first);
	w->seed_of[w->start_count++] = seed;
}

/* --- What was opened --------------------------------------------------------------------- */

/* A double of the list, as large as one likes: sample ids are indices. */
struct list { uint32_t count; };

struct list *list_ref(struct list *l) { return l; }
void list_unref(struct list *l) { (void)l; }
uint32_t list_count(const struct list *l) { return l->count; }
sample_id list_at(const struct list *l, uint32_t index) { (void)l; return index; }
const uint64_t *list_lost(const struct list *l) { (void)l; return NULL; }

bool list_index(const struct list *l, sample_id id, uint32_t *ret_index)
{
	*ret_index = id;
	return id < l->count;
}

/* Opens of four workers that no seed explains. */
static void open_at_random(struct evidence *e, uint32_t n, uint32_t opens, bool pids)
{
	struct mt19937 g;

	mt19937_seed(&g, 5);
	for (uint32_t i = 0; i < opens; i++)
		evidence_open(e, mt19937_word(&g) % n, pids ? 50 + i / 8 % 4 : 0, false, n);
}

/* --- The figures ------------------------------------------------------------------------ */

static int kernels(void)
{
	for (enum seeds_kernel k = 0; k < SEEDS_KERNELS; k++)
		if (seeds_can(k))
			printf("%s\n", names[k]);
	return 0;
}

static void ignore(void *context, uint32_t seed, size_t start)
{
	(void)context;
	(void)seed;
	(void)start;
}

static int speed(const char *kernel, unsigned threads, uint32_t n, uint64_t seeds, uint32_t opens)
{
	static struct search s;
	struct work w = { .end = seeds, .hit = ignore };
	struct list list = { n };
	uint64_t wall;

	while (w.kernel < SEEDS_KERNELS && strcmp(names[w.kernel], kernel) != 0)
		w.kernel++;
	if (w.kernel == SEEDS_KERNELS || !seeds_can(w.kernel))
		return 2;
	if (opens > 0) {
		open_at_random(&s.evidence, n, opens, false);
		s.lists[s.list_count++] = &list;
		if (!search_prepare(&s))
			return 1;
		memcpy(w.starts, s.starts, sizeof(w.starts));
		w.start_count = s.start_count;
	} else {
		add_start(&w, n, 1u << 31);
		w.starts[0].count = 2; /* as the search asks */
	}
	wall = share_out(&w, threads);
	printf("%.6f %.6f\n", (double)wall * 1e-9, (double)w.cpu_ns * 1e-9);
	return 0;
}

static void count_left(void *context, uint32_t seed, size_t start)
{
	struct work *w = context;
	const struct seeds_start *s = &w->starts[start];
	uint32_t begin[SEEDS_DEPTH];

	begin_of(seed, s->n, begin);
	for (unsigned i = 0; i < SEEDS_DEPTH && begin[i] == s->first[i]; i++)
		w->left[start][i]++;
}

static int left(unsigned threads, uint64_t seeds, char **truths, int count)
{
	static struct work w;

	w.kernel = seeds_fastest();
	w.end = seeds;
	w.hit = count_left;
	for (int i = 0; i < count; i++) {
		uint32_t n, seed;

		if (sscanf(truths[i], "%u:%u", &n, &seed) != 2 || i == SEEDS_STARTS)
			return 2;
		add_start(&w, n, seed);
	}
	share_out(&w, threads);
	for (size_t i = 0; i < w.start_count; i++) {
		printf("%u %u", w.starts[i].n, w.seed_of[i]);
		for (unsigned m = 0; m < SEEDS_DEPTH; m++)
			printf(" %lu", (unsigned long)w.left[i][m]);
		printf("\n");
	}
	return 0;
}

/* --- Small seeds ------------------------------------------------------------------------ */

static bool latest(void *context, struct evidence *ret)
{
	*ret = ((const struct search *)context)->evidence;
	return true;
}

static int small(uint32_t n, bool pids)
{
	static struct search s = { .latest = latest, .context = &s };
	struct list list = { n };
	uint64_t wall, cpu;

	open_at_random(&s.evidence, n, 256, pids);
	search_init(&s);
	s.lists[s.list_count++] = &list;
	if (!search_prepare(&s))
		return 1;
	s.next = 1;
	s.end = search_piece(0);
	wall = now(CLOCK_MONOTONIC);
	cpu = now(CLOCK_THREAD_CPUTIME_ID);
	search_run(&s);
	printf("%.6f %.6f\n", (double)(now(CLOCK_MONOTONIC) - wall) * 1e-9,
	       (double)(now(CLOCK_THREAD_CPUTIME_ID) - cpu) * 1e-9);
	search_fini(&s);
	return s.claimed;
}

static void disregard(void *context, uint32_t seed)
{
	(void)context;
	(void)seed;
}

/* All seeds of a list of n that Keras shuffled, of which so many files were opened. */
static int numpy(uint32_t n, uint32_t opens)
{
	static uint32_t first[NUMPY_FIRST_MOST];
	static const _Atomic bool stop;
	struct mt19937 g;
	uint64_t cpu;

	mt19937_seed(&g, 5);
	for (uint32_t i = 0; i < DL_MIN(opens, NUMPY_FIRST_MOST); i++)
		first[i] = mt19937_word(&g) % n;
	cpu = now(CLOCK_THREAD_CPUTIME_ID);
	if (numpy_search(n, first, DL_MIN(opens, NUMPY_FIRST_MOST), 0, 1000000, &stop, disregard,
			 NULL) < 0)
		return 1;
	printf("%.6f\n", (double)(now(CLOCK_THREAD_CPUTIME_ID) - cpu) * 1e-9);
	return 0;
}

static bool number(const char *text, uint64_t least, uint64_t most, uint64_t *ret)
{
	char *end;

	*ret = strtoull(text, &end, 10);
	return end != text && *end == 0 && *ret >= least && *ret <= most;
}

int main(int argc, char **argv)
{
	uint64_t threads, n, seeds, opens;

	if (argc == 2 && strcmp(argv[1], "kernels") == 0)
		return kernels();
	if (argc == 6 && strcmp(argv[1], "speed") == 0 &&
	    number(argv[3], 1, THREADS_MAX, &threads) &&
	    number(argv[4], SEEDS_SET_DEPTH, UINT32_MAX, &n) &&
	    number(argv[5], SEEDS_STRIDE, SEEDS_ALL, &seeds) && seeds % SEEDS_STRIDE == 0)
		return speed(argv[2], (unsigned)threads, (uint32_t)n, seeds, 0);
	if (argc == 7 && strcmp(argv[1], "sets") == 0 &&
	    number(argv[3], 1, THREADS_MAX, &threads) && number(argv[4], 64, UINT32_MAX, &n) &&
	    number(argv[5], SEEDS_STRIDE, SEEDS_ALL, &seeds) && seeds % SEEDS_STRIDE == 0 &&
	    number(argv[6], 64, EVIDENCE_MAX, &opens))
		return speed(argv[2], (unsigned)threads, (uint32_t)n, seeds, (uint32_t)opens);
	if (argc > 4 && strcmp(argv[1], "left") == 0 &&
	    number(argv[2], 1, THREADS_MAX, &threads) &&
	    number(argv[3], SEEDS_STRIDE, SEEDS_ALL, &seeds) && seeds % SEEDS_STRIDE == 0)
		return left((unsigned)threads, seeds, argv + 4, argc - 4);
	if (argc == 4 && strcmp(argv[1], "small") == 0 && number(argv[2], 64, UINT32_MAX, &n))
		return small((uint32_t)n, strcmp(argv[3], "0") != 0);
	if (argc == 4 && strcmp(argv[1], "numpy") == 0 && number(argv[2], 64, UINT32_MAX, &n) &&
	    number(argv[3], NUMPY_FIRST_LEAST, n, &seeds))
		return numpy((uint32_t)n, (uint32_t)seeds);
	fprintf(stderr, "usage: bench-seeds kernels|speed|sets|left|small|numpy ...\n");
	return 2;
}
