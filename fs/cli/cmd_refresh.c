#include <string.h>
#include <sys/xattr.h>

#include "fs/cli/cli.h"

static int run(int argc, char **argv)
{
	dl_cleanup(dl_freep) char *mountpoint = NULL;
	dl_cleanup(buf_free) struct buf done = BUF_EMPTY;
	int r;

	if (argc > 1 && argv[1][0] == '-' && strcmp(argv[1], "--") != 0)
		return cli_usage(&cmd_refresh, "option \"%s\" is unknown", argv[1]);
	argv += argc > 1 && strcmp(argv[1], "--") == 0;
	argc -= argc > 1 && strcmp(argv[0], "--") == 0;
	if (argc != 2)
		return cli_usage(&cmd_refresh, "one mount point is needed");
	r = cli_find_mount(argv[1], &mountpoint);
	if (r != CLI_OK)
		return r;
	r = setxattr(mountpoint, "user.dlfs.refresh", "1", 1, 0) < 0 ? -errno : 0;
	if (r == -EPERM || r == -EACCES)
		return cli_fail(CLI_FAILED, "only who mounted %s, and root, may refresh it",
				mountpoint);
	/* The answer comes when all is looked through. */
	if (r == 0)
		r = cli_getxattr(mountpoint, "user.dlfs.refresh", &done);
	if (r < 0)
		return cli_fail(CLI_FAILED, "%s could not be refreshed: %s", mountpoint,
				strerror(-r));
	return CLI_OK;
}

const struct command cmd_refresh = {
	.name = "refresh",
	.usage = "MOUNTPOINT",
	.summary = "Look for changes of the source now, and wait until they are seen",
	.help = "",
	.run = run,
};
