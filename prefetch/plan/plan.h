/* The plan turns courses into work: facts go in, steps come out.  Pure: no I/O, no clock, no
 * lock; one owner, the planner thread.  So every decision can be tested from a table.
 *
 * Life of a held sample, and its role:
 *
 *     absent -FETCH-> fetching -plan_fetched-> ready -DROP-> dropping -plan_dropped-> absent
 *
 *     LEAD    needed ahead by some course
 *     KEPT    used, and kept for the next epoch
 *     SPENT   used, goes early when room is needed, but not before its reader is done
 *             with it (he opened another, and all SPENT_OPENS; or SPENT_NS passed)
 *
 *     STALE   was wanted once, by a course that is gone or has passed it: goes first when room
 *             is needed
 *     DOOMED  forgotten: goes now
 *
 * Room: the bytes of all samples that are not absent never exceed limits.room, whatever the
 * facts are (after a smaller limit: they only fall until they are below it).  When room is
 * short, in this order: stale ones; spent ones (oldest first; at once when they are a
 * quarter of the room); kept ones beyond the share that the lead leaves; what is beyond the
 * lead of its course, furthest first; kept ones that cost least per byte to fetch again,
 * most recently used first; and a LEAD sample only for one that is needed sooner (furthest
 * first, over all courses).  Cost is measured, and smoothed by class of size; what is on a local
 * disk is of classes of its own, so that memory keeps what that does not.
 *
 * The lead adapts: it doubles when a read was late though the order was right, and goes as
 * deep as free room allows while the source has nothing to do; it shrinks by a quarter when
 * the kernel dropped what was pushed for it (plan_lost).  What is kept is never traded for a lead
 * deeper than the target.
 *
 * Readers may be so far apart that what lies between them does not all fit: then each has a few of
 * what he comes to next, once the source has no more to do for the hindmost, who go first.
 *
 * Steps are in order of need, soonest first.
 *
 * No course known, and plan_fill() said so: the reservoir is filled by a uniform sample of all
 * (a sample is in it if hash(id) is below the share of the dataset that fits), in id order,
 * only while the source is idle and nobody has opened anything for PLAN_QUIET_NS, and it never
 * evicts.  What readers in an unknown order read is such a sample as well, at no cost.
 */
#pragma once
#include "base/clock.h"
#include "prefetch/order/tracker.h"

struct plan;

#define PLAN_NEVER UINT64_MAX
#define PLAN_SPENT_OPENS 16
#define PLAN_SPENT_NS (2 * CLOCK_S)
#define PLAN_QUIET_NS (2 * CLOCK_S)

struct plan_limits {
	uint64_t room;                 /* bytes */
	uint64_t whole;                /* samples above this size are not planned (big files) */
	uint32_t lead;                 /* samples; 0: adapts */
	uint32_t depth;                /* fetches at once that keep the source busy */
};

enum plan_verb {
	PLAN_FETCH,                    /* bring id in: answer with fetched or failed */
	PLAN_DROP,                     /* take id out of memory and page cache: answer dropped */
	PLAN_IDLE,                     /* nothing to do until the next fact */
};

struct plan_step {
	enum plan_verb verb;
	sample_id id;
	uint64_t due;                  /* lower is more urgent: about the number of the open that
	                                * will be its use; in pieces, the position of the first
	                                * use of its piece; PLAN_NEVER, and nobody needs it */
	bool in_turn;                  /* as in struct fetch */
};

struct plan_sizes {                    /* how the plan asks for a size; false: no such sample */
	bool (*size)(const void *context, sample_id id, uint64_t *ret);
	/* Shall it be kept before any others?  NULL: none. */
	bool (*pinned)(const void *context, sample_id id);
	const void *context;
	uint32_t count;                /* ids are below this (may grow: plan_grown) */
};

int plan_new(const struct plan_limits *limits, const struct plan_sizes *sizes,
	     struct plan **ret) DL_MUST_CHECK;
void plan_free(struct plan *p);

/* Facts.  None can fail; now is in ns, never goes back. */
void plan_limits_changed(struct plan *p, const struct plan_limits *limits);
void plan_grown(struct plan *p, uint32_t count, uint64_t total_bytes);
/* The courses as they are now (borrowed until the next call of the tracker; the plan keeps
 * refs of what it needs).  Call after each batch of opens. */
void plan_courses(struct plan *p, const struct course *courses, size_t count, uint64_t now);
/* A reader opened it; pid 0: not known which. */
void plan_used(struct plan *p, sample_id id, uint32_t pid, uint64_t now);
void plan_late(struct plan *p, sample_id id);                   /* it was not there */
bool plan_lost(struct plan *p, sample_id id);   /* dropped by the kernel; false: by the plan */
/* What is being fetched has another size than the plan was told when it asked. */
void plan_sized(struct plan *p, sample_id id, uint64_t size);
void plan_fetched(struct plan *p, sample_id id, uint64_t cost_ns);
/* It is on a local disk; `before`: and came from there.  Said before plan_fetched(). */
void plan_local(struct plan *p, sample_id id, bool before);
void plan_failed(struct plan *p, sample_id id, uint64_t now);   /* offered again after 1 s, twice */
void plan_dropped(struct plan *p, sample_id id);
void plan_idle(struct plan *p, bool source_idle);
void plan_fill(struct plan *p, bool fill);     /* may the reservoir be filled with no order? */
/* Hold these as well, in this order, after what is needed, in room that nothing needs.  How many of
 * them were taken; -EAGAIN: later, those before have their turn; -ENOSPC, once: for some of those
 * before there was no room. */
int plan_warm(struct plan *p, const sample_id *ids, size_t count);
/* It shall be dropped; its bytes, unless it was forgotten before.  Nothing is fetched then,
 * whatever the courses say, but for plan_warm(), until a reader opens something, or waits, or
 * plan_expect() says that one is about to come. */
uint64_t plan_forget(struct plan *p, sample_id id);
/* As if something had been forgotten; and whether nobody has read since, or is about to. */
void plan_rest(struct plan *p);
bool plan_is_resting(const struct plan *p);
void plan_expect(struct plan *p, uint64_t now);

/* The next thing to do now.  Call until it says PLAN_IDLE; then not before the next fact or
 * plan_wake().  Never more than `depth` × 2 fetches are out at once; where a source is read in
 * pieces, or in the order in which it stores its samples, four pieces, or the lead.
 */
struct plan_step plan_next(struct plan *p, uint64_t now);
uint64_t plan_wake(const struct plan *p);      /* when to ask again; UINT64_MAX: no need */

struct plan_report {
	uint64_t held, kept, room;     /* bytes */
	uint32_t ready_ahead;          /* samples of the lead that are ready */
	uint32_t lead_target;
	bool filling;                  /* plan_fill() said so, no course is known, there is room */
};
struct plan_report plan_report(const struct plan *p);
bool plan_held(const struct plan *p, sample_id id);     /* its bytes count: not absent */
bool plan_fetching(const struct plan *p, sample_id id);
bool plan_check(const struct plan *p); /* recompute everything; for tests */
