/* Command-line programs are thin: each cmd_*.c is one command; cli.c picks it.
 * argv[0] is the command's name.  They return the exit code: 0 fine, 1 failed, 2 usage, 3 for a
 * `warm` that left something out, 32 for `mount` (as mount(8) has it), 130 after Ctrl-C where that
 * is caught.
 * Every error is one line on stderr, "dlfs: …".
 * Thread-safety: none, one thread.
 */
#pragma once
#include "base/buf.h"

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_LEFT_OUT = 3, CLI_MOUNT_FAILED = 32,
       CLI_INTERRUPTED = 130 };

struct command {
	const char *name, *usage, *summary;
	const char *help;              /* the options, a line each; may be "" */
	int (*run)(int argc, char **argv);
};
extern const struct command cmd_mount, cmd_umount, cmd_stats, cmd_order, cmd_refresh,
	cmd_verify, cmd_warm, cmd_drop, cmd_profile, cmd_doctor;
/* What mount(8) calls as mount.dlfs or mount.fuse.dlfs; argv[0] is the program's name. */
int cmd_mount_helper(int argc, char **argv);

/* A line on stderr, with the given exit code as the result. */
int cli_fail(int code, const char *format, ...) DL_PRINTF(2, 3);
/* "dlfs: TEXT; usage: …" and CLI_USAGE. */
int cli_usage(const struct command *c, const char *format, ...) DL_PRINTF(2, 3);
/* getopt_long's error cases, '?' and ':' (as the list of letters begins): names the option.
 * CLI_USAGE. */
int cli_bad_option(const struct command *c, char **argv, int option);
/* "PATH: why" (errno), also of an empty name; CLI_FAILED. */
int cli_fail_path(const char *path, int error);
/* The last thing that a command does which prints: `code`; CLI_FAILED, and why, if that is not all
 * written. */
int cli_printed(int code) DL_MUST_CHECK;
/* "1 file", "2 files". */
static inline const char *cli_plural(double count) { return count == 1 ? "" : "s"; }

/* The FUSE mount at a path that the user named; *ret is absolute and the caller's to free.  0, or
 * an exit code, and the user was told why. */
int cli_find_mount(const char *path, char **ret) DL_MUST_CHECK;
/* No dlfs is mounted there; if it lies in such a mount, that one is named.  CLI_FAILED. */
int cli_no_mount(const char *path);
/* Whether a mount that cli_find_mount() found is none any more. */
bool cli_is_gone(const char *mountpoint);
/* A call on the mount failed (errno): "MOUNTPOINT WHAT: why", or that it, or its server, is gone,
 * or does not come to it, or lets nobody else in; CLI_FAILED. */
int cli_fail_call(const char *mountpoint, const char *what, int error);
/* Tell the mount something by an attribute of its root, or, where the kernel asks for the modes of
 * that (allow_other), and it is another user's, of .dlfs.  -errno. */
int cli_setxattr(const char *mountpoint, const char *name, const char *value, size_t len)
	DL_MUST_CHECK;
/* An extended attribute as a string, with a NUL after it that is not counted.  -errno. */
int cli_getxattr(const char *path, const char *name, struct buf *ret) DL_MUST_CHECK;
