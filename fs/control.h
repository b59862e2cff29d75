/* What dlfs says of itself inside the mount: /.dlfs/, which is in no listing, and the
 * extended attributes.  Answers are made whole when a handle's first READ comes (there is no
 * OPEN), and kept for a short time, so that a reader never sees half of two versions.
 *
 *     stats.json metrics config.yaml order order.next      (read)
 *     user.dlfs.order user.dlfs.epoch user.dlfs.refresh    (setxattr on the root, by the
 *                                                           mount's owner or root)
 *     user.dlfs.state user.dlfs.source-size                (getxattr on a file)
 *     user.dlfs.error user.dlfs.refresh                    (getxattr on the root: why the last
 *                                                           order was refused; waits for a refresh)
 */
#pragma once
#include "fs/serve.h"

#define CONTROL_FOLDER ".dlfs"
#define CONTROL_NODES (UINT64_C(1) << 63)      /* nodes of .dlfs and of what is in it */

static inline bool control_is(node_id node) { return node & CONTROL_NODES; }

struct fuse_entry_param;
int control_lookup(struct serve *s, node_id parent, const char *name, struct attr *ret);
int control_attr(struct serve *s, node_id node, struct attr *ret);
int control_next(struct serve *s, node_id folder, uint64_t cookie, struct manifest_dirent *ret);
/* Append the file's bytes. */
int control_read(struct serve *s, node_id node, struct buf *ret) DL_MUST_CHECK;

/* Reports, also for commands: JSON object, Prometheus text. */
int report_json(struct serve *s, struct buf *ret) DL_MUST_CHECK;
int report_metrics(struct serve *s, struct buf *ret) DL_MUST_CHECK;
