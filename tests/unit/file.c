#include <criterion/criterion.h>
#include <string.h>

#include "base/file.h"
#include "tests/lib/tree.h"

static struct tree tree;

static void begin(void)
{
	tree = tree_new();
}

static void end(void)
{
	tree_drop(&tree, "");
}

TestSuite(file, .init = begin, .fini = end);

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
