/* A stage for the engine: a small dataset, and a source and a sink that do only what the test says.
 * Nothing waits for time: settle() returns when the planner has done all that it will.  For one
 * test program only.
 */
#pragma once
#include <pthread.h>
#include <stdio.h>

#include "base/clock.h"
#include "tests/lib/dataset.h"
#include "tests/lib/fake_sink.h"
#include "tests/lib/fake_source.h"

#define SMALL 16u                      /* f00 to f15 */
#define SMALL_SIZE 10000u
#define HALF_SIZE (600 * KiB)          /* g0 to g2: two of them are more than the reserve */
#define BIG_SIZE (2 * MiB + 12345)     /* h: more than the reserve */
#define MEMORY (8 * MiB)
#define RESERVE (MEMORY / 8)
#define LITTLE (120 * KiB)             /* of the 192 KiB of the small files' pages */
#define PATIENCE (30 * CLOCK_S)

static struct engine *engine;
static struct stats stats;
static struct fake_source source;
static struct fake_sink sink;
static sample_id f, g, h;              /* the first of each kind */
static _Atomic uint32_t stale_calls, stale_id;
static _Atomic bool ended;
static uint64_t patience = PATIENCE;   /* a test may change them */
static struct standing_kept *standing; /* what outlives an engine; NULL: nothing */
static void (*also_stale)(void);       /* on the planner's thread */

static inline void keep_bound(void)
{
	cr_assert_leq(stats_get(&stats.memory_bytes), stats_get(&stats.memory_limit));
}

#define wait_until(condition) do { \
	uint64_t deadline_ = clock_now() + PATIENCE; \
	while (!(condition)) { \
		keep_bound(); \
		cr_assert(clock_now() < deadline_, "in vain: %s", #condition); \
		usleep(500); \
	} \
} while (0)

static inline void on_stale(void *context, sample_id id)
{
	(void)context;
	stale_id = id;
	stale_calls++;
	if (also_stale)
		also_stale();
}

static inline void begin_tree(void)
{
	char name[16];

	tree = tree_new();
	for (unsigned i = 0; i < SMALL; i++) {
		snprintf(name, sizeof(name), "f%02u", i);
		tree_file(&tree, name, SMALL_SIZE);
	}
	for (unsigned i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "g%u", i);
		tree_file(&tree, name, HALF_SIZE);
	}
	tree_file(&tree, "h", BIG_SIZE);
}

static inline void begin_engine(uint64_t memory, unsigned depth)
{
	struct engine_options options = {
		.sink = &sink.sink, .stats = &stats, .memory = memory, .chunk = 8 * MiB,
		.stale = on_stale, .patience = patience, .standing = standing,
	};

	ended = false;
	m = open_manifest(&tree);
	cr_assert_eq(manifest_scan(m, 1, NULL), 0);
	f = node_sample(node_at("f00"));       /* a listing is sorted by name: fNN is f + NN */
	g = node_sample(node_at("g0"));
	h = node_sample(node_at("h"));
	fake_source_init(&source, depth);
	fake_sink_init(&sink);
	options.manifest = m;
	options.source = fake_source_open(&source, m);
	cr_assert_eq(engine_start(&options, &engine), 0);
	engine_scanned(engine);
}

static inline void begin(uint64_t memory, unsigned depth)
{
	begin_tree();
	begin_engine(memory, depth);
}

static inline void *stop_main(void *arg)
{
	(void)arg;
	engine_stop(engine);
	ended = true;
	return NULL;
}

static inline pthread_t begin_stop(void)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, stop_main, NULL), 0);
	return thread;
}

static inline void end_stop(pthread_t thread)
{
	wait_until((fake_sink_end_all(&sink), ended));
	pthread_join(thread, NULL);
	fake_sink_fini(&sink);
	fake_source_fini(&source);
	dataset_drop();
}

static inline void end(void)
{
	end_stop(begin_stop());
}

/* When this returns, the planner has taken all that it was told before, and all steps that follow
 * are done: the first answer comes out of the midst of a batch of facts, the second out of a later
 * one. */
static inline struct engine_report settle(void)
{
	struct engine_report report;

	cr_assert_eq(engine_report(engine, &report), 0);
	cr_assert_eq(engine_report(engine, &report), 0);
	keep_bound();
	return report;
}

/* The order of these small files, by number. */
static inline void follow(const unsigned *numbers, size_t count)
{
	char spec[128], why[160];
	FILE *file = fopen(tree_path(&tree, "order"), "w");

	cr_assert(file);
	for (size_t i = 0; i < count; i++)
		fprintf(file, "f%02u\n", numbers[i]);
	fclose(file);
	snprintf(spec, sizeof(spec), "list:%s", tree_path(&tree, "order"));
	cr_assert_eq(engine_order(engine, spec, "/nowhere", why), 0, "%s", why);
	settle();
}

static const unsigned order[] = { 5, 2, 7, 0, 1, 6, 3, 4 };
#define ORDER DL_COUNT(order)
static const unsigned all[] = { 9, 14, 3, 0, 12, 5, 7, 15, 1, 10, 4, 13, 8, 2, 11, 6 };

/* With memory for about half of the small files. */
static inline void begin_little(bool known)
{
	begin(LITTLE, 2);
	for (unsigned i = 0; i < SMALL && known; i++)
		engine_known(engine, f + i);
}

/* --- Readers ------------------------------------------------------------------------------- */

struct reader {
	struct waiter waiter;
	sample_id id;
	uint64_t offset, len;          /* len: of the block that came */
	int result;
	bool right;                    /* each of its bytes */
	_Atomic unsigned woken;        /* last: the others are there then */
};

static inline void on_wake(struct waiter *w, int result, struct entry *e)
{
	struct reader *r = dl_container_of(w, struct reader, waiter);

	r->result = result;
	if (e) {
		r->len = store_view(e).len;
		r->right = fake_bytes_right(store_view(e), r->id, r->offset, r->len);
		store_unpin(e);
	}
	r->woken++;
}

static inline void read_by(struct reader *r, sample_id id, uint64_t offset, struct read_by by)
{
	struct entry *e;
	uint64_t start;
	struct block b = engine_block(engine, id, offset, &start);

	*r = (struct reader){ .waiter.wake = on_wake, .id = id, .offset = offset };
	cr_assert_eq(start, offset);
	cr_assert_eq(engine_read(engine, b, by, &r->waiter, &e), 0, "it had to wait");
}

static inline void read_at(struct reader *r, sample_id id, uint64_t offset)
{
	read_by(r, id, offset, (struct read_by){ 1, false });
}

static inline void expect_bytes(const struct reader *r, uint64_t len)
{
	cr_assert_eq(r->woken, 1u);
	cr_assert_eq(r->result, 0);
	cr_assert_eq(r->len, len);
	cr_assert(r->right);
}

static inline void expect_error(const struct reader *r, int error)
{
	cr_assert_eq(r->woken, 1u);
	cr_assert_eq(r->result, error);
	cr_assert(!r->right);
}

/* The one fetch of it that is out. */
static inline unsigned fetch_of(sample_id id, uint64_t offset)
{
	unsigned found = FAKE_FETCHES;

	for (unsigned i = 0; i < fake_source_count(&source); i++) {
		struct fake_fetch fetch = fake_source_at(&source, i);

		if (!fetch.out || fetch.id != id || fetch.offset != offset)
			continue;
		cr_assert_eq(found, FAKE_FETCHES, "fetched twice at once");
		found = i;
	}
	cr_assert_neq(found, FAKE_FETCHES, "not fetched");
	return found;
}

static inline void end_fetch(sample_id id, uint64_t offset, int result)
{
	fake_source_end(&source, fetch_of(id, offset), result);
}

/* End what is out, well, until nothing is fetched any more. */
static inline void fetch_all(void)
{
	unsigned fetch;

	for (settle(); fake_source_next(&source, &fetch); settle())
		fake_source_end(&source, fetch, 0);
}
