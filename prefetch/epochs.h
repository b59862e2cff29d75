/* The epoch view: what entry i of epoch E is.  An epoch's order is drawn when it is first asked
 * for, as a function of the dataset, the memory bound and E alone (order/draw.h); the last few
 * are kept, over the dataset as it was then, so that a change of the source does not touch an
 * epoch that is being read.
 *
 * Memory: 8 bytes a sample for each of EPOCHS_KEPT, beside what the tracker has of two of them.
 *
 * Thread-safety: every call on any thread.  The first that asks for an epoch computes it (0.1 s
 * for a million samples), others wait for that.
 */
#pragma once
#include "prefetch/order/order.h"
#include "prefetch/manifest/list.h"

#define EPOCHS_KEPT 3
#define EPOCH_EXTENSION_MAX 16

struct epochs;

struct epoch_view {                    /* owned by who asked: epoch_view_fini() */
	struct list *list;             /* its count is that of the entries */
	struct sequence *sequence;     /* NULL if it was not asked for */
	char extension[EPOCH_EXTENSION_MAX];   /* ".jpg" if all samples have it, or "" */
	uint32_t version;              /* differs when the list does, with good chance */
};
void epoch_view_fini(struct epoch_view *v);

/* room: bytes that may be held. */
int epochs_new(struct manifest *m, uint64_t room, struct epochs **ret) DL_MUST_CHECK;
void epochs_free(struct epochs *e);    /* NULL is fine */
void epochs_changed(struct epochs *e); /* the dataset is another than it was */

/* draw: its sequence as well.  -EAGAIN: the scan is not complete; -ENOENT: there are no samples. */
int epochs_get(struct epochs *e, uint64_t number, bool draw, struct epoch_view *ret)
	DL_MUST_CHECK;
/* What ORDER_DRAWN is over from now on: the list (a ref), and the spec's sizes. */
int epochs_spec(struct epochs *e, struct order_spec *spec, struct list **ret) DL_MUST_CHECK;
