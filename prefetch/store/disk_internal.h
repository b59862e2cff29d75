/* What the parts of the disk tier share.  Nothing here is for others, tests apart. */
#pragma once
#include <stdatomic.h>

#include "base/lock.h"
#include "prefetch/store/disk_grace.h"
#include "prefetch/store/disk_effort.h"
#include "prefetch/store/disk_index.h"
#include "prefetch/store/disk_pack.h"

#define QUEUE_MOST (64 * MiB)
#define BATCH_MOST 256u
/* Bytes of the index.  It is mapped: there are not enough addresses for an eighth of any size. */
#define INDEX_MOST(size) (DL_MIN((size) / 8 + MiB - 1, 4096 * GiB) / MiB * MiB)
#define INDEX_ENTRY UINT64_C(224)      /* that a record takes there, of pages that are half full */

struct segment {
	uint32_t number;
	uint32_t records;              /* live ones */
	uint64_t source;               /* of all its records, once it has one */
	uint64_t file_bytes, live_bytes;
	uint64_t lengths;              /* of the live ones' samples, unpacked */
	uint64_t unwanted;             /* of live_bytes, when that was counted last */
	uint32_t unwanted_records;
};

struct queued {
	struct queued *next;
	struct record record;
	uint8_t bytes[];
};

/* Which thread or lock has which part, in the order in which they stand here. */
struct disk {
	/* all threads: set by disk_open(), and not changed */
	char *path;
	uint64_t size, keep_free;
	uint64_t records_most;
	bool patient;
	int zstd;
	int (*ask_dataset)(void *context, struct buf *ret);
	void *context;
	uint64_t segment_most;         /* bytes; a larger record has a segment to itself */
	uint64_t margin;               /* bytes that a batch may add to the index */
	size_t batch_most;
	uint64_t queue_most;

	/* all threads: atomics */
	_Atomic bool online, closing;
	struct grace inside;
	_Atomic bool full;             /* and nothing can be taken back */
	_Atomic uint64_t suspended_until;
	_Atomic int error;             /* for which it is, or 0 */
	_Atomic uint64_t hits, misses, bad, written, dropped;

	/* the writer thread while it is offline; then who is inside, and nobody changes it */
	int folder, lock_file;
	struct index *index;
	bool distrust;
	/* the same, but then under `lock` */
	struct segment *segments;      /* by number */
	size_t count, cap;

	/* under `lock` */
	struct dl_lock lock;
	pthread_cond_t wake, idled;
	struct queued *first, **last;
	uint64_t queued_bytes;         /* what is being written included */
	/* Samples that ever were queued; of them those that were taken out; and of those, which are
	 * the first ones, what is in the index, or dropped. */
	uint64_t queued, taken, settled;
	bool ended;
	int opened;                    /* -EINPROGRESS, then how the first try went */
	bool trim;                     /* segments that have no live record shall go, and ... */
	bool weed;                     /* ... records that the rule never wants */
	bool idle;                     /* all is written, the writer waits */
	uint64_t deadline;             /* once it is closing */
	bool has_source;
	uint64_t source;
	struct keep_rule *rule;        /* NULL: all is wanted */
	bool recount;                  /* `unwanted` is by an older rule, or dataset */

	/* the writer thread */
	struct buf dataset;            /* uint32_t, sorted; empty: not known */
	struct writer {
		pthread_t thread;
		int fd;                /* of the newest segment; -1: none is open */
		int before;            /* of the one before, as long as it is written back */
		struct mark end;       /* of the newest */
		uint64_t source;
		struct index_change batch[BATCH_MOST];
		size_t batched;
		uint64_t pause;        /* the next suspension's length */
		struct packer *packer; /* NULL: all is stored as it is */
		struct effort effort;
		bool faulty;           /* since the last record that was written */
	} writer;
};

/* --- disk_open.c ------------------------------------------------------------------------------ */

/* true: it is online, and stays so until disk_leave(). */
bool disk_enter(struct disk *d, unsigned *ret_turn);
static inline void disk_leave(struct disk *d, unsigned turn) { grace_leave(&d->inside, turn); }

/* Both on the writer thread. */
int disk_come(struct disk *d, int *ret_pid) DL_MUST_CHECK;
void disk_go(struct disk *d);          /* offline; waits for all who are inside */
/* The folder at the path is not ours any more, or the index is of no use. */
bool disk_lost(struct disk *d);

/* --- disk_space.c: the segments, and room for more.  Under `lock` unless said otherwise. ----- */

int space_add(struct disk *d, uint32_t number, uint64_t bytes) DL_MUST_CHECK;
struct segment *space_find(struct disk *d, uint32_t number);   /* NULL: there is none */
void space_gain(struct disk *d, struct place at, const struct record *r);
/* Of live records: what they take, and what their samples have. */
void space_sums(const struct disk *d, uint64_t *ret_bytes, uint64_t *ret_lengths);
uint64_t space_records(const struct disk *d);
uint64_t space_used(struct disk *d);   /* by all files; takes the index's own locks */
/* The newest may not be chosen. */
bool space_victim(struct disk *d, uint32_t newest, struct segment *ret);
/* One with records that need not stay: the oldest of another dataset, else the one with most. */
bool space_spare(struct disk *d, struct segment *ret);
void space_spent(struct disk *d, uint32_t number);     /* it has none any more */

/* Without the lock, on the writer thread. */
bool space_wanted(struct disk *d, const struct record *r);
/* Count what is not wanted any more; true: that has changed. */
bool space_recount(struct disk *d);
int space_remove(struct disk *d, uint32_t number) DL_MUST_CHECK;       /* its file as well */
/* Forget what is never to be kept.  true: there was something. */
bool space_weed(struct disk *d);
/* On any thread from here on. */
/* 1; 0: it was not there any more; or it cannot be done. */
int disk_forget(struct disk *d, const struct record *r, struct place at);
void space_applied(struct disk *d, const struct index_change *changes, size_t count);

/* --- disk_reclaim.c: on the writer thread, without the lock ---------------------------------- */

/* Make room for a record of so many bytes.  -ENOBUFS: the store is full of what is to be kept;
 * other errors are the disk's. */
int reclaim(struct disk *d, uint64_t bytes) DL_MUST_CHECK;
/* Delete the segments that have no live record; none is open, and all is in the index. */
void reclaim_empty(struct disk *d);

/* --- disk_fault.c: on the writer thread ------------------------------------------------------ */

void fault_open(struct disk *d, int error);    /* it could not be opened */
void fault_seen(struct disk *d, int error);    /* < 0; -ENOBUFS is the store's own limit */
void fault_over(struct disk *d);               /* something was written */

/* --- disk_load.c: what an earlier process left ----------------------------------------------- */

int disk_load(struct disk *d) DL_MUST_CHECK;
