/* What may not be read is found out without asking for each of many files. */
#include "base/log.h"
#include "fs/unreadable.h"
#include "tests/lib/dataset.h"

#define NOBODY 65534
#define FILES 1100
#define ASKED 1000

static unsigned asked, open_to_us;     /* the first so many may be read, whatever their modes say */

int faccessat(int folder, const char *path, int mode, int flags)
{
	(void)folder;
	(void)path;
	(void)mode;
	(void)flags;
	errno = EACCES;
	return asked++ < open_to_us ? 0 : -1;
}

static uint64_t count_files(void)
{
	static struct stats stats;
	struct serve s = { .stats = &stats };
	char name[16];

	tree = tree_new();
	for (unsigned i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "%u", i);
		tree_file(&tree, name, 1);
		cr_assert_eq(chmod(tree_path(&tree, name), 0), 0);
	}
	s.manifest = m = open_manifest(&tree);
	cr_assert_eq(manifest_scan(m, 1, NULL), 0);
	cr_assert(geteuid() != 0 || seteuid(NOBODY) == 0);
	log_set_level(LOG_LEVEL_ERROR);
	unreadable_look(&s);
	cr_assert_eq(seteuid(getuid()), 0);
	dataset_drop();
	return stats_get(&stats.unreadable_files);
}

Test(unreadable, modes_are_believed_if_those_that_were_asked_for_say_the_same)
{
	cr_expect_eq(count_files(), FILES);
	cr_expect_eq(asked, ASKED);
}

Test(unreadable, modes_are_not_believed_where_lists_say_otherwise)
{
	open_to_us = ASKED - 10;
	cr_expect_eq(count_files(), 10);
	cr_expect_eq(asked, ASKED);
}
