/* The disk tier: whole samples, kept on a local disk over epochs, runs and crashes.
 *
 * A folder of its own:
 *     lock            held (OFD lock) while a process has the store open; its pid is in it
 *     NNNNNNNN.seg    segments: records one after the other, written once, in sequence, by one
 *                     thread
 *     index/          LMDB: key -> segment, offset, length, identity; made anew from the
 *                     segments when it is missing, damaged, of another version, or may have
 *                     suffered a power cut
 *
 * A record has its key, the identity of the file that it was made from, its length, and checksums
 * of all of that and of the bytes.  A read verifies all of it, so what a crash, a bad disk or a
 * bit flip left is never given out: it is forgotten, and the source is asked.
 *
 * What shrinks is stored as zstd frames, see disk_pack.h.
 *
 * What is kept: what a rule wants (disk_rule(), see keep.h), until the store is full.  Nothing that
 * is wanted is evicted for something else of the same dataset, so an epoch has as many hits as the
 * store holds samples.  Space of records that are stale (another version of the file), of other
 * datasets, of files that the dataset has not any more, or not wanted any more by a firm rule, is
 * taken back by whole segments when what is wanted lacks room: live records of the emptiest segment
 * are moved, then the segment is deleted.
 * Where it is the bound on records that is reached, they are forgotten, which moves nothing.
 *
 * No fault of the disk reaches a reader: full (or less than `keep_free`), read-only, I/O error,
 * folder gone: one warning; nothing is written for a while (2 s, then twice as long, 5 min at
 * most), then it is tried again.  If the folder at the path is another one by then, or none, or
 * the index is of no use any more, the store is opened anew.
 *
 * Thread-safety: every call on any thread, except open and close.  disk_get() and the writer do
 * I/O; no lock is held meanwhile (LMDB's own apart).  Neither the lock nor LMDB may cross a
 * fork(): open it in the process that uses it, and have no child that outlives it.
 */
#pragma once
#include "base/buf.h"
#include "prefetch/keep/keep.h"

struct disk;

#define DISK_AUTO 0
#define DISK_RAW (-1)

struct disk_options {
	const char *folder;            /* absolute; made (0700) if it is not there, and refused
					* (-ENOTEMPTY) if it has files but is no store */
	uint64_t size;                 /* bytes, the most that its files may have */
	uint64_t records;              /* the most that it may have; 0: no bound */
	uint64_t keep_free;            /* bytes of the file system that stay free */
	uint64_t queue;                /* bytes that may wait to be written; 0: 64 MiB */
	bool patient;                  /* see disk_open() */
	bool heir;                     /* see disk_open() */
	bool distrust;                 /* make the index anew, whatever it says of itself */
	/* Append the upper half of hash[1] of each key of the dataset, a uint32_t; in any order.
	 * Asked on the disk's thread when room lacks, once a rule was told.  NULL, or an error:
	 * whatever there is may be of the dataset. */
	int (*dataset)(void *context, struct buf *ret);
	void *context;
	int zstd;                      /* a level, 1 to 19; DISK_RAW: store all as it is;
	                                * DISK_AUTO: as far as processors are idle and the writer
	                                * is not behind */
};

/* sum_of() the source's name, and of the path below it; 0 for a whole sample, else something that
 * says which part of it. */
struct disk_key { uint64_t hash[2], part; };
struct disk_identity {                 /* of the file's version; all must be equal */
	uint64_t size, ino, dev;
	int64_t mtime_ns, ctime_ns;
};

/* -EWOULDBLOCK: another process has it open, whose pid is in *ret_pid (0: unknown).  Others: the
 * folder cannot be made or written.  A lock that a killed process left does not block.
 *
 * patient: it returns within half a second; if that is too short to read in what is there, or to
 * make an index of the segments, this goes on, and until then nothing is there.  What keeps it
 * from being opened, another process apart, is a warning, and tried again later.
 *
 * heir, with patient: whoever has it open is a process that was killed, of which something is left;
 * that is no error, and tried again later as well. */
int disk_open(const struct disk_options *options, struct disk **ret, int *ret_pid) DL_MUST_CHECK;
/* What is queued is written first, within 2 s.  NULL is fine.  If the disk does not answer any
 * more, it is left as it is after 3 s, for the end of the process. */
void disk_close(struct disk *d);

/* The dataset now: hash[0] of its keys, and what is wanted of it, by hash[1] and size; the rule is
 * the disk's from here on.  Until it is told, all samples are wanted and all records are of the
 * dataset. */
void disk_rule(struct disk *d, uint64_t source, struct keep_rule *rule);
void disk_dataset_changed(struct disk *d);     /* by a file or more */
/* Bytes that there are for samples, each with DISK_OVERHEAD; more than the size, if what is there
 * has shrunk.  And records, UINT64_MAX: no bound. */
struct keep_room disk_room(struct disk *d);
#define DISK_OVERHEAD UINT64_C(328)    /* its head, and its part of the index */
/* Would this sample be kept?  True as well for what is there already. */
bool disk_wants(struct disk *d, const struct disk_key *key, uint64_t size);
/* It is there, in this version (no I/O but the index's). */
bool disk_has(struct disk *d, const struct disk_key *key, const struct disk_identity *id);
/* The whole sample, into an empty buffer.  -ENOENT: not there, or another version (whose record
 * is then forgotten); -EIO: the record is bad, and is then forgotten, or it cannot be read now;
 * -ENOMEM. */
int disk_get(struct disk *d, const struct disk_key *key, const struct disk_identity *id,
	     struct buf *ret) DL_MUST_CHECK;
/* Keep a copy, sooner or later; dropped when the writer is behind (`queue`), when it is there
 * already, or when it is not wanted.  Another version that is there is forgotten.  true: it is
 * there, or is to be written. */
bool disk_put(struct disk *d, const struct disk_key *key, const struct disk_identity *id,
	      struct bytes bytes);
uint64_t disk_waiting(struct disk *d); /* bytes that are still to be written */
/* Forget it, all its parts; *ret: their bytes, 0 if there was nothing.  -EAGAIN: it is not online;
 * others: of what is not forgotten, as disk_report() says. */
int disk_drop(struct disk *d, const struct disk_key *key, uint64_t *ret) DL_MUST_CHECK;
/* The same of any one sample of this source: hash[0] of its key. */
int disk_drop_any(struct disk *d, uint64_t source, uint64_t *ret) DL_MUST_CHECK;
/* Forget what of these (sorted by disk_key_order()) is still to be written. */
void disk_drop_waiting(struct disk *d, const struct disk_key *keys, size_t count);
int disk_key_order(const void *a, const void *b);      /* by hash, for qsort() */
uint64_t disk_queued(struct disk *d);  /* samples that were to be written, since it was made */
/* Until the first so many of them are written and in the index, or were dropped; true, or the time
 * is over. */
bool disk_settle(struct disk *d, uint64_t number, uint64_t deadline);
void disk_trim(struct disk *d);        /* delete soon what segments have no live record any more */

struct disk_report {
	uint64_t records, bytes;       /* live ones, with their heads */
	uint64_t lengths;              /* bytes of their samples, unpacked */
	uint64_t file_bytes;           /* of all files */
	uint64_t hits, misses, bad, written, dropped;  /* since open */
	bool online;                   /* it is open; else all but the counts is 0 */
	bool suspended;                /* a fault: nothing is written now */
	int error;                     /* the last fault, until something is written; or 0 */
};
struct disk_report disk_report(struct disk *d);

/* For `dlfs verify`: read every record.  -EAGAIN: it is not online.  progress() (NULL is fine)
 * after each segment, in bytes; bad records are forgotten if `repair`.  *ret_bad: how many. */
int disk_verify(struct disk *d, bool repair, void (*progress)(void *context, uint64_t done,
		uint64_t all), void *context, uint64_t *ret_bad) DL_MUST_CHECK;

static inline void disk_closep(struct disk **d) { disk_close(*d); }
