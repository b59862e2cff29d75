/* Command-line programs are thin: each cmd_*.c is one command; cli.c picks it.
 * argv[0] is the command's name.  They return the exit code: 0 fine, 1 failed, 2 usage,
 * 32 for `mount` (as mount(8) has it).  Every error is one line on stderr, "dlfs: …". */
#pragma once
#include "base/dl.h"

struct command {
	const char *name, *usage, *summary;
	int (*run)(int argc, char **argv);
};
extern const struct command cmd_mount, cmd_umount, cmd_stats, cmd_order, cmd_refresh, cmd_doctor;
