/* A folder of the test's own below /tmp, with what the test puts there. */
#pragma once
#include <assert.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree { char root[64]; };

static inline struct tree tree_new(void)
{
	struct tree t = { "/tmp/dlfs-tree-XXXXXX" };
	char *made = mkdtemp(t.root);

	assert(made);
	assert(chmod(t.root, 0755) == 0);
	return t;
}

/* The path of a name in the tree; good until the next but seven. */
static inline const char *tree_path(const struct tree *t, const char *name)
{
	static _Thread_local char paths[8][PATH_MAX];
	static _Thread_local unsigned turn;
	char *path = paths[turn++ % 8];

	snprintf(path, PATH_MAX, "%s/%s", t->root, name);
	return path;
}

static inline void tree_folder(const struct tree *t, const char *name)
{
	int r = mkdir(tree_path(t, name), 0755);

	assert(r == 0);
	(void)r;
}

static inline void tree_file(const struct tree *t, const char *name, size_t size)
{
	int fd = open(tree_path(t, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert(fd >= 0);
	assert(ftruncate(fd, (off_t)size) == 0);
	close(fd);
}

static inline void tree_bytes(const struct tree *t, const char *name, const void *at, size_t len)
{
	int fd = open(tree_path(t, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert(fd >= 0);
	assert(write(fd, at, len) == (ssize_t)len);
	close(fd);
}

static inline void tree_link(const struct tree *t, const char *name, const char *text)
{
	int r = symlink(text, tree_path(t, name));

	assert(r == 0);
	(void)r;
}

static inline int tree_drop_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static inline void tree_drop(const struct tree *t, const char *name)
{
	int r = nftw(tree_path(t, name), tree_drop_one, 16, FTW_DEPTH | FTW_PHYS);

	assert(r == 0);
	(void)r;
}

static inline void tree_move(const struct tree *t, const char *from, const char *to)
{
	int r = rename(tree_path(t, from), tree_path(t, to));

	assert(r == 0);
	(void)r;
}
