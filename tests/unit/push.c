/* Pushing and dropping, while the mount stops. */
#include <semaphore.h>

#include "fs/push.h"
#include "tests/lib/dataset.h"
#include "tests/lib/open_instead.h"

static struct serve s;
static sem_t opening, finished;
static _Atomic unsigned opens, answered;

/* The mount's files take a while to open. */
int open_instead(const char *path)
{
	if (strncmp(path, "/the-mount/", 11) != 0)
		return 0;
	opens++;
	sem_post(&opening);
	usleep(50000);
	answered++;
	return ENOENT;
}

static void note(struct sink_job *j)
{
	(void)j;
	sem_post(&finished);
}

static void set_up(void)
{
	static struct serve_options options = { .mountpoint = "/the-mount" };

	tree = tree_new();
	tree_file(&tree, "a.jpg", 10);
	m = open_manifest(&tree);
	cr_assert_eq(manifest_scan(m, 1, NULL), 0);
	sem_init(&opening, 0, 0);
	sem_init(&finished, 0, 0);
	s = (struct serve){ .options = &options, .manifest = m };
	cr_assert_eq(push_start(&s, 2, &s.push), 0);
}

static void tear_down(void)
{
	push_stop(s.push);
	dataset_drop();
}

TestSuite(push, .init = set_up, .fini = tear_down);

Test(push, the_kernel_is_not_called_once_it_is_quiet)
{
	struct sink *sink = push_sink(s.push);
	sample_id id = node_sample(node_at("a.jpg"));
	struct sink_job first = { .id = id, .finished = note }, second = first, third = first;

	push_mounted(s.push);
	sink->drop(sink, &first);
	sem_wait(&opening);
	push_quieten(s.push);
	cr_assert_eq(answered, 1, "an open is under way");
	sink->drop(sink, &second);
	third.entry = (struct entry *)&s;      /* is not looked at */
	sink->push(sink, &third);
	for (int i = 0; i < 3; i++)
		sem_wait(&finished);
	cr_assert_eq(opens, 1);
	cr_assert_eq(second.result, 0);
	cr_assert_eq(third.result, -ESHUTDOWN);
}

Test(push, nothing_is_opened_before_there_is_a_mount)
{
	struct sink *sink = push_sink(s.push);
	struct sink_job drop = { .id = node_sample(node_at("a.jpg")), .finished = note };

	sink->drop(sink, &drop);
	sem_wait(&finished);
	cr_assert_eq(opens, 0);
	push_mounted(s.push);
	sink->drop(sink, &drop);
	sem_wait(&finished);
	cr_assert_eq(opens, 1);
}
