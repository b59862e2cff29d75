/* Who reads the epoch view, and who only looks at it?  While another order is followed its entries
 * may be resolved by both: ls -l resolves each as well, and whoever reads in the other order opens
 * each sooner or later.  So those count that are opened right after they were resolved.  By the
 * last few it is known what is read; all of them were read once that is followed, which takes a
 * while.
 *
 * Pure; one owner, the planner.
 */
#pragma once
#include "prefetch/order/tracker.h"

#define LOOKS 4096                     /* that are remembered */
#define LOOKS_LAST 16
#define LOOK_FOLLOWED 64               /* opens, its own among them: they come in batches */

struct looks {                         /* zeros: there were none */
	struct look {
		uint64_t epoch, since; /* since: `opens` when it was resolved */
		sample_id id;
		uint32_t position;
		bool opened;
	} look[LOOKS];
	uint64_t count;                /* of all; the last is look[(count - 1) % LOOKS] */
	uint64_t opens;
};

/* This entry was resolved, while another order is followed. */
void looks_note(struct looks *l, uint64_t epoch, uint32_t position, sample_id id);
void looks_opened(struct looks *l, sample_id id);       /* a sample was, by whomever */
/* Half of the last LOOKS_LAST were opened: the view is read. */
bool looks_are_opened(const struct looks *l);
/* The tracker follows this epoch from now on: what was read of it before counts.  now: ns. */
void looks_hand_over(const struct looks *l, uint64_t epoch, struct tracker *t, uint64_t now);
void looks_forget(struct looks *l);
