/* The engine carries the plan out and owns the threads of prefetch (a source has its own).
 *
 *     opens, reads ──facts──► planner thread: tracker → plan ──steps──► source, sink
 *
 * planner  owns tracker and plan; everybody else posts facts to its mailbox
 * source   calls done() on its threads: bytes go into the store, a fact to the planner
 * sink     (fs/) pushes bytes into the page cache on its own threads
 *
 * A sample that was fetched ahead is handed to the sink if the kernel knows its inode;
 * otherwise its bytes wait in the store, and engine_known() hands them over later.  Bytes
 * leave the store once they are pushed.
 *
 * Memory: room of the plan + a reserve for late reads and big files (an eighth), together
 * never above the limit.  A late read waits for its part of the reserve.
 *
 * Thread-safety: every call on any thread, except start and stop.  Those that ask the planner
 * something wait for it: where it does not come to them within `patience`, nothing has happened
 * (-ETIMEDOUT).
 */
#pragma once
#include "base/stats.h"
#include "prefetch/epochs.h"
#include "prefetch/judge.h"
#include "prefetch/order/standing.h"
#include "prefetch/plan/plan.h"
#include "prefetch/source/served.h"
#include "prefetch/source/source.h"
#include "prefetch/store/store.h"

struct engine;

/* Where pushed bytes go.  Both return at once; the job is done later on a thread of the
 * sink, which then calls finished() exactly once (and not inside push/drop). */
struct sink_job {
	sample_id id;
	struct entry *entry;           /* push: pinned until finished(); NULL: a drop */
	int result;                    /* 0; -ENOENT: the kernel does not know this inode */
	void (*finished)(struct sink_job *j);
	struct sink_job *next_;
	uint64_t stamp_;
};
struct sink {
	void (*push)(struct sink *s, struct sink_job *j);
	void (*drop)(struct sink *s, struct sink_job *j);
};

struct engine_options {
	struct manifest *manifest;     /* borrowed, as sink and stats; they outlive the engine */
	struct source *source;         /* the engine's own from a successful start on */
	struct served *served;         /* what is coded anew, borrowed; NULL: nothing */
	struct sink *sink;             /* finishes its jobs until engine_stop() has returned */
	struct stats *stats;
	uint64_t memory;               /* bytes, the bound */
	uint64_t chunk;                /* files up to this are fetched whole */
	uint32_t lead;                 /* samples; 0: adapts */
	const char *lessons_file;      /* what order=auto learns is kept there; NULL: nowhere */
	/* Where the engine before this one, which is gone, stood in the order that the first
	 * engine_order_again() tells, and now this one; borrowed.  NULL: none. */
	struct standing_kept *standing;
	struct judge *judge;           /* of the same kind: what that one had not judged; NULL */
	/* A file turned out to be another version than the manifest's (any thread, no lock). */
	void (*stale)(void *context, sample_id id);
	/* Shall it be kept in memory before any others?  (The planner, no lock.)  NULL: none. */
	bool (*pinned)(void *context, sample_id id);
	/* How many bytes we may hold now so that others have what they need, if so many of what we
	 * hold are in our memory, and so many were pushed.  (The planner, no lock.)  NULL: any. */
	uint64_t (*fits)(void *context, uint64_t waiting, uint64_t pushed);
	void *context;
	uint64_t patience;             /* ns: how long a question waits for the planner */
	bool heir;                     /* the kernel has what an engine before this one gave it */
};

int engine_start(const struct engine_options *options, struct engine **ret) DL_MUST_CHECK;
/* Every waiter is woken (-ESHUTDOWN at worst); no thread of ours is left on return.  Nobody may
 * be inside another call of the engine, except on_wake() of a waiter. */
void engine_stop(struct engine *e);

/* --- Facts ---------------------------------------------------------------------------- */
void engine_opened(struct engine *e, sample_id id, uint32_t pid);      /* pid 0: unknown */
/* The same for many; the planner is woken once. */
struct open_seen { sample_id id; uint32_t pid; };
void engine_opened_all(struct engine *e, const struct open_seen *opens, size_t count);
void engine_known(struct engine *e, sample_id id);      /* the kernel has this inode now */
void engine_overflow(struct engine *e);                 /* opens were lost */
void engine_scanned(struct engine *e);                  /* the manifest is complete, or new */
void engine_pressed(struct engine *e);                  /* somebody here lacks memory */

/* --- Reading -------------------------------------------------------------------------- */
/* So many bytes of a file have blocks: petabytes. */
uint64_t engine_readable(const struct engine *e);
/* Which block holds this byte of the sample, and the block's first byte. */
struct block engine_block(const struct engine *e, sample_id id, uint64_t offset,
			  uint64_t *ret_start);
struct read_by {
	uint32_t pid;                  /* for the read-ahead in big files */
	bool direct;                   /* past the page cache, whatever is in it (O_DIRECT) */
};
/* Ask for a block.  1: *ret is pinned and ready.  0: w->wake() will run exactly once (perhaps
 * before this returns).  Negative: it will not.  Never blocks.
 */
int engine_read(struct engine *e, struct block b, struct read_by by, struct waiter *w,
		struct entry **ret) DL_MUST_CHECK;
/* The same for block 0 of a sample that is not big, by somebody who wants to know its size and
 * not to read it: that is no late read. */
int engine_fetch(struct engine *e, sample_id id, struct waiter *w, struct entry **ret)
	DL_MUST_CHECK;
/* ... who waits for it, or is about to be answered: if an open goes with it, that is a late one. */
void engine_asked(struct engine *e, sample_id id);
/* The block need not be held any longer: all of it went to readers, or its reader wanted no more
 * than its size. */
void engine_spent(struct engine *e, struct block b);
/* Readers had all of the block, and so the kernel has. */
void engine_cached(struct engine *e, struct block b);

/* --- Ahead of any order --------------------------------------------------------------- */
/* Fetch a whole sample so that the local disk keeps it; the bytes go nowhere else.  It comes after
 * everything that somebody waits for or will need.  done() runs once, on a thread of the source.
 * -EAGAIN: there is no memory for it now, or as many are under way as keep the source busy;
 * -EFBIG: it is empty, or not fetched whole.
 */
struct bringing {
	sample_id id;
	int result;
	bool stored;                   /* it is on the disk, or will be soon */
	void (*done)(struct bringing *b);
	struct fetch fetch_;
	struct engine *engine_;
	uint64_t reserved_;
};
int engine_bring(struct engine *e, struct bringing *b) DL_MUST_CHECK;
uint64_t engine_whole(const struct engine *e);  /* samples up to this size are fetched whole */
/* Hold these in memory, in this order, as long as there is room that nothing else needs; as
 * plan_warm().  Or -ETIMEDOUT */
int engine_warm(struct engine *e, const sample_id *ids, size_t count) DL_MUST_CHECK;
/* How many of these (a few thousand at once) are on their way to being held.  -ETIMEDOUT */
int engine_coming(struct engine *e, const sample_id *ids, size_t count) DL_MUST_CHECK;
/* Let go of these (a few thousand at once); how many bytes that will be.  Then nothing is fetched
 * until somebody reads, or engine_expect() says that he is about to, but what engine_warm() and
 * engine_bring() are told; by the engine after this one neither.  -ETIMEDOUT */
int engine_forget(struct engine *e, const sample_id *ids, size_t count, uint64_t *ret_bytes)
	DL_MUST_CHECK;
/* The kernel may have pages of it of which the plan knows nothing, since somebody read it.  Asked
 * again it says no, until somebody reads: whoever asks lets go of them. */
bool engine_let_go(struct engine *e, sample_id id);
void engine_expect(struct engine *e);
/* It is being fetched into memory. */
bool engine_is_coming(const struct engine *e, sample_id id);

/* --- Orders --------------------------------------------------------------------------- */
/* Follow this spec from now on.  May read files: not for a request thread.  `mountpoint` is
 * taken off the paths of a list file.  -EAGAIN: the scan is not complete yet; -EINVAL and
 * others (-ETIMEDOUT); each with a sentence in reterr, and nothing has changed.
 */
int engine_order(struct engine *e, const char *spec, const char *mountpoint, char reterr[160])
	DL_MUST_CHECK;
/* The same, but it was told before, over the dataset as it was, or to the engine before this one:
 * what is read goes on in its epoch, and at its place. */
int engine_order_again(struct engine *e, const char *spec, const char *mountpoint, char reterr[160])
	DL_MUST_CHECK;
/* The next open belongs to this epoch of what is followed.  -EINVAL: that has none that could be
 * told, and a sentence in reterr says why; -ETIMEDOUT */
int engine_epoch(struct engine *e, uint64_t epoch, char reterr[160]) DL_MUST_CHECK;

/* Entry i of epoch `number` of the epoch view is sample list_at(list, sequence->at[i]). */
int engine_epoch_view(struct engine *e, uint64_t number, bool draw, struct epoch_view *ret)
	DL_MUST_CHECK;
/* Somebody asked for the entry at this position of an epoch, which is `id`.  false: others before
 * it were opened as well, but `drawn` is not followed, and is to be told. */
bool engine_resolved(struct engine *e, uint64_t number, uint32_t position, sample_id id);

/* What is believed now: for stats.json. */
struct engine_report {
	char spec[256];
	char found[96];                /* the running epoch's rule, for people; "": not known */
	bool unfit;                    /* the last opens fit the spec in no way */
	enum tracker_state state;
	uint64_t epoch;                /* the running one, or the one that comes first */
	uint64_t position, length;     /* length 0: none is running */
	struct plan_report plan;
};
int engine_report(struct engine *e, struct engine_report *ret) DL_MUST_CHECK;  /* -ETIMEDOUT */
/* The running (false) or next (true) epoch, a path a line, escaped; empty while unknown. */
int engine_order_text(struct engine *e, bool next, struct buf *ret) DL_MUST_CHECK;
/* Changes whenever one of these texts has: after every open that engine_opened() was told of. */
int engine_order_turn(struct engine *e, uint64_t *ret) DL_MUST_CHECK;
int engine_order_describe(struct engine *e, struct buf *ret) DL_MUST_CHECK;
/* Where a sample is, whoever brought it there.  The kernel may have dropped its pages and not said
 * so; of files that are not fetched whole, and of what a server before this one did, nothing is
 * known: WHERE_SOURCE. */
enum engine_where { WHERE_SOURCE, WHERE_MEMORY, WHERE_PAGE_CACHE };
enum engine_where engine_where(struct engine *e, sample_id id);
/* It is there because it was planned, and stays as long as there is room. */
bool engine_holds(struct engine *e, sample_id id);
