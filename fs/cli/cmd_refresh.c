#include <getopt.h>
#include <string.h>

#include "fs/cli/cli.h"

static const struct option no_options[] = { { NULL, 0, NULL, 0 } };

static int run(int argc, char **argv)
{
	dl_cleanup(dl_freep) char *mountpoint = NULL;
	dl_cleanup(buf_free) struct buf done = BUF_EMPTY;
	int r;

	opterr = optind = 0;
	if (getopt_long(argc, argv, "", no_options, NULL) != -1)
		return cli_bad_option(&cmd_refresh, argv, '?');
	if (argc - optind != 1)
		return cli_usage(&cmd_refresh, "one mount point is needed");
	r = cli_find_mount(argv[optind], &mountpoint);
	if (r != CLI_OK)
		return r;
	r = cli_setxattr(mountpoint, "user.dlfs.refresh", "1", 1);
	if (r == -EPERM || r == -EACCES)
		return cli_fail(CLI_FAILED, "only who mounted %s, and root, may refresh it",
				mountpoint);
	/* The answer comes when all is looked through. */
	if (r == 0)
		r = cli_getxattr(mountpoint, "user.dlfs.refresh", &done);
	if (r < 0)
		return cli_fail_call(mountpoint, "could not be refreshed, what is known of the "
				     "source stays", -r);
	return CLI_OK;
}

const struct command cmd_refresh = {
	.name = "refresh",
	.usage = "MOUNTPOINT",
	.summary = "Look for changes of the source now, and wait until they are seen",
	.help = "",
	.run = run,
};
