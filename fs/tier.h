/* The disk tier of a serving process: the store of the configuration, opened, and what it tells.
 * Thread-safety: dataset and report on any thread; open and close before and after all others.
 */
#pragma once
#include "base/dl.h"

struct disk;
struct serve;

struct tier {
	struct disk *disk;             /* NULL: there is none */
	uint64_t limit;                /* bytes that the store may have */
	uint64_t queue;                /* bytes of memory for what waits to be written */
	uint64_t hits, written, bad;   /* counted by servers before this one */
};

/* Whatever the disk's fault is, the mount goes on without, and tries again later.  -EBUSY: another
 * mount has the store, and shared->error says so; a server that takes over goes on without in that
 * case, too. */
int tier_open(struct serve *s) DL_MUST_CHECK;
void tier_close(struct serve *s);

/* The manifest has all of the dataset now. */
void tier_dataset(struct serve *s);
/* Bring the store's numbers into the stats. */
void tier_report(struct serve *s);
