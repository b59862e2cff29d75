/* Records in segment files: their format, and how they are written, read and found again.
 *
 * They are written by plain calls and not through io_uring (base/ring.h), which gains nothing
 * here: each write goes into the page cache, and where the file system cannot promise that this
 * will not wait (ext4, tmpfs) the kernel hands it to a thread.  Processor time for a MB in records
 * of 110 kB, median of 7 rounds on 2 cores, Linux 6.18 (build/tests/bench/bench-writes FOLDER); of
 * 4 kB a ring takes three times as much and more on ext4:
 *              pwritev    a ring, one write    a ring, 8 at once
 *     ext4     0.38 ms          0.50 ms            0.38 ms
 *     xfs      0.23 ms          0.23 ms            0.22 ms
 *     tmpfs    0.37 ms          0.86 ms            0.65 ms
 *
 * Thread-safety: every call on any thread; one writer a segment.
 */
#pragma once
#include "prefetch/store/disk.h"

#define RECORD_HEAD UINT64_C(104)      /* bytes before those of the sample */
#define SEGMENT_NONE 0u

struct record {                        /* what is told of a sample */
	struct disk_key key;
	struct disk_identity id;
	uint64_t length;
	uint64_t stored;               /* bytes here; fewer than length: packed (disk_pack.h) */
};

struct place {                         /* of a record's head */
	uint32_t segment, offset;
};

static inline uint64_t record_bytes(const struct record *r)
{
	return RECORD_HEAD + r->stored;
}

static inline bool same_key(const struct disk_key *a, const struct disk_key *b)
{
	return a->hash[0] == b->hash[0] && a->hash[1] == b->hash[1] && a->part == b->part;
}

static inline bool same_place(struct place a, struct place b)
{
	return a.segment == b.segment && a.offset == b.offset;
}

bool same_identity(const struct disk_identity *a, const struct disk_identity *b);

int segment_create(int folder, uint32_t number) DL_MUST_CHECK;        /* fd */
int segment_append(int fd, uint64_t offset, const struct record *r, const void *bytes)
	DL_MUST_CHECK;
int segment_remove(int folder, uint32_t number);
/* Nothing more is appended: let it go to the disk; later, when that is done, out of memory. */
void segment_written(int fd);
void segment_clean(int fd);

/* The stored bytes of a record that should be there, verified, into an empty buffer.  -EBADMSG: it
 * is not, or is damaged; -ENOENT: no such segment. */
int segment_read(int folder, struct place at, const struct record *want, struct buf *ret)
	DL_MUST_CHECK;

/* each() (< 0 ends it) for the records from an offset on, by their heads; the bytes are not
 * looked at, but are there.  A head that is torn or damaged ends the segment. */
int segment_scan(int folder, uint32_t number, uint64_t from,
		 int (*each)(void *context, const struct record *r, struct place at),
		 void *context) DL_MUST_CHECK;

/* each() for the segments in the folder, in no order. */
int segment_list(int folder, int (*each)(void *context, uint32_t number, uint64_t bytes),
		 void *context) DL_MUST_CHECK;
