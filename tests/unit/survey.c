/* Keeping what is served of files: a save that failed is made up for.  And who is told that he
 * reads what was replaced. */
#include <dirent.h>
#include <dlfcn.h>
#include <semaphore.h>
#include <time.h>

#include "fs/fuse.h"
#include "fs/notify.h"
#include "fs/survey.h"
#include "tests/lib/dataset.h"

Test(survey, a_save_that_failed_is_tried_again)
{
	static char folder[128], file[160];
	struct serve_options options = { .served_file = file };
	struct served_options o = { .want = { .quality_ratio = 0.95 }, .match = "" };
	struct serve s = { .options = &options };

	tree = tree_new();
	tree_file(&tree, "a.jpg", 1000);
	snprintf(folder, sizeof(folder), "%s.later", tree.root);
	snprintf(file, sizeof(file), "%s/served", folder);
	m = open_manifest(&tree);
	o.manifest = s.manifest = m;
	cr_assert_eq(manifest_scan(m, 1, NULL), 0);
	cr_assert_eq(served_open(&o, &s.served), 0);
	served_limit(s.served, 4000);
	cr_assert_eq(served_tell(s.served, node_sample(node_at("a.jpg")), RECODE_DAMAGED, NULL), 0);
	survey_save_served(&s);
	cr_assert_lt(access(file, F_OK), 0, "there is no folder yet");

	cr_assert_eq(mkdir(folder, 0700), 0);
	survey_save_served(&s);
	cr_assert_eq(access(file, F_OK), 0, "nothing was saved");

	cr_assert_eq(unlink(file), 0);
	survey_save_served(&s);
	cr_assert_lt(access(file, F_OK), 0, "what is saved and did not change is left alone");
	cr_assert_eq(rmdir(folder), 0);
	served_close(s.served);
	dataset_drop();
}

static sem_t go, begun, answered;
static struct serve served_by;
static bool meanwhile;                 /* while a folder is read, a refresh of all is at it, too */
static _Atomic bool forgotten;         /* by the kernel: the name that stood for the old version */
static bool was_forgotten;             /* ... when the reader was answered */

DIR *fdopendir(int fd)
{
	DIR *(*next)(int fd) = (DIR *(*)(int))dlsym(RTLD_NEXT, "fdopendir");

	if (DL_TAKE(meanwhile))
		cr_assert_eq(manifest_refresh(m, 1, true, notify_change(served_by.notify), NULL),
			     1);
	return next(fd);
}

int fuse_lowlevel_notify_inval_entry(struct fuse_session *se, fuse_ino_t parent, const char *name,
				     size_t len)
{
	(void)se;
	(void)parent;
	(void)name;
	(void)len;
	usleep(100000);                /* whoever lists the folder has it locked */
	forgotten = true;
	return 0;
}

static void wait_for_go(struct errand *e, struct serve *s)
{
	(void)e;
	(void)s;
	sem_post(&begun);
	sem_wait(&go);
}

static void on_answer(struct stale_reader *r)
{
	(void)r;
	was_forgotten = forgotten;
	sem_post(&answered);
}

/* Somebody has a.jpg open, and now it is another file. */
static void begin_to_read(struct stale_reader *reader)
{
	struct serve *s = &served_by;

	tree = tree_new();
	tree_file(&tree, "a.jpg", 1000);
	s->manifest = m = open_manifest(&tree);
	cr_assert_eq(manifest_scan(m, 1, NULL), 0);
	*reader = (struct stale_reader){ .answer = on_answer, .id = node_sample(node_at("a.jpg")) };
	tree_file(&tree, "a.jpg", 2000);
	cr_assert(sem_init(&go, 0, 0) == 0 && sem_init(&begun, 0, 0) == 0 &&
		  sem_init(&answered, 0, 0) == 0);
	cr_assert_eq(errands_start(s, &s->errands), 0);
	cr_assert_eq(errands_start(s, &s->awaited), 0);
	cr_assert_eq(notify_start(s, &s->notify), 0);
}

static void wait_for_answer(const char *what)
{
	struct timespec deadline;

	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += 30;
	cr_assert_eq(sem_timedwait(&answered, &deadline), 0, "%s", what);
}

static void end_reading(void)
{
	struct serve *s = &served_by;

	errands_stop(s->errands);
	errands_stop(s->awaited);
	notify_stop(s->notify);
	errands_free(s->errands);
	errands_free(s->awaited);
	notify_free(s->notify);
	dataset_drop();
}

/* A refresh of a large source takes minutes. */
Test(survey, who_reads_what_was_replaced_waits_for_no_other_errand)
{
	struct errand busy = { .run = wait_for_go };
	struct stale_reader reader;

	begin_to_read(&reader);
	cr_assert_eq(manifest_refresh(m, 1, true, NULL, NULL), 1);
	cr_assert_eq(errands_post(served_by.errands, &busy), 0);
	sem_wait(&begun);
	cr_assert(survey_stale_read(&served_by, &reader));
	wait_for_answer("it waits for what others asked for");
	sem_post(&go);
	end_reading();
}

/* Else his next open would be of the old version once more. */
Test(survey, who_reads_what_was_replaced_waits_until_the_kernel_knows_whoever_was_first)
{
	struct stale_reader reader;

	begin_to_read(&reader);
	meanwhile = true;
	cr_assert(survey_stale_read(&served_by, &reader));
	wait_for_answer("nobody answers");
	cr_assert(!meanwhile, "the folder was not read");
	cr_assert(was_forgotten);
	end_reading();
}
