/* One search: a copy of the evidence, and the work that several threads share.  No I/O. */
#pragma once
#include <stdatomic.h>

#include "prefetch/evidence.h"
#include "prefetch/order/seeds.h"

#define SEARCH_LISTS 12
#define SEARCH_RUNS 3
#define SEARCH_OPENS 64
#define SEARCH_FILTER 2048u

struct search {
	struct evidence evidence;
	struct list *lists[SEARCH_LISTS];      /* refs */
	size_t list_count;

	struct search_part {                   /* what is known of a list's readers */
		struct run runs[SEARCH_RUNS];
		size_t run_count;              /* 0: which process opened is not known */
		uint32_t first[SEARCH_OPENS];  /* what was opened, as indices; 0: not this list */
		size_t first_count;
		uint64_t filter[SEARCH_FILTER / 64];   /* a bit for each of them, by remainder */
	} parts[SEARCH_LISTS];
	struct seeds_start starts[SEEDS_STARTS];
	uint8_t list_of[SEEDS_STARTS];         /* of each start */
	size_t start_count;

	_Atomic uint32_t next;                 /* the piece of work that nobody has yet ... */
	uint32_t end;                          /* ... if it is before this one */
	_Atomic bool stop;
	_Atomic bool claimed;                  /* by who found it: may write the next */
	struct found found;
};

/* Work out what to look for.  false: nothing can be found with this evidence. */
bool search_prepare(struct search *s);
/* Which piece tries this seed among all seeds; those before the piece of 0 try the likely ones. */
uint32_t search_piece(uint32_t seed);
/* Do pieces of the work until there are none, or stop.  Any number of threads at once. */
void search_run(struct search *s);
void search_fini(struct search *s);            /* lets the lists go */
/* Which ranks of its world have their share of the opens. */
void search_ranks(const struct evidence *e, struct found *f);
