/* A profile for people: as text for a terminal, and as one HTML file that loads nothing.
 * Thread-safety: pure. */
#pragma once
#include "fs/profile/predict.h"
#include "fs/profile/profile.h"

struct profile_report {
	const struct profile *profile;
	const char *source;
	double cache;                  /* bytes that stay from one epoch to the next */
	double step_rate;              /* files/s; 0: as many as come */
	double workers;
	double prepare;                /* seconds a file beyond decoding */
	double receive, start;         /* see predict.h */
};

/* The prediction for one way; `faster` times the cores and workers, `larger` times the cache. */
struct prediction profile_predict(const struct profile_report *r, unsigned way, bool first,
				  double faster, double larger);
/* How many of the ways, from the first one on, differ: 1 if nothing was recoded. */
unsigned profile_ways(const struct profile *p);
/* "0.95", or "as it is". */
const char *profile_ratio_name(const struct profile_way *w, char text[16]);
/* "ratio 0.95", or "as it is". */
const char *profile_way_name(const struct profile_way *w, char text[24]);
int profile_text(const struct profile_report *r, struct buf *ret) DL_MUST_CHECK;
/* Measured on `host`, at the time `when`. */
int profile_html(const struct profile_report *r, const char *host, const char *when,
		 struct buf *ret) DL_MUST_CHECK;
