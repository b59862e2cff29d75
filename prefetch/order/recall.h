/* An order that nothing explained, kept for the next run: a program that reads a list which was
 * shuffled once, or seeds numpy with a number, begins each run with the same one.
 *
 * As bytes, in the machine's own order: a header, the list's root below the mount, and the list's
 * index at each position.
 *
 * A value; one owner at a time.
 */
#pragma once
#include "prefetch/manifest/list.h"
#include "prefetch/order/order.h"

#define RECALL_MAX (64 * MiB)          /* bytes; longer orders are not kept */

struct recall {
	enum list_kind kind;           /* of the list that it is over */
	char *root;                    /* below the mount; owned */
	struct sequence *sequence;     /* owned */
};
void recall_fini(struct recall *r);    /* zeros are fine */

/* -EFBIG: it is not kept. */
int recall_print(enum list_kind kind, struct bytes root, const struct sequence *q, struct buf *ret)
	DL_MUST_CHECK;
/* -EINVAL: damaged, or not such bytes. */
int recall_parse(struct bytes bytes, struct recall *ret) DL_MUST_CHECK;
