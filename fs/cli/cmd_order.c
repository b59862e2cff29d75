#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "config/units.h"
#include "fs/cli/cli.h"
#include "fs/cli/view.h"
#include "prefetch/order/order.h"

/* A list is read by the server, which has another working directory. */
static int absolute_spec(const char *spec, struct buf *ret)
{
	dl_cleanup(dl_freep) char *real = NULL;
	int r;

	if (strcmp(spec, "list:") == 0)
		return cli_fail(CLI_FAILED, "list: needs a file, as in list:order.txt");
	if (strncmp(spec, "list:", 5) == 0) {
		real = realpath(spec + 5, NULL);
		if (!real)
			return cli_fail(CLI_FAILED, "the list %s cannot be read: %s", spec + 5,
					strerror(errno));
	}
	r = real ? buf_printf(ret, "list:%s", real) : buf_printf(ret, "%s", spec);
	return r < 0 ? cli_fail(CLI_FAILED, "out of memory") : CLI_OK;
}

static int say_refusal(const char *mountpoint, int error)
{
	dl_cleanup(buf_free) struct buf why = BUF_EMPTY;

	if (error == EINVAL && cli_getxattr(mountpoint, "user.dlfs.error", &why) == 0 && why.len)
		return cli_fail(CLI_FAILED, "%s", (char *)why.at);
	/* The kernel lets nobody else in, not even root. */
	if (error == EACCES && geteuid() == 0)
		return cli_fail(CLI_FAILED, "only who mounted %s may say its order; with "
				"allow_root or allow_other at the mount, root may too",
				mountpoint);
	if (error == EPERM || error == EACCES)
		return cli_fail(CLI_FAILED, "only who mounted %s, and root, may say its order",
				mountpoint);
	return cli_fail_call(mountpoint, "does not take the order", error);
}

static int tell(const char *mountpoint, const char *name, const char *value, size_t len)
{
	int r = cli_setxattr(mountpoint, name, value, len);

	if (r == 0)
		return CLI_OK;
	/* A long list: the server reads on, but does not keep the caller waiting. */
	if (r != -EINPROGRESS)
		return say_refusal(mountpoint, -r);
	fprintf(stderr, "dlfs: the list is still being read; `dlfs order %s` shows whether it was "
		"taken\n", mountpoint);
	return CLI_OK;
}

static int tell_order(const char *mountpoint, const char *spec)
{
	dl_cleanup(buf_free) struct buf absolute = BUF_EMPTY;
	int r = absolute_spec(spec, &absolute);

	if (r != CLI_OK)
		return r;
	return tell(mountpoint, "user.dlfs.order", (char *)absolute.at, absolute.len);
}

/* Why: a line for each job that is followed; or why the last order was refused. */
static void show_reasons(const char *mountpoint)
{
	dl_cleanup(buf_free) struct buf belief = BUF_EMPTY, error = BUF_EMPTY;
	char *line, *save = NULL;

	if (cli_getxattr(mountpoint, "user.dlfs.error", &error) == 0 && error.len)
		printf("  refused: %s\n", (char *)error.at);
	if (cli_getxattr(mountpoint, "user.dlfs.belief", &belief) < 0)
		return;
	/* The first line is the state, which was said already. */
	line = strtok_r((char *)belief.at, "\n", &save);
	while (line && (line = strtok_r(NULL, "\n", &save)))
		printf("  %s\n", line);
}

static int show(const char *mountpoint)
{
	dl_cleanup(view_freep) struct view *v = NULL;
	int r = view_read(mountpoint, &v);
	const char *state, *spec;
	bool none;

	if (r != CLI_OK)
		return r;
	none = !*view_text(v, "order.spec") && *view_text(v, "order.asked");
	state = none ? "refused" : view_text(v, "order.state");
	spec = view_text(v, none ? "order.asked" : "order.spec");
	if (!*spec) {
		puts("none yet: the folders of the source are being read");
		return cli_printed(CLI_OK);
	}
	printf("%s%s%s", spec, strcmp(spec, state) == 0 ? "" : " ",
	       strcmp(spec, state) == 0 ? "" : state);
	if (strcmp(state, "believed") == 0 || strcmp(state, "confirmed") == 0)
		printf(" epoch=%.0f position=%.0f", view_number(v, "order.epoch"),
		       view_number(v, "order.position"));
	printf("\n");
	show_reasons(mountpoint);
	return cli_printed(CLI_OK);
}

/* Why an epoch cannot be listed, and what will change that. */
static int say_unknown(const char *mountpoint, bool next)
{
	dl_cleanup(view_freep) struct view *v = NULL;
	int r = view_read(mountpoint, &v);
	const char *spec, *state, *why;

	if (r != CLI_OK)
		return r;
	spec = view_text(v, "order.spec");
	state = view_text(v, "order.state");
	if (!*spec && *view_text(v, "order.asked"))
		return cli_fail(CLI_FAILED, "no epoch is known: the order %s was refused: %s",
				view_text(v, "order.asked"), view_text(v, "order.refused"));
	if (!*spec)
		return cli_fail(CLI_FAILED, "no epoch is known yet: the folders of the source are "
				"being read; try again");
	if (strcmp(state, "none") == 0)
		return cli_fail(CLI_FAILED, "no epoch is known: no order is followed at %s; "
				"`dlfs order %s SPEC` tells one", mountpoint, mountpoint);
	if (view_number(v, "order.length") > 0)
		why = next ? "nothing says yet what comes after the running one" :
			"it has just changed; try again";
	else if (strcmp(spec, "auto") == 0)
		why = "it is found out from the opens, and those so far do not tell it";
	else if (strcmp(state, "believed") == 0)
		why = "there are several ways to read it, and the first opens will tell which";
	else
		why = "the last opens do not fit it";
	return cli_fail(CLI_FAILED, "the %s epoch of %s is not known yet (order %s): %s",
			next ? "next" : "running", mountpoint, spec, why);
}

static int list(const char *mountpoint, const char *file)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	dl_cleanup(dl_freep) char *path = NULL;
	int r;

	if (asprintf(&path, "%s/.dlfs/%s", mountpoint, file) < 0) {
		path = NULL;
		return cli_fail(CLI_FAILED, "out of memory");
	}
	r = file_read(path, SIZE_MAX, &text);
	if (r < 0)
		return cli_fail_call(mountpoint, "does not tell the order", -r);
	if (text.len == 0)
		return say_unknown(mountpoint, strcmp(file, "order") != 0);
	fwrite(text.at, 1, text.len, stdout);
	return cli_printed(CLI_OK);
}

static const struct option long_options[] = {
	{ "epoch", required_argument, NULL, 'e' },
	{ "list", no_argument, NULL, 'l' },
	{ "next", no_argument, NULL, 'n' },
	{ NULL, 0, NULL, 0 },
};

static int run(int argc, char **argv)
{
	dl_cleanup(dl_freep) char *mountpoint = NULL;
	const char *epoch = NULL, *file = NULL;
	uint64_t number;
	int option, r;

	opterr = optind = 0;
	while ((option = getopt_long(argc, argv, ":e:ln", long_options, NULL)) != -1) {
		if (option == '?' || option == ':')
			return cli_bad_option(&cmd_order, argv, option);
		if (option == 'e')
			epoch = optarg;
		else if (file)
			return cli_usage(&cmd_order, "--list and --next do not go together");
		else
			file = option == 'n' ? "order.next" : "order";
	}
	if (argc - optind < 1 || argc - optind > 2)
		return cli_usage(&cmd_order, "a mount point is needed, and at most one order "
				 "(in one word, as torch:seed=7)");
	if (epoch && (units_count(epoch, &number) < 0 || number > ORDER_EPOCHS_MAX))
		return cli_usage(&cmd_order, "--epoch takes a number up to %d, not \"%s\"",
				 ORDER_EPOCHS_MAX, epoch);
	if (file && (epoch || argc - optind == 2))
		return cli_usage(&cmd_order, "--list and --next only show");
	r = cli_find_mount(argv[optind], &mountpoint);
	if (r == CLI_OK && argc - optind == 2)
		r = tell_order(mountpoint, argv[optind + 1]);
	if (r == CLI_OK && epoch)
		r = tell(mountpoint, "user.dlfs.epoch", epoch, strlen(epoch));
	if (r == CLI_OK && file)
		return list(mountpoint, file);
	if (r == CLI_OK && !epoch && argc - optind == 1)
		return show(mountpoint);
	return r;
}

const struct command cmd_order = {
	.name = "order",
	.usage = "MOUNTPOINT [SPEC] [--epoch E | --list | --next]",
	.summary = "Show or tell in which order the files will be read",
	.help = "  SPEC             auto, none, sequential, torch:seed=S,\n"
		"                   torch-distributed:seed=S,world=W,ranks=R, drawn or list:FILE;\n"
		"                   without it: what is believed, and the position\n"
		"  -e, --epoch E    the epoch that begins next, of an order that was told\n"
		"  -l, --list       the running epoch, a path a line; before the first opens,\n"
		"                   if the order leaves no choice\n"
		"  -n, --next       the next epoch, as soon as it is known\n"
		"                   (exit code 1, and the reason, while it is not)\n",
	.run = run,
};
