/* The tracker follows the readers through their orders: opens go in, courses come out.
 *
 *   course   one job's way through one sequence: what it has opened and how far it is
 *
 * A told spec is a set of hypotheses (list × epoch); each open counts for or against them,
 * and one is believed as soon as the others are refuted (wrong with chance below 1e-6, or all
 * others out).  Before, every hypothesis is a provisional course with a short lead.
 *
 * Workers of one loader open several stretches of a sequence at once: the front of a course
 * is its lowest position that was not opened and has not been given up, as what lies
 * TRACKER_SPREAD behind the foremost reader is, unless another has gone on there lately.
 * Opens elsewhere that agree among themselves (8 in a row within one window) move the course:
 * resume in mid-epoch, or the next epoch.  Opens of a list that agree with nothing are
 * mispredicted; when they outnumber the right ones over the last 64 the belief is dropped (state
 * SEARCHING, no courses) until opens agree again.
 *
 * Files that are gone are not waited for, nor what ranks that open nothing here would come to.
 *
 * A second group of processes that starts at the front of a sequence while the first is
 * elsewhere gets a course of its own.  Files read in listing order (a validation loader,
 * md5sum over everything) get a sequential course, whatever the spec; with `order: none`
 * there are no courses at all.  A validation set that is shuffled is followed beside the training
 * set once its order was found, and begins anew when it was read (beside.c).
 *
 * While nothing is followed, and nothing has begun for 1024 opens (an epoch, a process, reading
 * after a pause), one open in eight is looked at, in runs of 128 (attention.c).  An epoch that
 * nothing explains may come again: it is believed as soon as opens agree, and not fetched before.
 * One of an earlier run is fetched until 128 opens of this run were unlike it.
 *
 * Pure: no I/O, no clock, no lock; one owner.  Sequences are made inside tracker_open() and
 * tracker_work(), at about 20 ns a sample.
 */
#pragma once
#include "prefetch/manifest/list.h"
#include "prefetch/order/lessons.h"
#include "prefetch/order/list_file.h"
#include "prefetch/order/positions.h"
#include "prefetch/order/standing.h"

#define TRACKER_COURSES 16
#define TRACKER_RANKS 64
#define TRACKER_SPREAD 4096            /* positions of each rank, and ... */
#define TRACKER_WIDEST (1u << 17)      /* ... at most; ranks × workers × prefetch_factor × batch */

struct tracker;

enum tracker_state { TRACKER_NONE, TRACKER_SEARCHING, TRACKER_BELIEVED, TRACKER_CONFIRMED };

struct course {                        /* read-only for others; valid until the next call */
	struct list *list;
	struct sequence *sequence;
	struct sequence *next;         /* the next epoch's, or NULL while it is unknown */
	const struct positions *positions;     /* of sequence: index → position */
	const uint64_t *opened;        /* a bit a position */
	const uint64_t *lost;          /* the same, of files that are gone; NULL: none is */
	/* A bit for each of sequence->step ranks, of those that read nothing here; NULL: none. */
	const uint64_t *absent;
	uint32_t front;                /* lowest position not opened and not given up */
	/* One past the highest position opened; a single one may lie ahead of it, as long as none
	 * goes on there. */
	uint32_t reach;
	uint64_t epoch;
	bool provisional;              /* one of several hypotheses */
	/* Found by watching, not told, and not always read: its lead grows as it goes on. */
	bool sequential;
	uint64_t last_open;            /* time of the last open that fitted */
	uint32_t pid;                  /* of one of its readers; 0: unknown */
};

enum tracker_verdict {                 /* as it seems at once */
	TRACKER_FITS,                  /* where it was expected */
	TRACKER_MISPREDICTED,          /* of a list that is believed, or told, but not there */
	TRACKER_STRANGE,               /* nothing is believed about this sample */
};

int tracker_new(struct tracker **ret) DL_MUST_CHECK;
void tracker_free(struct tracker *t);

/* From now on: spec over these lists (likeliest first; refs are taken); `listed` only for
 * ORDER_LIST, whose sequences are over lists[0] (taken).  What was followed is forgotten.
 */
int tracker_order(struct tracker *t, const struct order_spec *spec, struct list *const *lists,
		  size_t list_count, struct list_epochs *listed) DL_MUST_CHECK;
/* The same order goes on over other lists: the dataset has changed.  What is followed goes on where
 * it is, over `now`, one of the lists, which has the same files at the same indices as `before`;
 * what has none of these is forgotten, but for the epoch that was followed last.  The first order
 * that a tracker is told goes on from tracker_stood().  Without `listed` an ORDER_LIST is what it
 * was; -EINVAL: it was another. */
struct renewed { const struct list *before; const struct list *now; };
int tracker_again(struct tracker *t, const struct order_spec *spec, struct list *const *lists,
		  size_t list_count, struct list_epochs *listed, const struct renewed *renewed,
		  size_t renewed_count) DL_MUST_CHECK;
/* The lists that are gone through now; refs for the caller.  How many. */
#define TRACKER_FOLLOWED 8
size_t tracker_followed(const struct tracker *t, struct list *ret[TRACKER_FOLLOWED]);
/* Where it stands, or stood when something was followed last; and, before the first order, where
 * another one did. */
struct standing tracker_standing(struct tracker *t);
void tracker_stood(struct tracker *t, const struct standing *s);

/* With ORDER_AUTO: a search says that this is being read.  It is followed from now on if the opens
 * of late agree: true; else nothing has changed.  Ranks of a world (0: none) as in a spec. */
struct found {
	struct list *list;             /* one of those that the tracker was given */
	uint32_t seed, skip;           /* randperm of this generator after so many words, ... */
	enum std_shuffle shuffle;      /* ... or this, see struct epoch; ... */
	uint32_t buffer;               /* ... or, if this is not 0, EPOCH_NUMPY */
	uint64_t opened;               /* by its readers by now; 0: not known, or not nearly all */
	uint32_t world;
	uint32_t ranks[TRACKER_RANKS], rank_count;     /* ascending; 0: all of them */
};
bool tracker_found(struct tracker *t, const struct found *f);
/* With ORDER_AUTO: what earlier epochs and runs had (borrowed, may change between calls; tell
 * again when it has).  An epoch's successor is then known before it begins. */
void tracker_teach(struct tracker *t, const struct lessons *lessons);
/* true: the epoch that is read is one to be remembered. */
bool tracker_lesson(const struct tracker *t, struct lesson *ret);
/* With ORDER_AUTO: an order that nothing explained in an earlier run (refs are taken); perhaps this
 * one has it, too. */
void tracker_recall(struct tracker *t, struct list *list, const struct sequence *epoch);
/* The last epoch of this run that nothing explained, and its list; borrowed.  NULL: none. */
const struct sequence *tracker_written(const struct tracker *t, struct list **ret_list);
/* Such an order is read again. */
bool tracker_replays(const struct tracker *t);
/* With ORDER_AUTO: from now on these lists, and those of what is followed; else false. */
bool tracker_lists(struct tracker *t, struct list *const *lists, size_t count);
/* The next open belongs to this epoch (user.dlfs.epoch).  -EINVAL, and nothing has changed: what is
 * followed has no number (none, auto), or its readers say it (drawn); -ERANGE: it has fewer. */
int tracker_epoch(struct tracker *t, uint64_t epoch);

/* With ORDER_DRAWN: somebody asked for the entry at this position of an epoch.  Only opens of what
 * was asked for count, each for the epoch that it was asked for in.  true: this epoch is followed
 * now, the next one; the one before it until its last readers have ended.  Any other is followed
 * once its files are opened. */
bool tracker_drawn(struct tracker *t, uint64_t epoch, uint32_t position);
/* Right after it was told: this was asked for before, as entry of its first epoch, and perhaps
 * opened since.  Oldest first. */
void tracker_drawn_before(struct tracker *t, uint32_t position, sample_id id, bool opened,
			  uint64_t now);

/* A sample was opened.  pid 0: unknown.  now: ns, for ageing only. */
enum tracker_verdict tracker_open(struct tracker *t, sample_id id, uint32_t pid, uint64_t now);
/* Opens that no order had at that place, of all so far: known when 64 more were seen, or nothing of
 * what was told explains them. */
uint64_t tracker_mispredicted(const struct tracker *t);
/* The last open went on where a course was.  (What begins an epoch, or a batch, may fit too.) */
bool tracker_took(const struct tracker *t);
/* Counts on with the first open that is not of the epoch that was followed: that was read to its
 * end, or nearly, or the next one is followed now. */
uint64_t tracker_turn(const struct tracker *t);
/* The processes that read what was over then, those of late; how many. */
#define TRACKER_READERS 32
size_t tracker_left(const struct tracker *t, uint32_t ret[TRACKER_READERS]);
/* Opens were lost: positions are lower bounds until the next open that fits. */
void tracker_overflow(struct tracker *t);
/* Do a piece of work that can wait (the next epoch's sequences).  true: there is more. */
bool tracker_work(struct tracker *t);
/* Courses whose readers are gone (no open for 30 s while others opened, or pid dead). */
void tracker_age(struct tracker *t, uint64_t now, bool (*alive)(uint32_t pid));

size_t tracker_courses(const struct tracker *t, const struct course **ret);   /* array */
enum tracker_state tracker_state(const struct tracker *t);
/* The course that .dlfs/order is about: the told order's, last opened; with ORDER_AUTO also one in
 * listing order, if nothing else is known and nearly all of late was read so.  NULL: none. */
const struct course *tracker_main(const struct tracker *t);
/* So many of its samples were read, or given up; and of how many: not of those that are gone. */
uint32_t tracker_position(const struct course *c);
uint32_t tracker_length(const struct course *c);
/* Many opens came, and none of the epochs that may come first explains them: a wrong seed? */
bool tracker_unfit(const struct tracker *t);
int tracker_describe(const struct tracker *t, struct buf *ret) DL_MUST_CHECK;   /* for people */
/* The same of the main course alone, in a few words; nothing if there is none.  Of `auto`, while
 * nothing else is found, of what is read by name. */
int tracker_describe_main(const struct tracker *t, struct buf *ret) DL_MUST_CHECK;
