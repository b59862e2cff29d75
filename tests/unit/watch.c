/* Opens of our own are not taken for readers, however late they are reported. */
#include <sys/syscall.h>

#include "fs/watch/watch.h"
#include "tests/lib/engine_stage.h"

#define OPENS 2000

static struct serve_options options = { .mountpoint = tree.root };
static struct serve s = { .options = &options };
static struct watch w = { .serve = &s };
static _Atomic bool held;              /* the thread that takes reports */
static _Atomic unsigned opened;

ssize_t read(int fd, void *at, size_t size)
{
	while (held)
		usleep(1000);
	return syscall(SYS_read, fd, at, size);
}

static void open_one(sample_id id)
{
	char name[16];
	int fd;

	snprintf(name, sizeof(name), "f%02u", id - f);
	fd = open(tree_path(&tree, name), O_RDONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	close(fd);
}

static void *open_own(void *arg)
{
	(void)arg;
	for (opened = 0; opened < OPENS; opened++) {
		watch_own_open(&w, f + opened % SMALL);
		open_one(f + opened % SMALL);
	}
	return NULL;
}

Test(watch, own_opens_wait_for_whom_they_are_reported_to)
{
	pthread_t thread;

	begin(MEMORY, 4);
	s.manifest = m;
	s.engine = engine;
	w.ops = &watch_inotify;
	cr_assert_eq(w.ops->start(&w), 0);
	open_one(f);
	wait_until(stats_get(&stats.opens) == 1);

	held = true;
	cr_assert_eq(pthread_create(&thread, NULL, open_own, NULL), 0);
	wait_until(opened >= 256);
	usleep(200000);                /* who does not wait is through by then */
	held = false;
	pthread_join(thread, NULL);

	open_one(f + 1);
	wait_until(stats_get(&stats.opens) >= 2);
	settle();
	cr_expect_eq(stats_get(&stats.opens), 2);
	w.ops->stop(&w);
	watch_own_open(&w, f);         /* nobody is waited for any more */
	w.ops->free(&w);
	end();
}
