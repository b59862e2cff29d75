/* A small dataset, and what its manifest says of it.  For one test program only. */
#pragma once
#include "prefetch/manifest/internal.h"
#include "tests/lib/dataset.h"

/* r/: a/{one,two,sub/deep}, b/ (empty), link -> a/one, top */
static inline void set_up(void)
{
	tree = tree_new();
	tree_folder(&tree, "a");
	tree_file(&tree, "a/one", 100);
	tree_file(&tree, "a/two", 20);
	tree_folder(&tree, "a/sub");
	tree_file(&tree, "a/sub/deep", 3);
	tree_folder(&tree, "b");
	tree_link(&tree, "link", "a/one");
	tree_file(&tree, "top", 4000);
	m = open_manifest(&tree);
}

static inline void expect_sums(uint64_t files, uint64_t bytes)
{
	struct manifest_usage u = manifest_usage(m);

	cr_expect_eq(u.files, files, "%ju files, not %ju", (uintmax_t)u.files, (uintmax_t)files);
	cr_expect_eq(u.bytes, bytes, "%ju bytes, not %ju", (uintmax_t)u.bytes, (uintmax_t)bytes);
}

static inline int refresh(bool files)
{
	return manifest_refresh(m, 2, files, NULL, NULL);
}
