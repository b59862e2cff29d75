/* Getting and leaving a mount: /dev/fuse, fusermount3 for ordinary users (both by libfuse).
 *
 * Each process that has a mount holds an unlinked file called mount_marker() of it, so that
 * others find the processes of a mount without asking the mount.
 *
 * Thread-safety: none; mount_open_abort(), mount_abort() and mount_marker() on any thread.  While
 * mount_open() runs, stderr leads elsewhere.
 */
#pragma once
#include "base/refuse.h"
#include "config/config.h"

struct mount;
/* Mount at c->mountpoint (absolute).  -errno: nothing is mounted, and reterr has a sentence with
 * the cure. */
int mount_open(const struct config *c, struct mount **ret, char reterr[REFUSE_MAX]) DL_MUST_CHECK;
int mount_fd(const struct mount *m);
/* Nobody can enter any more; whoever is inside is still served.  If it is already gone, or
 * another mount lies there now, nothing happens.  Waits up to 3 s for the server of a mount that
 * may have taken the place of ours.  NULL is fine. */
void mount_detach(struct mount *m);
/* Whether the connection has ended: it was unmounted and nobody is inside, or ended by force. */
bool mount_ended(const struct mount *m);
/* The file that ends the connection whose mount has this minor number, or -errno.  Open it, and
 * then see that the mount is still there: the kernel gives the number of one that has ended to the
 * next mount at once, but the open file stays that of the old one. */
int mount_open_abort(uint32_t minor);
/* End the connection: every request that waits in the kernel fails, every thread of a server
 * that waits for the kernel comes back.  For servers that cannot be killed.  Nothing happens if it
 * has ended; a file that could not be opened (-errno) gives a warning. */
void mount_abort(int file);
uint32_t mount_minor(const struct mount *m);
void mount_close(struct mount *m);     /* detaches, gives the descriptors back; NULL is fine */

#define MOUNT_MARKER_SIZE 32
/* The file's name for a mount whose st_dev has this minor number. */
const char *mount_marker(uint32_t minor, char text[MOUNT_MARKER_SIZE]);
