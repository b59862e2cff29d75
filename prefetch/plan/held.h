/* The samples that are not absent: a hash table by id, dense so that it can be walked.  Its
 * size follows what is held, not the dataset.  Private to prefetch/plan; no thread but the
 * plan's owner.
 */
#pragma once
#include "base/dl.h"

enum held_state { HELD_FETCHING, HELD_READY, HELD_DROPPING, HELD_FAILED };
enum held_role { ROLE_LEAD, ROLE_KEPT, ROLE_SPENT, ROLES };

struct held {
	sample_id id;
	enum held_state state;
	enum held_role role;
	uint8_t failures;
	bool used;                     /* opened while it was still being fetched */
	uint64_t size;                 /* counted against the room; 0 while FAILED */
	uint64_t stamp;                /* SPENT: when used; FAILED: when to try again; ns */
	uint64_t opens;                /* SPENT: how many opens there were then */
	uint64_t cost_ns;              /* of its fetch */
};

struct held_table {
	struct held *at;               /* count of them, in no order */
	uint32_t count, cap;
	uint32_t *slots;               /* hash → place in at, or UINT32_MAX */
	uint32_t slot_count;           /* a power of two */
};

/* Pointers are valid until the next add or remove. */
struct held *held_find(const struct held_table *t, sample_id id);
int held_add(struct held_table *t, const struct held *h) DL_MUST_CHECK;  /* not there yet */
void held_remove(struct held_table *t, struct held *h);
void held_fini(struct held_table *t);
