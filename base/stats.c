#include "base/stats.h"

#define COUNTER STATS_COUNTER
#define GAUGE STATS_GAUGE
#define COUNT STATS_COUNT
#define BYTES STATS_BYTES
#define TIME STATS_TIME

const struct stats_row stats_rows[] = {
#define STAT(kind, name, unit, help) { kind, unit, #name, help, offsetof(struct stats, name) },
#include "base/stats.def"
#undef STAT
};

const size_t stats_row_count = DL_COUNT(stats_rows);
