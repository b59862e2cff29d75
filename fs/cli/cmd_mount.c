#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/log.h"
#include "config/config.h"
#include "fs/cli/cli.h"
#include "fs/cli/daemon.h"
#include "fs/cli/mount_check.h"
#include "fs/control.h"
#include "fs/host/host.h"
#include "fs/supervise.h"

struct request {
	struct config *config;
	bool foreground, fake, verbose;
	int place;                     /* the mount point's lock, until the mount answers; or -1 */
};

/* --- What was asked for --------------------------------------------------------------- */

static int take_options(struct request *q, const char *options)
{
	struct config_error e = { 0 };

	return mount_said(config_parse_options(q->config, options, &e), &e);
}

static int take_file(struct request *q, const char *path)
{
	struct config_error e = { 0 };

	return mount_said(config_load(q->config, path, &e), &e);
}

static const struct option long_options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "foreground", no_argument, NULL, 'f' },
	{ "options", required_argument, NULL, 'o' },
	{ "verbose", no_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 },
};

/* "--order torch:seed=7", "--allow-other" */
static int bad_option(char **argv, int option)
{
	const char *word = argv[DL_MAX(optind - 1, 1)];
	char key[64] = "";

	if (option == '?' && strncmp(word, "--", 2) == 0)
		snprintf(key, sizeof(key), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	for (char *dash = key; (dash = strchr(dash, '-')) != NULL;)
		*dash = '_';
	if (!config_has(key))
		return cli_bad_option(&cmd_mount, argv, option);
	return cli_fail(CLI_USAGE, "option \"%s\" is unknown; %s stands after -o, as in -o "
			"memory=8GiB,allow_other", word, key);
}

/* The file counts first wherever it stands; -o stands after it. */
static int take_arguments(struct request *q, int argc, char **argv)
{
	int option = 0, r = 0;

	opterr = 0;
	for (int round = 0; round < 2; round++) {
		optind = 0;
		while (r == 0) {
			option = getopt_long(argc, argv, ":o:c:fv", long_options, NULL);
			if (option == -1)
				break;
			if (option == '?' || option == ':')
				return bad_option(argv, option);
			if (option == 'f')
				q->foreground = true;
			else if (option == 'v')
				q->verbose = true;
			else if (round == 0 && option == 'c')
				r = take_file(q, optarg);
			else if (round == 1 && option == 'o')
				r = take_options(q, optarg);
		}
	}
	if (r != 0)
		return r;
	if (argc - optind > 2)
		return cli_usage(&cmd_mount, "\"%s\" is one argument too many", argv[optind + 2]);
	if (argc - optind > 0)
		r = mount_set(q->config, "source", argv[optind]);
	if (r == 0 && argc - optind > 1)
		r = mount_set(q->config, "mountpoint", argv[optind + 1]);
	if (r == 0 && (!*q->config->source || !*q->config->mountpoint))
		return cli_usage(&cmd_mount, "%s is missing", *q->config->source ?
				 "the mount point" : "the source");
	return r;
}

/* --- Being there ---------------------------------------------------------------------- */

static void raise_limits(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
}

DL_PRINTF(2, 3)
static int fail_early(int ready_fd, const char *format, ...)
{
	char text[320];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (ready_fd < 0 || write(ready_fd, text, strlen(text)) < 0)
		log_error("%s", text);
	return CLI_MOUNT_FAILED;
}

/* Without a place for its state dlfs reads the folders again at the next mount; no more: who mounts
 * was told by mount_warn(). */
static const char *state_file(const struct config *c, const char *kind, struct buf *path)
{
	return host_state_file(c->source, kind, path) == 0 ? (char *)path->at : NULL;
}

/* To whom the mount is shown: many do not expect that even root cannot read it. */
static const char *readers_of(const struct config *c, char text[80])
{
	if (c->allow_other)
		return "all users";
	snprintf(text, 80, "uid %u %s; -o allow_other lets others in", (unsigned)geteuid(),
		 c->allow_root ? "and root" : "only");
	return text;
}

static uint64_t decide_memory(const struct config *c, char what[64])
{
	snprintf(what, 64, "as set");
	return c->memory ? c->memory : host_memory(what);
}

static void log_mounted(const struct config *c, uint64_t memory, const char *what)
{
	char text[80];

	log_info("%s is shown at %s to %s", c->source, c->mountpoint, readers_of(c, text));
	log_info("at most %llu MiB are held (%s)", (unsigned long long)(memory / MiB), what);
}

/* What stays must not hold the lock. */
static void release_place(struct request *q)
{
	dl_closep(&q->place);
	q->place = -1;
}

static int open_served(const struct config *c, struct serve_options *options)
{
	struct served_options o = {
		.manifest = options->manifest, .match = c->recode_match,
		.want = {
			.quality_ratio = c->quality_ratio, .png_fast = c->png == PNG_FAST,
			.max_short_side = (unsigned)c->max_short_side,
			.max_long_side = (unsigned)c->max_long_side,
			.limits.memory = served_share(options->memory),
		},
	};

	return served_open(&o, &options->served);
}

/* The whole life of the mount, in the process that stays. */
static int run(struct request *q, int ready_fd)
{
	const struct config *c = q->config;
	struct manifest_options where = { .source = c->source, .hidden = CONTROL_FOLDER };
	struct serve_options options = { .config = c, .mountpoint = c->mountpoint };
	dl_cleanup(buf_free) struct buf state = BUF_EMPTY, lessons = BUF_EMPTY;
	dl_cleanup(buf_free) struct buf served = BUF_EMPTY;
	struct mount *mount = NULL;
	char text[REFUSE_MAX], what[64];
	int r;

	log_set_level((enum log_level)c->log_level);
	raise_limits();
	options.state_file = state_file(c, "manifest", &state);
	if (options.state_file)
		options.lessons_file = state_file(c, "orders", &lessons);
	if (options.state_file)
		options.served_file = state_file(c, "served", &served);
	r = manifest_open(&where, &options.manifest);
	if (r < 0)
		return fail_early(ready_fd, "the source %s cannot be used: %s", c->source,
				  strerror(-r));
	options.memory = decide_memory(c, what);
	r = open_served(c, &options);
	if (r == 0)
		r = shared_new(&options.shared);
	if (r == 0)
		r = mount_open(c, &mount, text);
	else
		snprintf(text, sizeof(text), "out of memory");
	release_place(q);
	if (r < 0) {
		r = fail_early(ready_fd, "%s", text);
	} else {
		log_mounted(c, options.memory, what);
		options.fuse_fd = mount_fd(mount);
		r = supervise_run(&options, mount, ready_fd) == 0 ? CLI_OK : CLI_MOUNT_FAILED;
	}
	shared_free(options.shared);
	served_close(options.served);
	manifest_close(options.manifest);
	return r;
}

static int go(struct request *q)
{
	const struct config *c = q->config;
	char text[512], readers[80];
	int r, ready_fd = -1;

	mount_warn(c);
	if (q->foreground)
		return run(q, -1);
	r = daemon_start(&ready_fd, text);
	if (r < 0)
		return cli_fail(CLI_MOUNT_FAILED, "cannot go to the background: %s", strerror(-r));
	if (r == 0) {
		q->place = -1;         /* closed on the way; the parent holds it until it hears */
		log_to_syslog();
		return run(q, ready_fd);
	}
	if (*text)
		return cli_fail(CLI_MOUNT_FAILED, "%s", text);
	if (text[1])
		cli_fail(CLI_OK, "warning: %s", text + 1);
	if (q->verbose)
		printf("dlfs: %s is shown at %s to %s\n", c->source, c->mountpoint,
		       readers_of(c, readers));
	return CLI_OK;
}

static int mount_command(int argc, char **argv)
{
	struct request q = { .place = -1 };
	int r;

	if (config_new(&q.config) < 0)
		return cli_fail(CLI_MOUNT_FAILED, "out of memory");
	r = take_arguments(&q, argc, argv);
	if (r == 0)
		r = mount_check(q.config, &q.place);
	if (r == 0)
		r = go(&q);
	release_place(&q);
	config_free(q.config);
	return r;
}

/* mount.TYPE SOURCE MOUNTPOINT [-sfnv] [-N namespace] [-o options] [-t type] */
int cmd_mount_helper(int argc, char **argv)
{
	struct request q = { .place = -1 };
	int option, r = 0;

	if (config_new(&q.config) < 0)
		return cli_fail(CLI_MOUNT_FAILED, "out of memory");
	opterr = 0;
	while (r == 0 && (option = getopt(argc, argv, ":sfnvrwN:o:t:")) != -1) {
		if (option == '?' || option == ':')
			r = cli_bad_option(&cmd_mount, argv, option);
		else if (option == 'o')
			r = take_options(&q, optarg);
		else if (option == 'f')
			q.fake = true;
		else if (option == 'v')
			q.verbose = true;
	}
	if (r == 0 && argc - optind != 2)
		r = cli_usage(&cmd_mount, "a source and a mount point are needed");
	if (r == 0)
		r = mount_set(q.config, "source", strncmp(argv[optind], "dlfs#", 5) == 0 ?
			       argv[optind] + 5 : argv[optind]);
	if (r == 0)
		r = mount_set(q.config, "mountpoint", argv[optind + 1]);
	if (r == 0)
		r = mount_check(q.config, &q.place);
	if (r == 0 && !q.fake)
		r = go(&q);
	release_place(&q);
	config_free(q.config);
	return r;
}

const struct command cmd_mount = {
	.name = "mount",
	.usage = "SOURCE MOUNTPOINT [-o key=value,...] [-c FILE] [-f] [-v]",
	.summary = "Show a folder, ahead of its readers",
	.help = "  -o, --options LIST  settings; words of mount(8) are accepted; allow_other,\n"
		"                      allow_root, nonempty, no_default_permissions, fsname=\n"
		"  -c, --config FILE   a YAML file of settings; -o wins\n"
		"  -f, --foreground    stay, and write the log to stderr\n"
		"  -v, --verbose       say what is shown where, and who can read it\n",
	.run = mount_command,
};
