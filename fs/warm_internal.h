/* What the parts of warm.c share. */
#pragma once
#include <stdatomic.h>

#include "base/clock.h"
#include "base/lock.h"
#include "fs/warm.h"
#include "prefetch/source/kept_key.h"

#define WARM_CHUNK 1024                /* samples that the engine is told of at once */
#define TURN (10 * CLOCK_MS)           /* between looks */
#define PASSES 3                       /* over what did not come: another was first, or it failed */
#define SETTLING (22 * CLOCK_S / 10)   /* together between them */

enum what { WHAT_NONE, WHAT_WARM, WHAT_DROP };
enum state { STATE_DONE, STATE_RUNNING, STATE_STOPPED, STATE_FAILED };

struct target {
	uint64_t dev, ino, size;
	sample_id id;
	bool there;                    /* it is counted; under `lock` */
	bool coming;                   /* it was being fetched, not by us; the thread's */
};

struct warm {
	struct serve *serve;
	pthread_t thread;
	bool started;                  /* the thread is to be joined; under `lock` */
	_Atomic bool cancelled;
	_Atomic bool stopping;
	char *pattern;                 /* the thread's */
	bool again;                    /* the thread's: not its first round */
	struct buf targets;            /* struct target; the thread's */
	size_t looked;                 /* the thread's: where it looks on among them, and ... */
	uint64_t looked_at;            /* ... when it did last */
	struct dl_lock lock;           /* guards what follows */
	pthread_cond_t changed;
	enum what what;
	uint64_t number;               /* of the last one */
	enum state state;
	uint64_t files, bytes, all_files, all_bytes, before, large, never, left_out, failed;
	uint64_t before_bytes, memory, coming;
	uint64_t matched;
	const char *bound;             /* the setting because of which some are left out; or "" */
	char why[160];                 /* it failed; or "" */
	int error;                     /* of a file that could not be read; 0: not known */
	uint64_t flying, flying_bytes;
};

/* All on the warm thread. */
bool warm_ended(const struct warm *w); /* it shall end */
void warm_wait(struct warm *w);        /* a moment, before a look at what tells nothing by itself */
void warm_settle(struct warm *w);      /* between passes: what has just changed is not kept yet */
struct target *warm_targets(struct warm *w, size_t *ret_count);
int warm_begin_again(struct warm *w) DL_MUST_CHECK;    /* all targets, as they are now */
/* STATE_FAILED, for this reason; the first one counts. */
enum state warm_fail(struct warm *w, const char *format, ...) DL_PRINTF(2, 3);
enum state warm_fail_store(struct warm *w);    /* for what the store says of itself */

bool warm_lacks_room(struct warm *w);  /* some are left out */
bool warm_is_outdated(struct warm *w); /* some that are not there have another version by now */
/* Fetch it, for the store if there is one; in `failed` and `error`, once it has landed, if it
 * cannot be read. */
void warm_bring(struct warm *w, struct target *t);
void warm_land(struct warm *w);        /* wait for all that were so fetched */
/* Until the store is read in; false: it cannot be used now, or this shall end. */
bool warm_await_store(struct warm *w);
/* Bring the targets in. */
enum state warm_fill_store(struct warm *w);
/* Once that is over, with all targets again: what is there.  What came may have taken the place of
 * what was. */
void warm_sum_up_store(struct warm *w);
enum state warm_fill_memory(struct warm *w);
