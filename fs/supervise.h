/* Restart without a trace: a small parent keeps /dev/fuse and the shared mappings, a child
 * serves.  If the child dies otherwise than by its own decision (exit code 0), another one
 * takes over; it is given the kernel's INIT again and asks with FUSE_NOTIFY_RESEND (kernel 6.9
 * and newer) for the requests that the dead one had taken.  On older kernels the mount is
 * ended and made again: then shared->init_len is 0 although options->replacement is set.
 * More than 10 deaths within 10 s: unmount and give up.
 *
 * SIGTERM, SIGINT, SIGHUP to either: the server leaves, the mount is detached, both are gone
 * within 5 s; a second SIGTERM: at once.  If the parent itself is killed, the server gets
 * SIGTERM and detaches the mount: nobody would replace it.
 */
#pragma once
#include "fs/mount.h"
#include "fs/serve.h"

/* Runs until the mount is gone; closes it.  One thread, and no other in the process.
 * ready_fd: gets one byte 0 once the mount answers, or an error sentence; then it is closed.
 * -1: nobody waits, and the sentence goes to the log.  Returns the exit code; 1 also if the server
 * had a fault on its way out. */
int supervise_run(struct serve_options *options, struct mount *mount, int ready_fd);
