/* One search: the evidence that it began with, and the work that several threads share.  What
 * it finds is judged by all the evidence that there is by then.  No I/O.
 * Thread-safety: search_run() on any number of threads at once, the others on one.
 */
#pragma once
#include <stdatomic.h>

#include "base/lock.h"
#include "prefetch/find/evidence.h"
#include "prefetch/order/lessons.h"
#include "prefetch/order/positions.h"
#include "prefetch/order/seeds.h"

#define SEARCH_LISTS 12
#define SEARCH_RUNS 3
#define SEARCH_OPENS 64
#define SEARCH_FILTER 2048u

#define SEARCH_MAYBES 16

struct search {
	struct evidence evidence;
	/* All of it by now, on any searcher's thread; false: that was another epoch. */
	bool (*latest)(void *context, struct evidence *ret);
	void *context;
	bool gentle;                           /* leaves the processors to others */
	struct lessons lessons;                /* tried before all else */
	struct list *lists[SEARCH_LISTS];      /* refs */
	size_t list_count;

	struct search_part {                   /* what is known of a list's readers */
		struct run runs[SEARCH_RUNS];
		size_t run_count;              /* 0: which process opened is not known */
		uint32_t first[SEARCH_OPENS];  /* what was opened, as indices; 0: not this list */
		size_t first_count;
		uint64_t filter[SEARCH_FILTER / 64];   /* a bit for each of them, by remainder */
		struct seeds_set set;          /* all that were opened, up to a part of the list */
	} parts[SEARCH_LISTS];
	struct seeds_start starts[SEEDS_STARTS];
	uint8_t list_of[SEEDS_STARTS];         /* of each start */
	uint8_t worlds[SEEDS_STARTS];          /* of each start: at most so many ranks */
	size_t start_count;

	uint32_t from;                         /* the piece of all seeds that is tried first */
	_Atomic uint32_t next;                 /* the piece of work that nobody has yet ... */
	uint32_t end;                          /* ... if it is before this one */
	_Atomic bool stop;
	_Atomic bool claimed;                  /* by who found it: may write the next */
	struct found found;

	struct dl_lock lock;                   /* guards the next */
	struct maybe { struct found found; uint32_t from, to; float bits; } maybes[SEARCH_MAYBES];
	size_t maybe_count;                    /* need more evidence; the best there were */
};

/* With evidence, latest and context set, and the rest zero. */
void search_init(struct search *s);
/* Work out what to look for.  false: nothing can be found with this evidence. */
bool search_prepare(struct search *s);
/* Which piece tries this seed among all seeds; those before that of 0 try the likely ones. */
uint32_t search_piece(uint32_t seed);
/* Do pieces of the work until there are none, or stop.  Any number of threads at once. */
void search_run(struct search *s);
/* Judge what could not be decided by what is known by now.  false: there is no such thing. */
bool search_again(struct search *s);
/* How much of it was done. */
float search_share(const struct search *s);
/* From which piece of all seeds on another one goes on, if so many threads may have been stopped
 * in the midst of theirs. */
uint32_t search_came_to(const struct search *s, unsigned threads);
void search_fini(struct search *s);            /* lets the lists go */

/* Where the beginning of what was found has each sample, for the next two.  It may take a whole
 * shuffle: not under a lock.  -ENOMEM, -ENOTSUP */
int search_positions(const struct found *f, struct positions *ret) DL_MUST_CHECK;
/* Which ranks of its world have their share of the opens, and how many all its readers have. */
void search_ranks(const struct evidence *e, const struct positions *positions, struct found *f);
/* Acquit the processes that read what was found; the others may be another job's, and are evidence
 * of a new turn.  Without pids the same of opens: if too many are left for one that reads this. */
void search_acquit(const struct found *f, const struct positions *positions, struct evidence *e);
