/* Keeping what is served of files: a save that failed is made up for.  And who is told that he
 * reads what was replaced. */
#include <semaphore.h>
#include <time.h>

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
	sem_post(&answered);
}

/* A refresh of a large source takes minutes. */
Test(survey, who_reads_what_was_replaced_waits_for_no_other_errand)
{
	struct stale_reader reader = { .answer = on_answer };
	struct errand busy = { .run = wait_for_go };
	struct timespec deadline;
	struct serve s = { 0 };

	tree = tree_new();
	tree_file(&tree, "a.jpg", 1000);
	s.manifest = m = open_manifest(&tree);
	cr_assert_eq(manifest_scan(m, 1, NULL), 0);
	reader.id = node_sample(node_at("a.jpg"));
	tree_file(&tree, "a.jpg", 2000);
	cr_assert_eq(manifest_refresh(m, 1, true, NULL, NULL), 1);
	cr_assert(sem_init(&go, 0, 0) == 0 && sem_init(&begun, 0, 0) == 0 &&
		  sem_init(&answered, 0, 0) == 0);
	cr_assert_eq(errands_start(&s, &s.errands), 0);
	cr_assert_eq(errands_start(&s, &s.awaited), 0);
	cr_assert_eq(notify_start(&s, &s.notify), 0);
	cr_assert_eq(errands_post(s.errands, &busy), 0);
	sem_wait(&begun);
	cr_assert(survey_stale_read(&s, &reader));
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += 30;
	cr_assert_eq(sem_timedwait(&answered, &deadline), 0, "it waits for what others asked for");
	sem_post(&go);
	errands_stop(s.errands);
	errands_stop(s.awaited);
	notify_stop(s.notify);
	errands_free(s.errands);
	errands_free(s.awaited);
	notify_free(s.notify);
	dataset_drop();
}
