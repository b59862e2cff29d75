/* What dlfs says of itself inside the mount: /.dlfs/, which is in no listing, and the
 * extended attributes.
 *
 *     epoch/                                               (epoch.h)
 *     stats.json metrics config.yaml order order.next      (read)
 *     user.dlfs.order user.dlfs.epoch user.dlfs.refresh    (setxattr on the root, or on .dlfs, by
 *                                                           the mount's owner or root: the kernel
 *                                                           may ask for the modes of the root,
 *                                                           which are those of the source)
 *     user.dlfs.warm user.dlfs.drop user.dlfs.cancel       (the same, see warm.h; getxattr of
 *                                                           warm: how far it is)
 *     user.dlfs.state user.dlfs.source-size                (getxattr on a file; state: as
 *                                                           engine_where(), or "disk")
 *     user.dlfs.recode                                     (the same: what was done, or why not;
 *     user.dlfs.ssim user.dlfs.quality                      of one that was coded anew)
 *     user.dlfs.error user.dlfs.order user.dlfs.refresh    (getxattr on the root: why the last
 *                                                           order was refused; the order that
 *                                                           is followed; waits for a refresh)
 *     user.dlfs.belief                                     (getxattr on the root: what is
 *                                                           believed and why, for people)
 *
 * A file's text is made when its name is looked up, and is then a node of its own: so its
 * size is exact, a reader never sees parts of two versions, and nothing that the kernel has
 * cached can be mistaken for what is true now.  It is remembered until the kernel forgets the
 * node; of more than 1024 of a file, or 32 MiB, the oldest are not, and reading one gives -ESTALE.
 *
 * Thread-safety: every call on any thread.
 */
#pragma once
#include "fs/serve.h"

#define CONTROL_FOLDER ".dlfs"
#define CONTROL_NODES (UINT64_C(1) << 63)      /* nodes of .dlfs and of what is in it */

static inline bool control_is(node_id node) { return node & CONTROL_NODES; }

struct control;
struct commands;
struct refreshes;
/* Stop it when no request and no errand runs any more, but before the session goes. */
int control_start(struct control **ret) DL_MUST_CHECK;
void control_stop(struct control *c);
struct commands *control_commands(struct control *c);      /* see command.h */
struct refreshes *control_refreshes(struct control *c);    /* see refresh.h */
uint64_t control_started(const struct control *c);         /* clock_now() at the start */

void control_folder(const struct serve *s, struct attr *ret);   /* /.dlfs itself */
int control_lookup(struct serve *s, node_id parent, const char *name, struct attr *ret)
	DL_MUST_CHECK;
int control_attr(struct serve *s, node_id node, struct attr *ret) DL_MUST_CHECK;
int control_readlink(struct serve *s, node_id node, struct buf *ret) DL_MUST_CHECK;
int control_next(struct serve *s, node_id folder, uint64_t cookie, struct manifest_dirent *ret)
	DL_MUST_CHECK;
void control_forget(struct serve *s, node_id node, uint64_t lookups);  /* the kernel does */
/* Append up to size bytes of the file from offset on. */
int control_read(struct serve *s, node_id node, uint64_t offset, size_t size, struct buf *ret)
	DL_MUST_CHECK;
