/* A saved manifest: this head, then the tables as they lie in memory (folders, listings,
 * entries, owners, places, names), of listings the current ones, and nothing after them.
 * Private to this folder and its tests.
 */
#pragma once
#include "prefetch/manifest/internal.h"

struct file_head {
	uint64_t magic, checksum;      /* of everything after these two */
	uint64_t root_ino, root_dev, source_hash, names, places;
	uint32_t folders, listings, entries, owners;
};

/* What says that a file is of this version and of this source. */
struct file_head file_head_of(const struct manifest *m);

/* Could these tables have been written by us?  Every number and offset lies in its table, names
 * are names and sorted, folders form a tree.  The folders are not in the manifest yet. */
bool tables_sound(const struct manifest *m, const struct file_head *h,
		  const struct folder *folders);
