/* One folder read by many: what the io_uring and the thread bottom share.
 *
 * A job is one running fetch as a step machine: dir_step() says which system call comes next,
 * the driver makes it, in whatever way it can, and hands in the result.
 *
 *     OPEN … → STAT → READ … → STAT → END    the second STAT: still the same version?
 *
 * Page cache: the bytes are pushed into the cache of our own mount, so the source's pages are
 * a second copy and are dropped after the read, unless some were there before: then somebody
 * else wants them (dir_cached()).  Readahead is off: ranges are read as they are asked for.
 *
 * A job that has not come on for a while hangs, as on a server that does not answer, and does not
 * count among those that may run: others take their turn, until all there are hang.
 *
 * Thread-safety: the queue and the table of jobs are under `lock`; a job that runs belongs to
 * the thread that took it.
 */
#pragma once
#include <linux/openat2.h>
#include <sys/stat.h>
#include "base/lock.h"
#include "prefetch/source/queue.h"

struct ring;

#define DIR_JOBS 256u                  /* with those that hang */

enum dir_want { DIR_OPEN, DIR_STAT, DIR_READ, DIR_END };

struct dir_job {
	struct fetch *fetch;           /* under the lock; NULL: free, or was given up */
	bool running;                  /* under the lock */
	_Atomic uint64_t since;        /* ... and when it came on last */
	/* of the thread that runs it: */
	enum dir_want want;            /* the call that is being made */
	int fd;                        /* -1: not open */
	int result;                    /* after DIR_END */
	bool checked, cached;
	bool remote;                   /* even an fstat may have to ask a server */
	unsigned again;                /* calls that were to be repeated */
	struct buf path, bytes;
	int folder;                    /* on the way, if the path is too long for one call; -1 */
	char *rest;                    /* of the path, from there or from the root */
	size_t len;
	uint64_t offset;
	struct open_how how;
	struct statx now;
	struct attr version;
	struct dir *dir;
};

struct dir {
	const struct manifest *manifest;
	int root;                      /* our own: jobs that hang may outlive the manifest's */
	uint64_t dev;                  /* of it, if that is a local disk; else 0 */
	_Atomic bool no_atime;         /* O_NOATIME is still worth a try */
	struct dl_lock lock;
	pthread_cond_t posted;         /* the queue or `stopping` changed */
	pthread_cond_t quiet;          /* a job or a done() ended */
	struct queue queue;
	struct dir_job *jobs;
	unsigned width;                /* how many are of use */
	unsigned depth;                /* how many may come on; shrinks when descriptors run out */
	unsigned running;              /* all */
	unsigned delivering;           /* fetches that are in done() */
	bool stopping;
	bool idle;                     /* the driver found nothing to take: wake it; or else ... */
	uint64_t look_at;              /* ... it looks again then: one may hang */
	/* of the drivers: */
	pthread_t *threads;
	unsigned thread_count;
	struct ring *ring;
};

static inline int dir_from(const struct dir_job *j)
{
	return j->folder < 0 ? j->dir->root : j->folder;
}

/* The source itself; its jobs are apart, since those that hang outlive it. */
struct dir_source {
	struct source source;
	struct dir *dir;
};

int dir_new(const struct source *s, unsigned width, struct dir **ret) DL_MUST_CHECK;
void dir_free(struct dir *d);
unsigned dir_depth(const struct source *s);
void dir_hurry(struct source *s, sample_id id, uint64_t offset);
/* 1: queued, and the driver has to be woken; 0: queued; else as source_ops.submit. */
int dir_queue(struct dir *d, struct fetch *f) DL_MUST_CHECK;
int dir_thread(struct dir *d, void *(*run)(void *)) DL_MUST_CHECK;     /* signals blocked */

/* With the lock: the next job that may run, its first call in job->want; NULL: none now. */
struct dir_job *dir_take(struct dir *d);
/* Without the lock: after DIR_END.  Ends the fetch, or puts it back into the queue. */
void dir_finish(struct dir_job *j);

/* End all that waits (-ESHUTDOWN), wait up to 5 s for what runs, give the rest up
 * (-ETIMEDOUT).  true: nothing was left hanging.  If not, a thread or the kernel may still
 * write to a job: then d has to stay for ever, and the threads are on their own. */
bool dir_stop(struct dir *d) DL_MUST_CHECK;

/* --- dir_job.c ------------------------------------------------------------------------ */

/* With the lock, which a stop that gives jobs up relies on; it never blocks. */
void dir_prepare(struct dir_job *j);
/* Without the lock: the result of job->want is in; what is wanted next. */
enum dir_want dir_step(struct dir_job *j, int result);
int dir_fstat(struct dir_job *j);      /* the call for DIR_STAT, made here */
/* Of folders on the way, and of pages that nobody had before; the descriptor of the file, or -1, is
 * the caller's. */
int dir_let_go(struct dir_job *j) DL_MUST_CHECK;
