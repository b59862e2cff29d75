/* What may have to ask a server for each call is opened and closed by threads of the kernel's: it
 * may hang, and the one that makes all calls would hang with it. */
#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "tests/lib/ask.h"
#include "tests/lib/dataset.h"

static _Thread_local unsigned closed;  /* by this thread */
static unsigned closed_by_source;

int fstatfs(int fd, struct statfs *ret)
{
	int r = (int)syscall(SYS_fstatfs, fd, ret);

	ret->f_type = NFS_SUPER_MAGIC;
	return r;
}

int close(int fd)
{
	closed++;
	return (int)syscall(SYS_close, fd);
}

static void on_source_thread(struct fetch *f)
{
	closed_by_source = closed;
	on_done(f);
}

Test(source_remote, is_closed_by_nobody_whom_others_wait_for)
{
	struct source *s;
	struct ask a;

	asks_begin();
	tree = tree_new();
	tree_file(&tree, "file", 5000);
	m = open_manifest(&tree);
	cr_assert_eq(source_open(&(struct source_options){ .manifest = m, .layers = "uring" }, &s),
		     0);
	a = (struct ask){ .fetch = { .id = node_sample(node_at("file")), .len = 5000,
				     .done = on_source_thread } };
	cr_assert_eq(source_submit(s, &a.fetch), 0);
	wait_done(&a);
	cr_expect_eq(a.fetch.result, 0);
	cr_expect_eq(closed_by_source, 0);
	buf_free(&a.fetch.bytes);
	source_close(s);
	dataset_drop();
}
