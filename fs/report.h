/* The numbers as text: a JSON object (stats.json) and Prometheus' text format 0.0.4.
 * They append; -ENOMEM.  Thread-safety: every call on any thread. */
#pragma once
#include "fs/serve.h"

struct report {
	const struct stats *stats;
	const char *version, *source, *mountpoint, *observe;
	uint64_t pid, memory, uptime_ns;
	struct engine_report engine;
	const char *store_problem;     /* why a store is not used; "": it is, or there is none */
	const char *asked, *refused;   /* the order that was refused last, and why; "": none was */
};

enum report_kind { REPORT_NUMBER, REPORT_SECONDS, REPORT_FLAG, REPORT_STATE, REPORT_TEXT,
		   REPORT_WORDS };
struct report_row {                    /* what is told beside stats_rows, for printers */
	enum report_kind kind;
	const char *key, *metric, *help;       /* see report.def */
	size_t offset;                 /* in struct report */
};
extern const struct report_row report_rows[];
extern const size_t report_row_count;
/* What a row of the other table is called: in JSON, and in Prometheus. */
void report_key(const struct stats_row *row, char ret[64]);
void report_metric(const struct stats_row *row, char ret[128]);
#define REPORT_INFO "dlfs_info"
#define REPORT_INFO_HELP "What is mounted where; always 1."

int report_print_json(const struct report *r, struct buf *ret) DL_MUST_CHECK;
int report_print_metrics(const struct report *r, struct buf *ret) DL_MUST_CHECK;

/* Of this server, now.  Waits for the planner, so for milliseconds. */
int report_json(struct serve *s, struct buf *ret) DL_MUST_CHECK;
int report_metrics(struct serve *s, struct buf *ret) DL_MUST_CHECK;
/* The settings in force (config.yaml), and beside "auto" what that is now. */
int report_config(struct serve *s, struct buf *ret) DL_MUST_CHECK;
