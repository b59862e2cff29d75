/* Private to prefetch/plan. */
#pragma once
#include "prefetch/plan/held.h"
#include "prefetch/plan/plan.h"

#define DUE_NEVER UINT64_MAX

struct way {                           /* a course, and how far its lead was planned */
	struct list *list;             /* owned refs */
	struct sequence *sequence, *next;
	const uint64_t *opened;        /* borrowed, until the next plan_courses() */
	const struct positions *positions;
	uint32_t front, reach;
	bool provisional, sequential;
	uint32_t cursor;               /* positions below were planned; those of `next` follow */
};

struct plan {
	struct plan_limits limits;
	struct plan_sizes sizes;
	uint64_t total_bytes;          /* of the dataset */
	struct way ways[TRACKER_COURSES];
	size_t way_count;

	struct held_table held;
	uint64_t held_bytes, role_bytes[ROLES], dropping_bytes;
	uint32_t fetching;
	uint32_t hand;                 /* where the search for victims goes on */
	uint64_t opens;                /* seen so far */
	uint64_t mean_size;            /* of what was fetched of late */

	uint32_t lead;                 /* target, samples */
	uint64_t lead_grown_at;        /* opens then */
	bool source_idle, fill, forgetting;
	sample_id fill_cursor;
	uint64_t wake;                 /* when to look again, though no fact came */
};

/* victim.c — who goes to make room for something due then: an id that may be dropped now, or
 * SAMPLE_NONE.  deeper: only for a lead beyond the target, so nothing of worth goes. */
sample_id victim_for(struct plan *p, uint64_t due, bool deeper, uint64_t now);
/* Positions until a course reads the sample again; DUE_NEVER: none does in this epoch. */
uint64_t next_use(const struct plan *p, sample_id id);
/* The role of a sample that was just used. */
enum held_role role_after_use(const struct plan *p, uint64_t size);
uint64_t lead_bytes(const struct plan *p);

/* ahead.c — what to fetch next: *ret_due is how far ahead, *ret_deeper that it lies beyond the
 * target.  SAMPLE_NONE: nothing. */
sample_id ahead_next(struct plan *p, uint64_t *ret_due, bool *ret_deeper, uint64_t now);
void ahead_courses(struct plan *p, const struct course *courses, size_t count);
/* The lead was torn: go through it again from the fronts. */
void ahead_again(struct plan *p);
sample_id fill_next(struct plan *p);
