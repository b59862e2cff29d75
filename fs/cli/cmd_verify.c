#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "fs/cli/cli.h"
#include "prefetch/store/disk.h"
#include "prefetch/store/disk_folder.h"

/* The most that store.size may be: of a store that has more than its size the oldest goes. */
#define SIZE (1024 * 1024 * GiB)

/* A folder that is no store would become one. */
static int check_folder(const char *folder)
{
	dl_cleanup(dl_closep) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = fd < 0 ? -errno : disk_folder_check(fd);

	if (r > 0)
		return CLI_OK;
	if (r < 0 && r != -ENOTEMPTY && r != -ENOTDIR)
		return cli_fail(CLI_FAILED, "%s cannot be read: %s", folder, strerror(-r));
	return cli_fail(CLI_FAILED, "%s is no store of dlfs: give the folder that was store.path",
			folder);
}

static int open_store(const char *folder, struct disk **ret)
{
	struct disk_options options = { .folder = folder, .size = SIZE };
	int pid = 0, r = disk_open(&options, ret, &pid);

	if (r == -EWOULDBLOCK)
		return cli_fail(CLI_FAILED, "%s is used by a mount (process %d); dlfs umount it "
				"first", folder, pid);
	if (r < 0)
		return cli_fail(CLI_FAILED, "%s cannot be opened: %s", folder, strerror(-r));
	return CLI_OK;
}

static void show_progress(void *context, uint64_t done, uint64_t all)
{
	(void)context;
	fprintf(stderr, "\r%3.0f %%", all ? 100 * (double)done / (double)all : 100);
}

static int verify(const char *folder, bool repair)
{
	dl_cleanup(disk_closep) struct disk *d = NULL;
	bool terminal = isatty(STDERR_FILENO);
	uint64_t bad = 0, records;
	int r = open_store(folder, &d);

	if (r != CLI_OK)
		return r;
	records = disk_report(d).records;
	r = disk_verify(d, repair, terminal ? show_progress : NULL, NULL, &bad);
	if (terminal)
		fputs("\r     \r", stderr);
	if (r < 0)
		return cli_fail(CLI_FAILED, "%s cannot be read: %s", folder, strerror(-r));
	printf("%llu file%s, %llu damaged%s\n", (unsigned long long)records,
	       cli_plural((double)records),
	       (unsigned long long)bad, bad == 0 ? "" : repair ? " and forgotten" :
	       "; --repair forgets them, as a mount does when it meets them");
	return cli_printed(bad > 0 ? CLI_FAILED : CLI_OK);
}

static const struct option long_options[] = {
	{ "repair", no_argument, NULL, 'r' },
	{ NULL, 0, NULL, 0 },
};

static int run(int argc, char **argv)
{
	dl_cleanup(dl_freep) char *folder = NULL;
	bool repair = false;
	int option, r;

	opterr = optind = 0;
	while ((option = getopt_long(argc, argv, "r", long_options, NULL)) != -1) {
		if (option == '?')
			return cli_bad_option(&cmd_verify, argv, option);
		repair = true;
	}
	if (argc - optind != 1)
		return cli_usage(&cmd_verify, "one store is needed");
	folder = realpath(argv[optind], NULL);
	if (!folder)
		return cli_fail_path(argv[optind], errno);
	r = check_folder(folder);
	return r == CLI_OK ? verify(folder, repair) : r;
}

const struct command cmd_verify = {
	.name = "verify",
	.usage = "STORE [--repair]",
	.summary = "Read all that is kept on a local disk (store.path), and say what is damaged",
	.help = "  -r, --repair  forget what is damaged; it is fetched again when it is needed\n",
	.run = run,
};
