/* The epoch view, /.dlfs/epoch/E/: as many symlinks as the dataset has samples, which read in name
 * order are one shuffled epoch.  See prefetch/epochs.h.
 *
 *     E                          000000000.jpg, 000000001.jpg, ...
 *     E,rank=R,world=W           every W-th of them, from number R on
 *     E,job=NAME[,rank=...]      the same for another job: the same order
 *
 * Nodes say all that there is to know (epoch and ranks, or epoch and sample), so nothing is
 * remembered for a name, and a server that takes over gives the same answers.  A folder's names
 * are kept by the kernel; an entry is looked up whenever it is used, which tells which epoch is
 * read.
 *
 * Thread-safety: every call on any thread.
 */
#pragma once
#include "fs/control.h"

#define EPOCH_FOLDER "epoch"
#define EPOCH_NODES (CONTROL_NODES | UINT64_C(1) << 62)

static inline bool epoch_is(node_id node) { return (node & EPOCH_NODES) == EPOCH_NODES; }

void epoch_root(const struct serve *s, struct attr *ret);      /* /.dlfs/epoch itself */
/* As control_lookup() and the others, for nodes of which epoch_is() holds. */
int epoch_lookup(struct serve *s, node_id parent, const char *name, struct attr *ret)
	DL_MUST_CHECK;
int epoch_attr(struct serve *s, node_id node, struct attr *ret) DL_MUST_CHECK;
/* ret->name is valid until the next call on this thread. */
int epoch_next(struct serve *s, node_id folder, uint64_t cookie, struct manifest_dirent *ret)
	DL_MUST_CHECK;
int epoch_readlink(struct serve *s, node_id node, struct buf *ret) DL_MUST_CHECK;
