/* Inside the finder; private to finder*.c. */
#pragma once
#include <semaphore.h>

#include "base/lock.h"
#include "prefetch/find/finder.h"
#include "prefetch/find/search.h"
#include "prefetch/find/vain.h"

#define FINDER_THREADS 256

struct finder {
	struct finder_options options;
	pthread_t thread, searchers[FINDER_THREADS];
	unsigned searcher_count;
	sem_t news;                    /* for the finder's thread */
	sem_t work;                    /* one for each searcher that shall take part */
	_Atomic bool stopping;         /* the finder's thread ends; then ... */
	_Atomic bool dismissed;        /* ... the searchers, whom it may have waited for */
	_Atomic unsigned busy;         /* searchers at work */

	struct dl_lock lock;           /* guards the next; never held for long */
	struct evidence evidence;
	struct list *lists[SEARCH_LISTS];
	size_t list_count;
	uint32_t epoch;                /* the most samples that a list has */
	uint64_t tried;                /* the turn of the evidence that was searched last */
	enum evidence_stage stage;     /* ... and when */
	uint64_t compared;             /* the turn of which a search's evidence was compared with
	                                * what there was later */
	struct vain vain;
	bool put_off;                  /* what would have been searched last */
	bool searching;
	struct lessons lessons;
	bool unsaved;
	uint64_t lesson_turn;          /* how often there were new ones */
	uint64_t foretold;             /* the turn for which all was worked out */

	/* The finder's thread's, or the busy searchers'. */
	struct search search;
	struct forecast forecast;
	void (*work_on)(struct finder *f);
};

/* finder_told.c; all with the lock: */
bool finder_may_search(const struct finder *f);        /* there is evidence that was not searched */
void finder_call_off(struct finder *f);        /* what is searched is not the question any more */
void finder_drop_lists(struct finder *f);
