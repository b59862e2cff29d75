/* Many threads ask one source for files that others replace, cut and remove meanwhile.  What
 * arrives is one version whole or an error; every fetch ends once; close leaves none behind.  So it
 * is with a disk in front that fails now and then.
 *
 * Of the ring TSan sees nothing, since the kernel writes there; all that is ours, the queue,
 * the jobs and the handing over to done(), goes through locks that it does see.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/lock.h"
#include "prefetch/source/meter.h"
#include "prefetch/source/source.h"
#include "tests/lib/fake_disk.h"

#define FILES 64
#define ASKERS 4
#define ROUNDS 25
#define ASKS (FILES * ROUNDS)
#define PATIENCE (120 * CLOCK_S)

struct ask {
	struct fetch fetch;
	struct asker *asker;
};

struct asker {
	struct source *source;
	struct dl_lock lock;
	pthread_cond_t changed;
	unsigned left;                 /* fetches under way */
	unsigned good, other;
	unsigned seed;
	sample_id first;
	struct ask *asks;
};

static char folder[] = "/tmp/dlfs-stress-source-XXXXXX";
static _Atomic bool stop_writing;
static struct disk disk;
static _Atomic bool current;

/* Every byte of a version is the same, so a mixture shows. */
static void write_version(int root, unsigned file, unsigned version)
{
	char name[16], bytes[9000];
	int fd;

	snprintf(name, sizeof(name), "f%02u", file);
	memset(bytes, 'a' + (int)(version % 26), sizeof(bytes));
	fd = openat(root, "new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert(fd >= 0 && write(fd, bytes, sizeof(bytes)) == sizeof(bytes));
	close(fd);
	assert(renameat(root, "new", root, name) == 0);
}

/* Only files with odd numbers change. */
static void *change_files(void *arg)
{
	int root = *(int *)arg;
	unsigned seed = 7;

	for (unsigned i = 0; !stop_writing; i++) {
		unsigned file = (unsigned)rand_r(&seed) % FILES | 1;
		char name[16];
		int fd;

		snprintf(name, sizeof(name), "f%02u", file);
		if (i % 4 == 0) {
			fd = openat(root, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
			if (fd >= 0 && ftruncate(fd, 100) == 0)
				close(fd);
		} else if (i % 4 == 1) {
			unlinkat(root, name, 0);
			assert(mkfifoat(root, name, 0644) == 0);
		} else if (i % 4 == 2) {
			unlinkat(root, name, 0);
			assert(symlinkat("f00", root, name) == 0);
		} else {
			write_version(root, file, i);
		}
		usleep(100);
	}
	return NULL;
}

static void check(const struct fetch *f, bool steady)
{
	assert(f->result != -EINPROGRESS);
	if (f->result < 0) {
		assert(!f->bytes.at);
		assert(f->result == -ESTALE || f->result == -ENOENT || f->result == -ESHUTDOWN);
		assert(!steady || f->result == -ESHUTDOWN);
		return;
	}
	assert(f->bytes.len == f->len);
	for (size_t i = 1; i < f->len; i++)
		assert(f->bytes.at[i] == f->bytes.at[0]);
}

static void on_done(struct fetch *f)
{
	struct ask *a = dl_container_of(f, struct ask, fetch);
	struct asker *by = a->asker;

	check(f, (f->id - by->first) % 2 == 0);
	buf_free(&f->bytes);
	DL_HOLD(&by->lock);
	by->left--;
	if (f->result == 0)
		by->good++;
	else
		by->other++;
	pthread_cond_signal(&by->changed);
}

static void ask_one(struct asker *by, struct ask *a)
{
	unsigned file = (unsigned)rand_r(&by->seed) % FILES;

	*a = (struct ask){
		.fetch = { .id = by->first + file, .len = 9000, .done = on_done,
			   .due = (unsigned)rand_r(&by->seed) % 100 },
		.asker = by,
	};
	if (rand_r(&by->seed) % 3 == 0) {
		a->fetch.offset = (unsigned)rand_r(&by->seed) % 9000;
		a->fetch.len -= a->fetch.offset;
	}
	dl_lock_take(&by->lock);
	by->left++;
	dl_lock_drop(&by->lock);
	assert(source_submit(by->source, &a->fetch) == 0);
	if (rand_r(&by->seed) % 5 == 0)
		source_hurry(by->source, by->first + file, 0);
	if (rand_r(&by->seed) % 50 == 0)
		current = !current;
	if (rand_r(&by->seed) % 50 == 0)
		fake_disk_fail(&disk, rand_r(&by->seed) % 2 ? -EIO : 0);
}

static void *ask(void *arg)
{
	struct asker *by = arg;

	for (unsigned i = 0; i < ASKS; i++)
		ask_one(by, &by->asks[i]);
	return NULL;
}

static void wait_until_done(struct asker *by)
{
	uint64_t deadline = clock_now() + PATIENCE;

	DL_HOLD(&by->lock);
	while (by->left > 0)
		assert(dl_cond_wait_until(&by->changed, &by->lock, deadline));
}

static void measured(void *context) { (void)context; }

/* wait: for every fetch before the source is closed. */
static void run(struct manifest *m, sample_id first, const char *layers, bool wait, bool kept)
{
	struct meter meter;
	struct source_options options = {
		.manifest = m, .layers = layers, .current = &current, .meter = &meter,
	};
	struct asker askers[ASKERS];
	pthread_t threads[ASKERS];
	unsigned good = 0, other = 0;
	struct source *s;

	options.disk = kept ? &disk : NULL;
	meter_init(&meter, measured, NULL);
	assert(source_open(&options, &s) == 0);
	for (unsigned i = 0; i < ASKERS; i++) {
		askers[i] = (struct asker){
			.source = s, .seed = i + 1, .first = first,
			.asks = calloc(ASKS, sizeof(struct ask)),
		};
		assert(askers[i].asks);
		dl_lock_init(&askers[i].lock);
		dl_cond_init(&askers[i].changed);
		assert(pthread_create(&threads[i], NULL, ask, &askers[i]) == 0);
	}
	for (unsigned i = 0; i < ASKERS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < ASKERS && wait; i++)
		wait_until_done(&askers[i]);
	source_close(s);
	meter_fini(&meter);
	for (unsigned i = 0; i < ASKERS; i++) {
		assert(askers[i].left == 0);
		good += askers[i].good;
		other += askers[i].other;
		pthread_cond_destroy(&askers[i].changed);
		dl_lock_fini(&askers[i].lock);
		free(askers[i].asks);
	}
	printf("%s: %u good, %u not\n", layers, good, other);
	assert(good + other == ASKERS * ASKS);
	assert(!wait || good >= ASKERS * ASKS / 4);    /* half of the files never change */
}

int main(void)
{
	struct manifest_options options = { .source = folder };
	char command[128];
	struct manifest *m;
	pthread_t writer;
	node_id node;
	int root;

	fake_disk_init(&disk);
	assert(mkdtemp(folder));
	root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert(root >= 0);
	for (unsigned i = 0; i < FILES; i++)
		write_version(root, i, i);
	assert(manifest_open(&options, &m) == 0);
	/* A listing is sorted by name, so fNN is sample first + NN. */
	assert(manifest_resolve(m, "f00", &node) == 0);
	assert(pthread_create(&writer, NULL, change_files, &root) == 0);
	run(m, node_sample(node), "uring", true, false);
	run(m, node_sample(node), "threads", true, false);
	run(m, node_sample(node), "uring", false, false);
	run(m, node_sample(node), "threads", false, false);
	run(m, node_sample(node), "slow:latency=1ms,parallel=16|uring", false, false);
	run(m, node_sample(node), "threads", true, true);
	run(m, node_sample(node), "slow:latency=1ms,parallel=16|threads", false, true);
	fake_disk_fini(&disk);
	stop_writing = true;
	pthread_join(writer, NULL);
	manifest_close(m);
	close(root);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert(system(command) == 0);
	return 0;
}
