#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "tests/lib/tree.h"

static bool no_locks;

/* Before that of libc. */
int flock(int fd, int operation)
{
	if (no_locks) {
		errno = ENOSYS;
		return -1;
	}
	return (int)syscall(SYS_flock, fd, operation);
}

static struct tree tree;
static bool meanwhile;                 /* while one is at it, another one is */

int fsync(int fd)
{
	if (meanwhile) {
		meanwhile = false;
		cr_assert_eq(file_replace(tree_path(&tree, "f"), (struct bytes){ "y", 1 }), 0);
	}
	return (int)syscall(SYS_fsync, fd);
}

static void begin(void)
{
	tree = tree_new();
}

static void end(void)
{
	tree_drop(&tree, "");
}

TestSuite(file, .init = begin, .fini = end);

Test(file, sees_which_part_is_cached)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int fd;

	tree_file(&tree, "f", 4 * page);
	fd = open(tree_path(&tree, "f"), O_RDWR | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	cr_assert_eq(pwrite(fd, "x", 1, (off_t)page), 1);
	if (file_cached(fd, 0, 0) == -ENOSYS)
		cr_skip_test("Linux before 6.5");
	cr_expect_eq(file_cached(fd, 0, 0), 1);
	cr_expect_eq(file_cached(fd, page, page), 1);
	cr_expect_eq(file_cached(fd, 2 * page, page), 0);
	close(fd);
	cr_expect_eq(file_cached(-1, 0, 0), -EBADF);
}

Test(file, gives_as_much_as_is_asked_for)
{
	static const struct { size_t size, most, want; } cases[] = {
		{ 0, SIZE_MAX, 0 }, { 1, SIZE_MAX, 1 }, { 4095, SIZE_MAX, 4095 },
		{ 4096, SIZE_MAX, 4096 }, { 100000, SIZE_MAX, 100000 },
		{ 100, 99, 99 }, { 100, 100, 100 }, { 100, 101, 100 }, { 100000, 50000, 50000 },
		{ 100, 0, 0 },
	};

	for (size_t i = 0; i < DL_COUNT(cases); i++) {
		dl_cleanup(buf_free) struct buf text = BUF_EMPTY;

		tree_file(&tree, "f", cases[i].size);
		cr_assert_eq(file_read(tree_path(&tree, "f"), cases[i].most, &text), 0);
		cr_assert_eq(text.len, cases[i].want, "%zu of %zu", text.len, cases[i].size);
		cr_assert_eq(text.at[text.len], 0);
	}
}

Test(file, errors_leave_nothing)
{
	struct buf text = BUF_EMPTY;

	cr_assert_eq(file_read(tree_path(&tree, "none"), SIZE_MAX, &text), -ENOENT);
	cr_assert_eq(file_read(tree.root, SIZE_MAX, &text), -EISDIR);
	cr_assert_null(text.at);
}

/* A pipe gives what it has, not what is asked for. */
Test(file, fills_from_pieces)
{
	char text[8] = "";
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	if (fork() == 0) {
		for (const char *c = "piece"; *c; c++)
			if (write(ends[1], c, 1) != 1)
				_exit(1);
		_exit(0);
	}
	close(ends[1]);
	cr_assert_eq(file_fill(ends[0], text, 2), 2);
	cr_assert_eq(file_fill(ends[0], text + 2, sizeof(text) - 2), 3);
	cr_assert_str_eq(text, "piece");
	close(ends[0]);
}

static unsigned files_there(void)
{
	DIR *d = opendir(tree.root);
	unsigned count = 0;

	cr_assert_not_null(d);
	while (readdir(d))
		count++;
	closedir(d);
	return count - 2;              /* "." and ".." */
}

static void expect(const char *want)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;

	cr_assert_eq(file_read(tree_path(&tree, "f"), SIZE_MAX, &text), 0);
	cr_assert_str_eq((char *)text.at, want);
}

Test(file, is_replaced_as_a_whole)
{
	char a[] = "one, ", b[] = "two";
	struct iovec parts[] = { { a, 5 }, { NULL, 0 }, { b, 3 } };

	tree_file(&tree, "f", 100);
	cr_assert_eq(file_replace_parts(tree_path(&tree, "f"), parts, DL_COUNT(parts)), 0);
	expect("one, two");
	cr_assert_eq(file_replace(tree_path(&tree, "f"), (struct bytes){ "x", 1 }), 0);
	expect("x");
	cr_assert_eq(file_replace(tree_path(&tree, "f"), (struct bytes){ NULL, 0 }), 0);
	expect("");
	cr_assert_eq(files_there(), 1u);
}

/* Who was killed before had written more. */
Test(file, what_a_killed_process_left_is_used_again)
{
	tree_file(&tree, "f", 100);
	tree_file(&tree, "f.new", 100000);
	cr_assert_eq(file_replace(tree_path(&tree, "f"), (struct bytes){ "x", 1 }), 0);
	expect("x");
	cr_assert_eq(files_there(), 1u);
}

Test(file, two_do_not_replace_it_at_once)
{
	struct stat st;
	int fd;

	tree_file(&tree, "f.new", 100);
	fd = open(tree_path(&tree, "f.new"), O_WRONLY | O_CLOEXEC);
	cr_assert_eq(flock(fd, LOCK_EX), 0);
	cr_assert_eq(file_replace(tree_path(&tree, "f"), (struct bytes){ "x", 1 }), -EBUSY);
	cr_assert(fstat(fd, &st) == 0 && st.st_size == 100 && st.st_nlink == 1);
	close(fd);
	cr_assert_eq(file_replace(tree_path(&tree, "f"), (struct bytes){ "x", 1 }), 0);
	expect("x");
	cr_assert_eq(files_there(), 1u);
}

/* As Lustre is mounted often, and NFS sometimes. */
Test(file, is_replaced_where_there_are_no_locks)
{
	no_locks = true;
	tree_file(&tree, "f", 100);
	cr_assert_eq(file_replace(tree_path(&tree, "f"), (struct bytes){ "x", 1 }), 0);
	expect("x");
	cr_assert_eq(files_there(), 1u);
}

Test(file, two_replace_it_at_once_where_there_are_no_locks)
{
	no_locks = meanwhile = true;
	cr_assert_eq(file_replace(tree_path(&tree, "f"), (struct bytes){ "x", 1 }), 0);
	expect("x");
	cr_assert_eq(files_there(), 1u);
}

/* Neither by name nor half written. */
Test(file, that_cannot_be_replaced_stays)
{
	struct bytes bytes = { "new", 3 };

	cr_assert_eq(file_replace(tree_path(&tree, "no/folder"), bytes), -ENOENT);
	tree_folder(&tree, "folder");
	cr_assert_eq(file_replace(tree_path(&tree, "folder"), bytes), -EISDIR);
	cr_assert_eq(files_there(), 1u);
}
