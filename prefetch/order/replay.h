/* Writes down the order of an epoch that nothing explains, for a program that reads every epoch in
 * the same one (a list that was shuffled once, a seed that is set anew each time).
 *
 * An epoch ends with the last file of the list, or where one of its first files is opened again,
 * after half of the list at least.
 * Files that come again elsewhere are passed over; when there are more of these than others, or
 * the first come again early, it was no epoch.
 *
 * 4 bytes a sample and a bit.  One owner.
 */
#pragma once
#include "base/buf.h"
#include "prefetch/manifest/list.h"
#include "prefetch/order/order.h"

struct replay {
	struct list *list;             /* whose indices these are: of the first open; or NULL */
	struct buf at;                 /* uint32_t indices, in the order of their opens */
	uint64_t *seen;                /* a bit an index */
	uint32_t again;                /* opens that were passed over */
};

/* The list's sample was opened.  An epoch's sequence (the caller's), if it ended with this open, or
 * with the one before, so that this one begins the next; else NULL. */
struct sequence *replay_open(struct replay *r, struct list *list, uint32_t index);
/* Go on with another list, of which these opens are as well; what is not in it is left out. */
void replay_move(struct replay *r, struct list *list);
void replay_fini(struct replay *r);    /* ready for use again */
