/* How that lies in memory.  Private to served*.c. */
#pragma once
#include <stdatomic.h>

#include "base/lock.h"
#include "prefetch/source/served.h"

#define SERVED_MOST (1u << 26)         /* samples with higher numbers are served as they are */

#define SERVED_BROKEN 255              /* forgotten, and not yet renewed */

struct served_entry {
	_Atomic uint32_t size;         /* these are written before `known` */
	_Atomic float ssim;
	_Atomic uint8_t quality;
	_Atomic uint8_t known;         /* reason + 1; 0: not known; or SERVED_BROKEN */
	_Atomic uint8_t wanted;
};
_Static_assert(sizeof(struct served_entry) == 12, "a file costs 12 bytes");

struct served_table {                  /* shared between serving processes; zeroes at first */
	_Atomic uint64_t limit, turn;
	_Atomic uint64_t coded, coded_bytes, source_bytes, as_it_is[RECODE_REASONS];
	_Atomic uint64_t timed, timed_bytes, timed_source_ns, timed_ns;        /* see served_time */
	struct served_entry entries[SERVED_MOST];
};

struct served {
	const struct manifest *manifest;
	struct recode_want want;
	char *match;
	uint64_t recipe;
	struct served_table *table;
	struct dl_lock lock;           /* of those that tell, in this process */
};

/* served_file.c */
uint64_t served_recipe_of(const struct recode_want *want, const char *match);
