/* The disk tier under threads, and under kills: whatever it gives back is right. */
#include "tests/lib/disk_stage.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "base/log.h"

#define THREADS 6
#define STEPS 4000u
#define SAMPLES 400u
#define VERSIONS 3u
#define KILLS 60

static struct tree tree;
static struct disk *disk;
static struct disk_options options;
static char folder[PATH_MAX];

static struct disk *open_disk(void)
{
	struct disk *d = NULL;
	int pid, r = disk_open(&options, &d, &pid);

	assert(r == 0);
	return d;
}

static size_t length_of(uint64_t n)
{
	return random_mix(n + 12345) % 20000;
}

/* --- Threads ------------------------------------------------------------------------------- */

struct worker {
	pthread_t thread;
	struct random random;
	unsigned got;
};

static uint32_t below(struct worker *w, uint32_t n)
{
	return random_below(&w->random, n);
}

static void step(struct worker *w)
{
	uint64_t n = below(w, SAMPLES), version = below(w, VERSIONS), bad;
	struct disk_key key = key_at(SOURCE, n);

	switch (below(w, 16)) {
	case 0:
		want_part(disk, SOURCE + (below(w, 20) == 0), SAMPLES, 10000);
		break;
	case 1:                        /* its bound is kept at rest: look_at_all() */
		(void)disk_report(disk);
		break;
	case 2:
		if (below(w, 50) == 0)
			assert(disk_verify(disk, true, NULL, NULL, &bad) == 0 && bad == 0);
		break;
	case 3:
	case 4:
	case 5:
	case 6:
		if (disk_wants(disk, &key, length_of(n)))
			put(disk, SOURCE, n, version, length_of(n));
		break;
	case 7:
		has(disk, SOURCE, n, version);
		break;
	default:
		w->got += get(disk, SOURCE, n, version, length_of(n)) == 0;
		break;
	}
}

static void *work(void *context)
{
	for (unsigned i = 0; i < STEPS; i++)
		step(context);
	return NULL;
}

static void under_threads(void)
{
	static struct worker workers[THREADS];
	struct disk_report r;
	unsigned got = 0;

	disk = open_disk();
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i].random = (struct random){ i };
		assert(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		assert(pthread_join(workers[i].thread, NULL) == 0);
		got += workers[i].got;
	}
	writer_drain(disk);
	r = disk_report(disk);
	assert(got > 0 && r.hits == got && r.bad == 0 && r.written > 0);
	disk_close(disk);
	disk = open_disk();
	assert(disk_report(disk).records == r.records && disk_report(disk).bytes == r.bytes);
	disk_close(disk);
	printf("%u threads: %u hits, %ju written, %ju dropped, %ju there\n", THREADS, got,
	       (uintmax_t)r.written, (uintmax_t)r.dropped, (uintmax_t)r.records);
}

/* --- Kills --------------------------------------------------------------------------------- */

/* Puts until it is killed; the pipe has a byte for each sample. */
static void put_for_ever(int told, uint64_t random)
{
	struct worker w = { .random = { random } };
	struct disk *d = open_disk();

	for (;;) {
		uint64_t n = below(&w, SAMPLES);

		put(d, SOURCE, n, below(&w, VERSIONS), length_of(n));
		if (below(&w, 8) == 0)
			writer_drain(d);
		assert(write(told, "p", 1) == 1);
	}
}

/* After how many samples, is chance; so is how far the writer is then. */
static void kill_one(uint64_t round)
{
	uint64_t wait_for = random_mix(round) % 300 + 1;
	int told[2];
	pid_t child;
	char c;

	assert(pipe(told) == 0);
	child = fork();
	assert(child >= 0);
	if (child == 0) {
		close(told[0]);
		put_for_ever(told[1], round);
	}
	close(told[1]);
	while (wait_for-- > 0 && read(told[0], &c, 1) == 1)
		;
	kill(child, SIGKILL);
	assert(waitpid(child, NULL, 0) == child);
	close(told[0]);
}

static uint64_t look_at_all(void)
{
	struct disk *d = open_disk();
	uint64_t there = 0, bad = 1;

	assert(disk_report(d).file_bytes <= options.size);
	assert(disk_verify(d, false, NULL, NULL, &bad) == 0);
	for (uint64_t n = 0; n < SAMPLES; n++)
		for (uint64_t version = 0; version < VERSIONS; version++)
			if (has(d, SOURCE, n, version)) {
				int r = get(d, SOURCE, n, version, length_of(n));

				assert(r == 0 || r == -EIO);
				there += r == 0;
			}
	assert(bad == 0 && there == disk_report(d).records);
	disk_close(d);
	return there;
}

static void under_kills(void)
{
	uint64_t there = 0;

	for (uint64_t round = 0; round < KILLS; round++) {
		kill_one(round);
		there = look_at_all();
	}
	assert(there > 0);
	printf("%d kills: %ju there\n", KILLS, (uintmax_t)there);
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	tree = tree_new();
	snprintf(folder, sizeof(folder), "%s", tree_path(&tree, "s"));
	options = (struct disk_options){ .folder = folder, .size = 3 * MiB, .zstd = 1 };
	under_kills();                 /* first, while a fork has no threads to miss */
	under_threads();
	tree_drop(&tree, "");
	return 0;
}
