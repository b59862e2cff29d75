/* What the index has of a record: its value in LMDB.  Thread-safety: every call. */
#pragma once
#include "prefetch/store/disk_segment.h"

struct entry_packed {
	struct place place;
	uint64_t length, stored;
	struct disk_identity id;
	uint64_t sum;                  /* of the key, then of all before */
};

struct entry_packed entry_pack(const struct record *r, struct place place);
/* false: it is damaged. */
bool entry_unpack(const struct disk_key *key, const void *at, size_t len, struct record *ret,
		  struct place *ret_place);
