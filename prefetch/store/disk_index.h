/* Where each record is, in LMDB.
 *
 * It survives a kill, and notices a power cut, see disk_trust.h.  It may lag behind the segments.
 *
 * Thread-safety: every call on any thread, except open and close; apply on one at a time.  Readers
 * wait for nobody, writers for each other, apply a moment for readers.
 */
#pragma once
#include "prefetch/store/disk_segment.h"

struct index;

struct mark { uint32_t segment; uint64_t offset; };    /* all records before are in the index */

struct index_change {
	struct record record;
	struct place place;
	struct place from;             /* of a record that is moved: only if it is still there */
	struct place old;              /* out: what it replaced; its segment may be SEGMENT_NONE */
	struct record was;             /* out: the record there */
	bool done;                     /* out */
};

/* In folder/index, of at most so many bytes, whole MiB.  One that cannot be trusted is replaced by
 * an empty one, whose mark is 0. */
int index_open(const char *folder, uint64_t most, struct index **ret) DL_MUST_CHECK;
void index_close(struct index *ix);    /* NULL is fine */
bool index_broken(const struct index *ix);     /* it is of no use any more */
/* Its folder is gone: it is not to write there when it is closed. */
void index_abandon(struct index *ix);

/* -ENOENT, or whatever else keeps us from knowing */
int index_get(struct index *ix, const struct disk_key *key, struct record *ret,
	      struct place *ret_place) DL_MUST_CHECK;
/* The same of any part of the sample. */
int index_any(struct index *ix, const struct disk_key *key, struct record *ret,
	      struct place *ret_place) DL_MUST_CHECK;
/* The same of any sample of this source, which is hash[0]; *ret has its key. */
int index_of_source(struct index *ix, uint64_t source, struct record *ret,
		    struct place *ret_place) DL_MUST_CHECK;
/* All, or none.  -ENOBUFS: it would be too large. */
int index_apply(struct index *ix, struct index_change *changes, size_t count, struct mark mark)
	DL_MUST_CHECK;
/* 1: it was there, at that place; 0: it was not. */
int index_forget(struct index *ix, const struct disk_key *key, struct place place);
/* each(): 0: keep it, 1: forget it, < 0: stop.  -EBADMSG: an entry is damaged. */
int index_each(struct index *ix, int (*each)(void *context, const struct record *r,
		struct place place), void *context) DL_MUST_CHECK;
struct mark index_mark(struct index *ix);
uint64_t index_bytes(struct index *ix);        /* of its files */
uint64_t index_room(struct index *ix); /* bytes that entries may still take */
