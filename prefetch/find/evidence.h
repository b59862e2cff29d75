/* What the finder goes by: the first opens of an epoch that nobody foresaw.
 *
 * An epoch begins, as seen from here, with an open that does not fit after many that did, with
 * new processes when the old ones have had their share, or when the run is as long as the
 * dataset (and the files that pad it: those that other processes began with).  Opens that fit
 * what is believed are no evidence, nor are the few between them that do not: each batch begins
 * with one.  A process of which most fit is acquitted, and what the others opened stays: another
 * job's, also beyond the epoch of the job that is followed.
 *
 * Pure; guarded by its owner's lock.
 */
#pragma once
#include "prefetch/order/tracker.h"

#define EVIDENCE_MAX 1024
#define EVIDENCE_READERS 64

struct evidence {
	struct evidence_open {
		sample_id id;
		uint32_t pid;
		bool explained;        /* an order that was found goes through it */
	} opens[EVIDENCE_MAX];
	size_t count;
	size_t fitting;                /* of these */
	size_t kept;                   /* the first of these are from before the last turn */
	uint64_t seen;                 /* opens since it began, also those not kept; no padding */
	uint64_t turn;                 /* how often it began anew */
	struct evidence_reader {       /* a process; the last one stands for all beyond */
		uint32_t pid;
		uint32_t parent;       /* 0: not known, see evidence_parents() */
		sample_id first;       /* what it opened first */
		unsigned opens, fitting;
		unsigned row;          /* fitted, one after the other */
	} readers[EVIDENCE_READERS];
	size_t reader_count;
	bool held;                     /* opens that fit are kept as well */
	size_t ample;                  /* opens, in a dataset like this; see EVIDENCE_AMPLE */
	bool beside;                   /* without pids: of a job beside one that was found */
};

enum evidence_stage {
	EVIDENCE_NONE,
	EVIDENCE_EARLY,                /* enough to begin with, if the right process was seen */
	EVIDENCE_FULL,                 /* each worker has opened a few */
	/* Without pids: whoever began has opened a few, though others came long before him, who
	 * read no more than two batches each before he has read his first. */
	EVIDENCE_AMPLE,
};
enum evidence_stage evidence_stage(const struct evidence *e);
/* false: nobody knows whose opens these are. */
bool evidence_has_pids(const struct evidence *e);
/* What the early opens said of who began is still so. */
bool evidence_same_start(const struct evidence *early, const struct evidence *now);
void evidence_clear(struct evidence *e);
/* epoch: how many opens an epoch of the dataset has, about. */
void evidence_open(struct evidence *e, sample_id id, uint32_t pid, bool fits, uint32_t epoch);

/* What this process opened has been explained. */
void evidence_acquit(struct evidence *e, uint32_t pid);
/* Without pids: an order was found that goes through the opens marked as explained, and what is
 * left are another job's.  All stay, for some may be of both; what fits from now on is no evidence.
 */
void evidence_go_on(struct evidence *e);
/* The epoch of these processes is over; what all others began with is kept. */
void evidence_turn(struct evidence *e, const uint32_t *pids, size_t count);
/* Who has begun, and was not there before. */
bool evidence_newcomers(const struct evidence *before, const struct evidence *now);
/* Ask for the parent of each process: workers of one loader have the same. */
void evidence_parents(struct evidence *e, uint32_t (*parent)(uint32_t pid));

/* One process's opens of a list, as indices; the same file again is left out. */
#define RUN_MAX 6
struct run {
	uint32_t pid;
	uint32_t at[RUN_MAX];
	unsigned count;
};
/* The runs that may begin an epoch: workers are started in turn, so those of the lowest pids and
 * of the first to open; and where parents are known, of the lowest pid of each parent: of two jobs
 * one may never be explained.  A single process may have looked at a file or two before.  At most
 * max. */
size_t evidence_runs(const struct evidence *e, const struct list *list, struct run *ret,
		     size_t max);
