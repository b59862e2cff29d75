/* The engine under many threads: readers over a real folder, orders that change, fetches that
 * fail, a sink that refuses and is slow.  Every byte is right, memory stays within its bound, and
 * everything ends.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mailbox.h"
#include "base/random.h"
#include "prefetch/engine.h"
#include "tests/lib/tree.h"

#define FILES 240
#define READERS 6
#define ROUNDS 3
#define MEMORY (4 * MiB)

static struct manifest *manifest;
static struct engine *engine;
static struct stats stats;
static _Atomic bool ending;
static _Atomic uint32_t failed_reads, right_reads;

/* --- A sink: half of the pushes are for inodes that nobody knows ------------------------ */

static struct mailbox *jobs;

static void take_job(struct sink *s, struct sink_job *j)
{
	int r = mailbox_post(jobs, &j, 0);

	(void)s;
	assert(r == 0);
	(void)r;
}

static struct sink sink = { .push = take_job, .drop = take_job };

static void *sink_main(void *arg)
{
	struct sink_job *j;
	unsigned turn = 0;

	(void)arg;
	while (mailbox_take(jobs, &j, 1, UINT64_MAX) == 1) {
		j->result = j->entry && turn++ % 2 ? -ENOENT : 0;
		j->finished(j);
	}
	return NULL;
}

/* --- Files whose bytes say where they belong --------------------------------------------- */

static uint8_t byte_of(int number, uint64_t at)
{
	return (uint8_t)((uint64_t)number * 31 + at * 7 + (at >> 8));
}

static size_t size_of(int i)
{
	return i % 40 == 0 ? 1500000 : (size_t)(i * 977 % 30000);
}

static void make_files(const struct tree *t)
{
	char name[32];

	for (int i = 0; i < FILES; i++) {
		FILE *f;

		snprintf(name, sizeof(name), "c%d", i % 4);
		if (i < 4)
			tree_folder(t, name);
		snprintf(name, sizeof(name), "c%d/%04d.jpg", i % 4, i);
		f = fopen(tree_path(t, name), "w");
		assert(f);
		for (size_t at = 0; at < size_of(i); at++)
			putc_unlocked(byte_of(i, at), f);
		fclose(f);
	}
}

/* --- Readers ------------------------------------------------------------------------------ */

struct reader {
	struct waiter waiter;
	pthread_mutex_t mutex;
	pthread_cond_t woken;
	bool awake;
	int result;
	struct entry *entry;
};

static void on_wake(struct waiter *w, int result, struct entry *e)
{
	struct reader *r = dl_container_of(w, struct reader, waiter);

	pthread_mutex_lock(&r->mutex);
	r->result = result;
	r->entry = e;
	r->awake = true;
	pthread_cond_signal(&r->woken);
	pthread_mutex_unlock(&r->mutex);
}

static int read_block(struct reader *r, struct block b, uint32_t pid, struct entry **ret)
{
	int got;

	r->awake = false;
	got = engine_read(engine, b, (struct read_by){ pid, false }, &r->waiter, ret);
	if (got != 0)
		return got < 0 ? got : 0;
	pthread_mutex_lock(&r->mutex);
	while (!r->awake)
		pthread_cond_wait(&r->woken, &r->mutex);
	pthread_mutex_unlock(&r->mutex);
	*ret = r->entry;
	return r->result;
}

static void read_file(struct reader *r, sample_id id, uint64_t size, uint32_t pid)
{
	int number = atoi(manifest_name(manifest, node_of_sample(id)));
	uint64_t at = 0, start;

	engine_opened(engine, id, pid);
	engine_known(engine, id);
	while (at < size) {
		struct block b = engine_block(engine, id, at, &start);
		struct entry *e;
		struct bytes view;

		if (read_block(r, b, pid, &e) < 0) {
			failed_reads++;
			return;
		}
		view = store_view(e);
		for (size_t i = 0; i < view.len; i++)
			assert(((const uint8_t *)view.at)[i] == byte_of(number, start + i));
		at = start + view.len;
		engine_spent(engine, b);
		store_unpin(e);
	}
	right_reads++;
}

static void *reader_main(void *arg)
{
	uint32_t pid = 100 + (uint32_t)(uintptr_t)arg;
	struct random random = { pid };
	struct reader r = { .waiter.wake = on_wake };

	pthread_mutex_init(&r.mutex, NULL);
	pthread_cond_init(&r.woken, NULL);
	for (int i = 0; i < ROUNDS * FILES; i++) {
		sample_id id = random_below(&random, manifest_entries(manifest));
		uint64_t size;

		if (manifest_sample(manifest, id, &size))
			read_file(&r, id, size, pid);
	}
	pthread_cond_destroy(&r.woken);
	pthread_mutex_destroy(&r.mutex);
	return NULL;
}

static void *orders_main(void *arg)
{
	static const char *const specs[] = {
		"torch:seed=1", "sequential", "none", "torch-distributed:seed=3,world=2", "auto",
	};
	unsigned turn = 0;

	(void)arg;
	while (!ending) {
		struct engine_report report;
		struct buf text = BUF_EMPTY;
		char why[160];
		int r = engine_order(engine, specs[turn++ % DL_COUNT(specs)], "/nowhere", why);

		assert(r == 0);
		(void)r;
		assert(engine_report(engine, &report) == 0);
		/* Not its room: losses shrink that, and then it takes a moment to let go. */
		assert(report.plan.held <= MEMORY);
		assert(stats_get(&stats.memory_bytes) <= MEMORY);
		assert(engine_order_text(engine, turn % 2, &text) == 0);
		buf_free(&text);
		usleep(2000);
	}
	return NULL;
}

static void start(const struct tree *t)
{
	struct manifest_options mo = { .source = t->root, .reserve = 64 * MiB };
	struct source_options so = { .layers = "fault:errno=EIO,every=97" };
	struct engine_options eo = {
		.sink = &sink, .stats = &stats, .memory = MEMORY, .chunk = 8 * MiB,
		.patience = 60 * CLOCK_S,
	};

	assert(manifest_open(&mo, &manifest) == 0);
	assert(manifest_scan(manifest, 2, NULL) == 0);
	assert(mailbox_new(sizeof(struct sink_job *), 1u << 20, &jobs) == 0);
	so.manifest = eo.manifest = manifest;
	assert(source_open(&so, &eo.source) == 0);
	assert(engine_start(&eo, &engine) == 0);
	engine_scanned(engine);
}

int main(void)
{
	struct tree t = tree_new();
	pthread_t readers[READERS], orders, sinks[2];

	make_files(&t);
	start(&t);
	for (size_t i = 0; i < 2; i++)
		assert(pthread_create(&sinks[i], NULL, sink_main, NULL) == 0);
	assert(pthread_create(&orders, NULL, orders_main, NULL) == 0);
	for (uintptr_t i = 0; i < READERS; i++)
		assert(pthread_create(&readers[i], NULL, reader_main, (void *)i) == 0);
	for (size_t i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	ending = true;
	pthread_join(orders, NULL);
	engine_stop(engine);
	mailbox_close(jobs);
	for (size_t i = 0; i < 2; i++)
		pthread_join(sinks[i], NULL);
	assert(right_reads > 0);
	printf("%u files read, %u refused by the source\n", right_reads, failed_reads);
	mailbox_free(jobs);
	manifest_close(manifest);
	tree_drop(&t, "");
	return 0;
}
