/* The text of a list: file → sequences.  A line is a path below the root (C escapes as in
 * .dlfs/order; a leading "./" or the mount point itself are taken off by resolve) or a decimal
 * index.  "#" starts a comment line; an empty line, or a line "---", ends an epoch; CRLF is
 * fine.  All lines of a file are of one kind.  No more epochs than ORDER_EPOCHS_MAX.
 *
 * resolve: the index of a path, or a negative errno.  -EINVAL: reterr names the line, or says
 * that there are no entries; -ENOMEM: it is "".  The caller owns *ret.
 * Reads bytes, not files.  Indices must be below n.
 * Thread-safety: pure, as far as resolve() is.
 */
#pragma once
#include "prefetch/order/order.h"

struct list_epochs {
	struct sequence **at;
	size_t count;
};
int list_file_parse(struct bytes text, uint32_t n,
		    int (*resolve)(void *context, const char *path), void *context,
		    struct list_epochs *ret, char reterr[160]) DL_MUST_CHECK;
void list_epochs_fini(struct list_epochs *l);
