/* A mount that fails half-way leaves nothing behind. */
#include <criterion/criterion.h>
#include <string.h>

#include "fs/host/host.h"
#include "fs/mount.h"
#include "tests/lib/open_instead.h"

static bool unreadable;

/* The list of mounts cannot be read. */
int open_instead(const char *path)
{
	return unreadable && strcmp(path, "/proc/self/mountinfo") == 0 ? EMFILE : 0;
}

Test(mount, nothing_stays_that_cannot_be_seen)
{
	char folder[] = "/tmp/dlfs-test-XXXXXX", error[REFUSE_MAX] = "";
	dl_cleanup(host_mount_fini) struct host_mount found = { 0 };
	struct config c = { .source = folder, .mountpoint = folder };
	struct mount *m = NULL;

	if (access("/dev/fuse", R_OK | W_OK) < 0 || geteuid() != 0)
		cr_skip_test("only for who may mount");
	cr_assert(mkdtemp(folder));
	unreadable = true;
	cr_assert_eq(mount_open(&c, &m, error), -EMFILE, "%s", error);
	unreadable = false;
	cr_assert_null(m);
	cr_assert(strstr(error, strerror(EMFILE)), "%s", error);
	cr_assert_eq(host_mounted(folder, &found), 0, "it is mounted still");

	cr_assert_eq(mount_open(&c, &m, error), 0, "%s", error);
	mount_close(m);
	cr_assert_eq(host_mounted(folder, &found), 0, "it was not closed");
	cr_assert_eq(rmdir(folder), 0);
}
