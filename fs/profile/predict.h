/* How long an epoch will take, from what was measured.  Pure.
 *
 * The differential method of DS-Analyzer (Mohan et al., VLDB 2021): fetching, preparing and
 * computing overlap, so an epoch takes as long as the slowest of them; what the preparation
 * takes beyond the computation is the preparation stall, and what fetching takes beyond both is
 * the fetch stall.  Until the first batch is there nothing is computed, and no worker is at work
 * for a part of that; the source is, since the order is known.
 *
 * Units: seconds, bytes, files.  Thread-safety: pure.
 */
#pragma once
#include "base/dl.h"

struct predict_case {
	double files;                  /* an epoch */
	double cost;                   /* bytes that a file takes in the cache, mean */
	double cache;                  /* bytes that stay from one epoch to the next */
	double fetch_rate;             /* files/s of the source, many at once */
	double decode, prepare;        /* seconds of one core a file: decoding; all that follows */
	double recode, fetch;          /* the same, of a file that comes from the source */
	double cores, workers;
	double step_rate;              /* files/s of the training step; 0: any number */
	double receive;                /* seconds a file that the training program needs beside
					* the step, and not at the same time */
	double start;                  /* seconds from the beginning of an epoch to its first batch,
					* if nothing is waited for */
	bool apart;                    /* dlfs and the workers are groups of processes, which get
					* the same of a core that both want, whatever priority
					* their threads have: with autogroup, a session is one */
	bool first;                    /* the epoch in which nothing is in the cache yet */
};

enum predict_bound { PREDICT_COMPUTE, PREDICT_PREPARE, PREDICT_FETCH };

struct prediction {
	double hits;                   /* part of the files that are in the cache */
	double compute, prepare, fetch;        /* seconds each would take alone; the start is in
						* the first two */
	double epoch;                  /* the largest of them */
	double prepare_stall, fetch_stall;     /* epoch = compute + both */
	enum predict_bound bound;
};

struct prediction predict(const struct predict_case *c);
const char *predict_bound_name(enum predict_bound bound);       /* "training step", … */
