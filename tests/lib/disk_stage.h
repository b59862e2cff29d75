/* Samples for the disk tier, whose bytes say which they are. */
#pragma once
#undef NDEBUG
#include <assert.h>
#include <string.h>

#include "base/random.h"
#include "prefetch/store/disk_writer.h"
#include "tests/lib/tree.h"

#define SOURCE UINT64_C(77)

static inline struct disk_key key_at(uint64_t source, uint64_t n)
{
	return (struct disk_key){ { source, random_mix(n + 1) }, 0 };
}

static inline struct disk_identity version_of(uint64_t n, uint64_t version)
{
	return (struct disk_identity){ .size = n, .ino = n + 1, .dev = 3,
				       .mtime_ns = (int64_t)version, .ctime_ns = 5 };
}

/* The dataset is now the first `files` samples, of this length each, of which as many are wanted as
 * fit; where nothing is known of the source, that is an even part. */
static inline void want_part(struct disk *d, uint64_t source, uint64_t files, uint64_t len)
{
	dl_cleanup(keep_census_freep) struct keep_census *census = NULL;
	struct keep_room room = disk_room(d);
	struct keep_rule *rule;
	int r = keep_census_new(&census);

	for (uint64_t n = 0; r == 0 && n < files; n++)
		r = keep_census_add(census, key_at(source, n).hash[1], len,
				    (struct keep_room){ len + DISK_OVERHEAD, 1 }, KEEP_IF_ROOM);
	assert(r == 0);
	/* As chance goes there may be more of them than expected. */
	room.bytes = room.bytes / 100 * 97;
	r = keep_choose(census, room, (struct keep_cost){ 0, 0 }, &rule);
	assert(r == 0);
	disk_rule(d, source, rule);
}

static inline void fill_bytes(uint8_t *at, size_t len, uint64_t n, uint64_t version)
{
	uint64_t x = random_mix(n * 1000003 + version);

	for (size_t i = 0; i < len; i++)
		at[i] = (uint8_t)(x >> (i % 8 * 8)) ^ (uint8_t)(i >> 3);
}

static inline void put(struct disk *d, uint64_t source, uint64_t n, uint64_t version, size_t len)
{
	struct disk_key key = key_at(source, n);
	struct disk_identity id = version_of(n, version);
	uint8_t *bytes = malloc(len + 1);

	assert(bytes);
	fill_bytes(bytes, len, n, version);
	disk_put(d, &key, &id, (struct bytes){ bytes, len });
	free(bytes);
}

static inline bool has(struct disk *d, uint64_t source, uint64_t n, uint64_t version)
{
	struct disk_key key = key_at(source, n);
	struct disk_identity id = version_of(n, version);

	return disk_has(d, &key, &id);
}

/* What disk_get() says; never wrong bytes. */
static inline int get(struct disk *d, uint64_t source, uint64_t n, uint64_t version, size_t len)
{
	struct disk_key key = key_at(source, n);
	struct disk_identity id = version_of(n, version);
	dl_cleanup(buf_free) struct buf bytes = BUF_EMPTY;
	uint8_t *right = malloc(len + 1);
	int r = disk_get(d, &key, &id, &bytes);

	assert(right);
	fill_bytes(right, len, n, version);
	assert(r < 0 || bytes.len == len);
	assert(r < 0 || len == 0 || memcmp(bytes.at, right, len) == 0);
	assert(r == 0 || !bytes.at);
	free(right);
	return r;
}
