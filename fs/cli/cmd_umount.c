#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "fs/cli/cli.h"
#include "fs/cli/holders.h"
#include "fs/host/host.h"
#include "fs/mount.h"

/* A mount that is gone ends its server at once; one that hangs is asked, killed, and at last
 * its connection is ended. */
#define GONE_PATIENCE (3 * CLOCK_S)
#define TERM_PATIENCE (6 * CLOCK_S)
#define KILL_PATIENCE (2 * CLOCK_S)
#define BUSY_PATIENCE (3 * CLOCK_S)

static int end_processes(struct holders *servers, int abort_file)
{
	if (holders_wait(servers, clock_now() + GONE_PATIENCE))
		return CLI_OK;
	holders_kill(servers, SIGTERM);
	if (holders_wait(servers, clock_now() + TERM_PATIENCE))
		return CLI_OK;
	holders_kill(servers, SIGKILL);
	if (holders_wait(servers, clock_now() + KILL_PATIENCE))
		return CLI_OK;
	mount_abort(abort_file);
	if (holders_wait(servers, clock_now() + KILL_PATIENCE))
		return CLI_OK;
	return cli_fail(CLI_FAILED, "it is unmounted, but a process of it cannot be ended (pid %d)",
			holders_first(servers));
}

/* dlfs itself opens files of the mount for moments, so only others make it busy. */
static int unmount_patiently(const char *mountpoint, const struct holders *servers)
{
	uint64_t deadline = clock_now() + BUSY_PATIENCE;
	int r;

	while ((r = host_unmount(mountpoint, false)) == -EBUSY && clock_now() < deadline) {
		char text[200];

		if (holders_name_users(mountpoint, servers, text, sizeof(text)))
			return r;
		usleep(20000);
	}
	return r;
}

static int say_why(const char *mountpoint, const struct holders *servers, int error)
{
	char text[200];

	if (error == -EBUSY && holders_name_users(mountpoint, servers, text, sizeof(text)))
		return cli_fail(CLI_FAILED, "%s is in use by %s; -l takes it away all the same",
				mountpoint, text);
	if (error == -EBUSY)
		return cli_fail(CLI_FAILED, "%s is in use (a process of another user or container, "
				"or a mount below it); -l takes it away all the same", mountpoint);
	if (error == -EPERM)
		return cli_fail(CLI_FAILED, "%s may be unmounted only by who mounted it, and "
				"by root",
				mountpoint);
	return cli_fail(CLI_FAILED, "cannot unmount %s: %s", mountpoint, strerror(-error));
}

/* What took too long may have been done at last. */
static bool is_gone(const char *mountpoint, uint32_t minor)
{
	dl_cleanup(host_mount_fini) struct host_mount now = { 0 };

	return host_mount_of(mountpoint, &now) == 1 && now.minor != minor;
}

/* Before it is unmounted: later the number may be another mount's. */
static int open_abort(const char *mountpoint, uint32_t minor)
{
	int file = mount_open_abort(minor);

	if (file < 0 || !is_gone(mountpoint, minor))
		return file;
	close(file);
	return -ENOENT;
}

static int unmount(const char *mountpoint, const struct host_mount *m, bool lazily)
{
	dl_cleanup(dl_closep) int abort_file = open_abort(mountpoint, m->minor);
	dl_cleanup(holders_fini) struct holders servers = { 0 };
	char marker[MOUNT_MARKER_SIZE], text[200];
	int r = holders_of_marker(mount_marker(m->minor, marker), &servers);

	if (r < 0)
		return cli_fail(CLI_FAILED, "cannot look for processes: %s", strerror(-r));
	if (servers.count == 0 && !host_mount_is_dlfs(m))
		return cli_fail(CLI_FAILED, "%s is not a dlfs mount but %s; umount(8) takes it "
				"away",
				mountpoint, m->type);
	if (lazily && holders_name_users(mountpoint, &servers, text, sizeof(text)))
		fprintf(stderr, "dlfs: note: %s was in use by %s, whose open files now fail\n",
			mountpoint, text);
	/* One that was stopped holds files of the mount, and would not hear of its end. */
	holders_kill(&servers, SIGCONT);
	/* A dead mount: who is served by nobody has nothing to lose. */
	lazily |= servers.count == 0;
	r = lazily ? host_unmount(mountpoint, true) : unmount_patiently(mountpoint, &servers);
	if (r == -ETIMEDOUT) {
		mount_abort(abort_file);
		r = host_unmount(mountpoint, true);
	}
	if (r < 0 && !is_gone(mountpoint, m->minor))
		return say_why(mountpoint, &servers, r);
	if (lazily)
		holders_kill(&servers, SIGTERM);
	return end_processes(&servers, abort_file);
}

static const struct option long_options[] = {
	{ "lazy", no_argument, NULL, 'l' },
	{ NULL, 0, NULL, 0 },
};

static int run(int argc, char **argv)
{
	dl_cleanup(host_mount_fini) struct host_mount m = { 0 };
	dl_cleanup(dl_freep) char *real = NULL;
	bool lazily = false;
	int option, r;

	opterr = optind = 0;
	while ((option = getopt_long(argc, argv, "lz", long_options, NULL)) != -1) {
		if (option == '?')
			return cli_bad_option(&cmd_umount, argv, option);
		lazily = true;
	}
	if (argc - optind != 1)
		return cli_usage(&cmd_umount, "one mount point is needed");
	r = host_resolve(argv[optind], &real);
	if (r < 0)
		return cli_fail_path(argv[optind], -r);
	/* Our own working directory must not be what uses it. */
	if (chdir("/") < 0)
		return cli_fail(CLI_FAILED, "cannot leave the working directory: %s",
				strerror(errno));
	/* Not host_mounted(): that would wait for a server that hangs. */
	r = host_mount_of(real, &m);
	if (r < 0)
		return cli_fail(CLI_FAILED, "cannot see what is mounted: %s", strerror(-r));
	if (r == 1 && strcmp(m.mountpoint, real) != 0 && host_mount_is_dlfs(&m))
		return cli_no_mount(real);
	if (r == 0 || strcmp(m.mountpoint, real) != 0)
		return cli_fail(CLI_FAILED, "nothing is mounted at %s; `findmnt -t fuse.dlfs` "
				"lists dlfs mounts", real);
	return unmount(real, &m, lazily);
}

const struct command cmd_umount = {
	.name = "umount",
	.usage = "[-l] MOUNTPOINT",
	.summary = "Take a mount away, and wait until its processes are gone",
	.help = "  -l, --lazy  even if it is in use: what is open there fails from then on\n",
	.run = run,
};
