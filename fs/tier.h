/* The disk tier of a serving process: the store of the configuration, opened, what is kept in it,
 * and what it tells.
 * Thread-safety: all calls on any thread; open and close before and after all others.
 */
#pragma once
#include "base/buf.h"
#include "prefetch/source/meter.h"

struct disk;
struct serve;

struct tier {
	struct disk *disk;             /* NULL: there is none */
	int error;                     /* why, although one was asked for; or 0 */
	struct meter meter;
	struct dl_lock lock;           /* guards what follows: what is to be kept */
	struct keep_census *census;    /* NULL: the dataset is not known yet */
	uint64_t files, bytes;         /* of the dataset when it was counted */
	struct keep_cost cost;         /* that the rule in force was made with */
	unsigned choices;              /* rules made so far */
	struct buf warmed;             /* patterns that were asked for since the mount */
	/* until here */
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
void tier_unpin(struct serve *s, const char *pattern); /* "": all that tier_pin() was told of */
int tier_pin(struct serve *s, const char *pattern) DL_MUST_CHECK;
bool tier_never(const struct serve *s, sample_id id);   /* the settings say so */
unsigned tier_choices(struct serve *s); /* changes when something else is to be kept */
void tier_unpin(struct serve *s, const char *pattern);  /* "": all that tier_pin() was told of */
/* true: a store was asked for, but is not used now, and why. */
bool tier_problem(const struct serve *s, char why[80]);
/* Bring the store's numbers into the stats. */
void tier_report(struct serve *s);
