/* The layer that codes images anew, and its threads.  Private to recoding.c and coders.c. */
#pragma once
#include "base/lock.h"
#include "prefetch/source/coding.h"
#include "prefetch/source/layer.h"
#include "prefetch/source/queue.h"
#include "prefetch/source/ration.h"
#include "prefetch/source/served.h"

#define THREADS_MAX 64u

struct task {
	struct layer_fetch layer;      /* its inner bytes are the source's, until the task ends */
	struct recoding *recoding;
	uint64_t size;                 /* of the source's bytes */
	struct recode_need need;       /* once they are here */
	unsigned users;                /* threads that have it; under the lock, like what follows */
	bool delivered;
	bool again;                    /* a reader waits: it should be coded by one more */
	bool hurried;                  /* a reader came before its bytes did */
	struct task *next;             /* of those that are asked for below */
};

struct coder {                         /* a thread */
	struct recoding *recoding;
	pthread_t thread;
	bool idle;                     /* of the least priority */
	struct task *task;             /* in hand, or NULL */
	struct recode_room *room;      /* while there is something to do; its own */
};

struct recoding {
	struct source source;
	struct served *served;
	struct dl_lock lock;           /* guards what follows */
	struct recode_want want;       /* with what one image may take of the memory */
	size_t kept;                   /* of it, by each thread */
	struct ration work;
	uint64_t source_bytes, source_most;    /* of tasks that were asked for below */
	pthread_cond_t queued, urgent;         /* for idle threads, and for the others */
	struct queue waiting;          /* for source_bytes; outer fetches, own_: a task's layer */
	struct task *below;            /* asked for there, in no order */
	struct queue queue, large;     /* as waiting; their source is here */
	bool large_in_hand;
	struct coder coders[2 * THREADS_MAX];
	unsigned coder_count;
	bool stopping;
};

static inline struct task *task_of(struct fetch *f)
{
	return f ? dl_container_of(f->own_, struct task, layer) : NULL;
}

/* With the lock. */
static inline bool reader_waits(const struct queue *q)
{
	return q->count > 0 && q->heap[0]->due == 0;
}

/* recoding.c, without the lock: */
void task_free(struct task *t);        /* and its part of source_bytes */
void ask_below(struct recoding *rc);   /* for what there is room for */

/* coders.c, with the lock: */
int coders_queue(struct task *t) DL_MUST_CHECK;        /* its source is here; -ENOMEM */
void coders_hurry(struct recoding *rc, sample_id id, uint64_t offset);
int coders_start(struct recoding *rc, unsigned each) DL_MUST_CHECK;    /* of both kinds */
void coders_join(struct recoding *rc); /* without it; rc->stopping is set, and all were woken */
