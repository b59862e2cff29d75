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

int report_print_json(const struct report *r, struct buf *ret) DL_MUST_CHECK;
int report_print_metrics(const struct report *r, struct buf *ret) DL_MUST_CHECK;

/* Of this server, now.  Waits for the planner, so for milliseconds. */
int report_json(struct serve *s, struct buf *ret) DL_MUST_CHECK;
int report_metrics(struct serve *s, struct buf *ret) DL_MUST_CHECK;
/* The settings in force (config.yaml), and beside "auto" what that is now. */
int report_config(struct serve *s, struct buf *ret) DL_MUST_CHECK;
