/* A store for each test, and what happens to its files behind its back. */
#pragma once
#include <criterion/criterion.h>

#include "base/log.h"
#include "tests/lib/disk_stage.h"

static struct tree tree;
static struct disk *d;
static struct disk_options options;
static char folder[PATH_MAX];

static inline void open_bounded(uint64_t size, uint64_t records)
{
	int pid;

	options = (struct disk_options){ .folder = folder, .size = size, .records = records,
					 .zstd = DISK_RAW };
	cr_assert_eq(disk_open(&options, &d, &pid), 0);
}

static inline void open_disk(uint64_t size) { open_bounded(size, 0); }

/* What waits is written first: a close waits for the disk for two seconds, and then drops it. */
static inline void reopen(void)
{
	writer_drain(d);
	disk_close(d);
	d = NULL;
	open_bounded(options.size, options.records);
}

static inline void set_up(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	tree = tree_new();
	snprintf(folder, sizeof(folder), "%s", tree_path(&tree, "s"));
	open_disk(64 * MiB);
}

static inline void tear_down(void)
{
	disk_close(d);
	d = NULL;
	tree_drop(&tree, "");
}

/* --- A dataset that changes ---------------------------------------------------------------- */

struct span { uint64_t first, count; };        /* samples: so many, from this number on */

static inline int list_span(void *context, struct buf *ret)
{
	const struct span *all = context;

	for (uint64_t n = all->first; n < all->first + all->count; n++) {
		uint32_t hash = (uint32_t)(key_at(SOURCE, n).hash[1] >> 32);

		cr_assert_eq(buf_append(ret, &hash, sizeof(hash)), 0);
	}
	return 0;
}

/* Open it anew, with this as its dataset, which is looked at when room lacks. */
static inline void reopen_over(struct span *dataset)
{
	disk_close(d);
	d = NULL;
	options.dataset = list_span;
	options.context = dataset;
	cr_assert_eq(disk_open(&options, &d, &(int){ 0 }), 0);
}

/* --- Files behind its back ----------------------------------------------------------------- */

static inline const char *in_store(const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned turn;
	char *path = paths[turn++ % 4];

	cr_assert_lt(snprintf(path, PATH_MAX, "%s/%s", folder, name), PATH_MAX);
	return path;
}

static inline void spill(const char *path, const struct buf *b, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	cr_assert_geq(fd, 0, "%s", path);
	cr_assert_eq(write(fd, b->at, len), (ssize_t)len);
	close(fd);
}

static inline void expect_all(uint64_t count, size_t len)
{
	for (uint64_t n = 0; n < count; n++)
		cr_expect_eq(get(d, SOURCE, n, 1, len), 0, "sample %ju", (uintmax_t)n);
}

static inline void no_index(void)
{
	const char *names[] = { "index/data.mdb", "index/state", "index/lock.mdb" };

	for (size_t i = 0; i < DL_COUNT(names); i++)
		unlink(in_store(names[i]));
	cr_assert_eq(rmdir(in_store("index")), 0);
}
