/* What is counted.  All fields are atomics in memory that outlives a serving process, so
 * counters go on after a restart.  Thread-safety: every call, on any thread.
 */
#pragma once
#include <stdatomic.h>
#include "base/dl.h"

struct stats {
#define STAT(kind, name, unit, help) _Atomic uint64_t name;
#include "base/stats.def"
#undef STAT
};

static inline void stats_add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static inline void stats_set(_Atomic uint64_t *gauge, uint64_t n)
{
	atomic_store_explicit(gauge, n, memory_order_relaxed);
}

static inline uint64_t stats_get(const _Atomic uint64_t *any)
{
	return atomic_load_explicit(any, memory_order_relaxed);
}

enum stats_kind { STATS_COUNTER, STATS_GAUGE };
enum stats_unit { STATS_COUNT, STATS_BYTES, STATS_TIME };

struct stats_row {                     /* the table, for printers */
	enum stats_kind kind;
	enum stats_unit unit;
	const char *name, *help;       /* as in struct stats; wait_ns is printed as wait_seconds */
	size_t offset;                 /* of the _Atomic uint64_t in struct stats */
};
extern const struct stats_row stats_rows[];
extern const size_t stats_row_count;
