/* Answering the kernel.  fs/ is the only folder that includes <fuse_lowlevel.h>.
 *
 * Threads of a serving process:
 *
 *     request threads   read a request, answer it from the manifest or the store; a READ
 *                       whose bytes are not there is parked, not the thread
 *     push threads      the page cache: notify_store, and dropping
 *     notify thread     what the kernel must forget after a refresh; but for these and the push
 *                       threads nobody may notify
 *     announce thread   tells the engine what the kernel has come to know
 *     watch thread      opens, from fanotify or inotify
 *     errand threads    what may take long: orders, refresh, scan, verify; and, on another one,
 *                       what a reader waits for
 *     pressure thread   whether somebody lacks memory
 *     warm thread       while `dlfs warm` or `dlfs drop` is carried out
 *     planner, source   see prefetch/engine.h
 *
 * No lock of ours is held across a notify call or any other call into the kernel.
 */
#pragma once
#include "base/refuse.h"
#include "config/config.h"
#include "fs/shared.h"
#include "fs/tier.h"
#include "prefetch/engine.h"

struct fuse_session;

struct serve_options {
	const struct config *config;
	struct manifest *manifest;
	struct served *served;         /* what is coded anew; NULL: nothing */
	struct shared *shared;
	const char *mountpoint;        /* absolute */
	const char *state_file;        /* where the manifest is saved; NULL: nowhere */
	const char *served_file;       /* where what is served is saved; NULL: nowhere */
	const char *lessons_file;      /* where what order=auto learned is; NULL: nowhere */
	uint64_t memory;               /* bytes, decided */
	int fuse_fd;                   /* an open /dev/fuse of the mount */
	bool replacement;              /* of a server that died */
};

/* All parts of a serving process; borrowed by each. */
struct serve {
	const struct serve_options *options;
	struct manifest *manifest;
	struct served *served;
	struct stats *stats;
	struct fuse_session *session;
	struct tier tier;
	struct engine *engine;
	struct push *push;
	struct announce *announce;
	struct notify *notify;
	struct watch *_Atomic watch;   /* NULL until the mount answers */
	struct errands *errands;
	struct errands *awaited;       /* those that a reader waits for */
	struct warm *warm;
	struct pressure *pressure;     /* NULL: there are no reports */
	struct control *control;
	struct early *early;
	double entry_timeout, negative_timeout;        /* seconds */
	uint64_t served_saved;         /* served_turn() then */
	unsigned threads;              /* that answer requests; set before the first of them */
	char unreadable[REFUSE_MAX];   /* see unreadable.h; complete once looked */
	_Atomic bool looked;
	char unmatched[REFUSE_MAX];    /* see unmatched.h; complete once matched */
	_Atomic bool matched;
	bool no_open, no_opendir;      /* answered ENOSYS; set by INIT */
	_Atomic int unread;            /* why the first scan of the source failed, or 0 */
	_Atomic bool stopping;
};

/* Serve until the mount ends or SIGTERM; the process's whole work.  Returns its exit code. */
int serve_run(const struct serve_options *options);
