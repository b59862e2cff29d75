/* A tree and its manifest, for one test program: its set_up fills the tree between the two. */
#pragma once
#include <criterion/criterion.h>

#include "prefetch/manifest/manifest.h"
#include "tests/lib/tree.h"

static struct tree tree;
static struct manifest *m;

static inline struct manifest *open_manifest(const struct tree *of)
{
	struct manifest *ret = NULL;

	cr_assert_eq(manifest_open(&(struct manifest_options){ .source = of->root }, &ret), 0);
	return ret;
}

static inline void dataset_drop(void)
{
	manifest_close(m);
	tree_drop(&tree, "");
}

static inline node_id node_in(struct manifest *in, const char *path)
{
	node_id node = 0;

	cr_assert_eq(manifest_resolve(in, path, &node), 0, "%s", path);
	return node;
}

static inline node_id node_at(const char *path)
{
	return node_in(m, path);
}
