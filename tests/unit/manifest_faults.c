/* A source that cannot be read, or no longer, or not all of it. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/lib/manifest_stage.h"

TestSuite(manifest_faults, .init = set_up, .fini = dataset_drop);

/* The root's listing would need more folders than there may be: nothing of it is seen, and what
 * was written is written again. */
Test(manifest_faults, a_listing_that_does_not_fit_leaves_nothing_behind)
{
	uint32_t most = m->max_folders;
	struct attr a;

	m->max_folders = 2;
	cr_expect_eq(manifest_lookup(m, NODE_ROOT, "a", &a), -ENOSPC);
	cr_expect_eq(manifest_scan(m, 2, NULL), -ENOSPC);
	cr_expect(!manifest_scanned(m));
	cr_expect_eq(m->head->folders, 1);
	cr_expect_eq(manifest_entries(m), 0);
	m->max_folders = most;
	cr_expect_eq(manifest_scan(m, 2, NULL), 0);
	for (uint32_t i = 1; i < m->head->folders; i++)
		cr_expect(is_folder(&m->entries[m->folders[i].entry]) &&
			  m->entries[m->folders[i].entry].size == i);
	expect_sums(4, 4123);
}

static void expect_closed(mode_t mode)
{
	struct manifest_dirent d;
	struct attr a;

	cr_assert_eq(chmod(tree_path(&tree, "a"), mode), 0);
	if (getuid() == 0)
		cr_assert_eq(seteuid(65534), 0);
	cr_expect_geq(refresh(true), 1);
	cr_expect_eq(manifest_lookup(m, node_at("a"), "one", &a), -EACCES);
	cr_expect_eq(manifest_next(m, node_at("a"), 0, &d), -EACCES);
	cr_assert_eq(manifest_attr(m, node_at("a"), &a), 0);
	cr_expect_eq(a.mode, 0040000 | mode);
	expect_sums(1, 4000);
	if (getuid() == 0)
		cr_assert_eq(seteuid(0), 0);
	cr_assert_eq(chmod(tree_path(&tree, "a"), 0755), 0);
	cr_expect_geq(refresh(false), 1);
	expect_sums(4, 4123);
}

Test(manifest_faults, a_folder_that_may_not_be_read_or_searched_is_known_as_such)
{
	expect_closed(0);
	expect_closed(0444);
}

Test(manifest_faults, a_folder_that_became_a_link_is_not_followed)
{
	struct attr a;
	node_id b;

	cr_assert_eq(manifest_lookup(m, NODE_ROOT, "b", &a), 0);
	b = a.node;
	tree_drop(&tree, "b");
	tree_link(&tree, "b", "a");
	cr_expect_eq(manifest_lookup(m, b, "one", &a), -ELOOP);
}

/* --- Calls that fail in one thread ------------------------------------------------------- */

struct failing {
	uint32_t call, error;
	uint32_t flag;                 /* only with this third argument; 0: always */
	void (*run)(void);
};

static void *run_failing(void *arg)
{
	const struct failing *f = arg;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, f->call, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, f->flag, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | f->error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	if (f->flag == 0)
		code[3] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JA, 0, 0, 0);
	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
			   &(struct sock_fprog){ DL_COUNT(code), code }), 0);
	f->run();
	return NULL;
}

static void with(struct failing f)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, run_failing, &f), 0);
	cr_assert_eq(pthread_join(thread, NULL), 0);
}

static void scan_by_steps(void)
{
	node_id b = node_at("b");
	struct attr a;

	tree_drop(&tree, "b");
	tree_link(&tree, "b", "a");
	cr_expect_eq(manifest_lookup(m, b, "one", &a), -ENOTDIR, "the link is not followed");
	cr_assert_eq(manifest_scan(m, 1, NULL), 0);
	expect_sums(4, 4123);
}

Test(manifest_faults, does_without_openat2)
{
	with((struct failing){ SYS_openat2, ENOSYS, 0, scan_by_steps });
}

Test(manifest_faults, does_without_openat2_where_it_is_forbidden)
{
	with((struct failing){ SYS_openat2, EPERM, 0, scan_by_steps });
}

static void scan_nothing(void)
{
	struct attr a;

	cr_expect_eq(manifest_lookup(m, NODE_ROOT, "top", &a), -EIO);
	cr_expect_eq(manifest_scan(m, 1, NULL), -EIO);
	cr_expect(!manifest_scanned(m));
}

static void scan_below_root(void)
{
	cr_expect_eq(manifest_scan(m, 1, NULL), 0);
	expect_sums(1, 4000);
}

static void refresh_nothing(void)
{
	cr_expect_eq(manifest_refresh_folder(m, node_at("a"), NULL), -EIO);
}

Test(manifest_faults, a_passing_error_is_not_remembered)
{
	struct attr a;

	with((struct failing){ SYS_getdents64, EIO, 0, scan_nothing });
	cr_expect_eq(manifest_lookup(m, NODE_ROOT, "top", &a), 0);
	with((struct failing){ SYS_getdents64, EIO, 0, scan_below_root });
	cr_expect_eq(manifest_lookup(m, node_at("a"), "one", &a), 0);
	cr_expect_eq(manifest_scan(m, 1, NULL), 0);
	with((struct failing){ SYS_getdents64, EIO, 0, refresh_nothing });
	expect_sums(4, 4123);
}

static void scan_without_entries(void)
{
	cr_expect_eq(manifest_scan(m, 1, NULL), 0);
	expect_sums(0, 0);
}

/* Long before now, so that only what the listing itself says makes it be read again. */
static void make_old(const char *name)
{
	struct timespec times[2] = { { .tv_sec = 5 }, { .tv_sec = 5 } };

	cr_assert_eq(utimensat(AT_FDCWD, tree_path(&tree, name), times, 0), 0);
}

Test(manifest_faults, one_bad_entry_costs_no_other_and_is_looked_for_again)
{
	make_old("");
	with((struct failing){ SYS_statx, EIO, AT_SYMLINK_NOFOLLOW, scan_without_entries });
	cr_expect_eq(m->listings[0].error, 0);
	cr_expect_eq(m->listings[0].read_at, 0);
	cr_expect_geq(refresh(false), 1);
	expect_sums(4, 4123);
}
