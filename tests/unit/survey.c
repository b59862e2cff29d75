/* Keeping what is served of files: a save that failed is made up for. */
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
