#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/log.h"
#include "config/config.h"
#include "fs/cli/cli.h"
#include "fs/cli/daemon.h"
#include "fs/control.h"
#include "fs/host/host.h"
#include "fs/supervise.h"
#include "prefetch/order/order.h"
#include "prefetch/store/disk_folder.h"

struct request {
	struct config *config;
	bool foreground, fake, verbose;
	int place;                     /* the mount point's lock, until the mount answers; or -1 */
};

/* --- What was asked for --------------------------------------------------------------- */

/* 0, or the exit code, after what config/ said of its place. */
static int said(int error, const struct config_error *e)
{
	if (error == -ENOMEM)
		return cli_fail(CLI_MOUNT_FAILED, "out of memory");
	return error < 0 ? cli_fail(CLI_MOUNT_FAILED, "%s", e->text) : 0;
}

static int take_options(struct request *q, const char *options)
{
	struct config_error e = { 0 };

	return said(config_parse_options(q->config, options, &e), &e);
}

static int take_file(struct request *q, const char *path)
{
	struct config_error e = { 0 };

	return said(config_load(q->config, path, &e), &e);
}

static int take_place(struct request *q, const char *key, const char *path)
{
	struct config_error e = { 0 };

	return said(config_set(q->config, key, path, &e), &e);
}

static const struct option long_options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "foreground", no_argument, NULL, 'f' },
	{ "options", required_argument, NULL, 'o' },
	{ "verbose", no_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 },
};

/* The file counts first wherever it stands; -o stands after it. */
static int take_arguments(struct request *q, int argc, char **argv)
{
	int option = 0, r = 0;

	opterr = 0;
	for (int round = 0; round < 2; round++) {
		optind = 0;
		while (r == 0) {
			option = getopt_long(argc, argv, "o:c:fv", long_options, NULL);
			if (option == -1)
				break;
			if (option == '?')
				return cli_bad_option(&cmd_mount, argv);
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
		r = take_place(q, "source", argv[optind]);
	if (r == 0 && argc - optind > 1)
		r = take_place(q, "mountpoint", argv[optind + 1]);
	if (r == 0 && (!*q->config->source || !*q->config->mountpoint))
		return cli_usage(&cmd_mount, "%s is missing", *q->config->source ?
				 "the mount point" : "the source");
	return r;
}

/* --- Where it is ---------------------------------------------------------------------- */

static int resolve(struct request *q, const char *key, char **at)
{
	dl_cleanup(dl_freep) char *real = NULL;
	int r = host_resolve(*at, &real);

	if (r == 0)
		return take_place(q, key, real);
	if (strcmp(key, "source") == 0)
		return cli_fail(CLI_MOUNT_FAILED, "the source %s cannot be used: %s", *at,
				strstr(*at, "://") ? "only a folder of this machine can be shown"
						   : strerror(-r));
	if (r == -ENOENT)
		return cli_fail(CLI_MOUNT_FAILED, "there is no folder %s; make it: mkdir -p %s",
				*at, *at);
	return cli_fail(CLI_MOUNT_FAILED, "the mount point %s cannot be used: %s", *at,
			strerror(-r));
}

/* The server would find out as well, but when nobody listens any more. */
static int check_order(const char *text)
{
	dl_cleanup(order_spec_fini) struct order_spec spec = { 0 };
	char why[160] = "out of memory";

	return order_parse(text, &spec, why) < 0 ? cli_fail(CLI_MOUNT_FAILED, "order: %s", why) : 0;
}

/* A list is named relative to where the command was given, and read from elsewhere. */
static int resolve_list(struct request *q)
{
	dl_cleanup(dl_freep) char *real = NULL;
	dl_cleanup(buf_free) struct buf spec = BUF_EMPTY;
	const char *file;

	if (strncmp(q->config->order, "list:", 5) != 0)
		return 0;
	file = q->config->order + 5;
	real = realpath(file, NULL);
	if (!real)
		return cli_fail(CLI_MOUNT_FAILED, "the order's list %s cannot be read: %s", file,
				strerror(errno));
	if (buf_printf(&spec, "list:%s", real) < 0 || buf_append(&spec, "", 1) < 0)
		return cli_fail(CLI_MOUNT_FAILED, "out of memory");
	return take_place(q, "order", (char *)spec.at);
}

/* Of a folder that need not be there yet: its real path.  -ENOENT: that above it is not there. */
static int resolve_new(const char *path, char **ret)
{
	dl_cleanup(dl_freep) char *above = strdup(path), *real = realpath(path, NULL);
	char *slash;

	if (real || errno != ENOENT) {
		*ret = DL_TAKE(real);
		return *ret ? 0 : -errno;
	}
	if (!above)
		return -ENOMEM;
	while ((slash = strrchr(above, '/')) && slash > above && !slash[1])
		*slash = '\0';
	if (slash)
		*slash = '\0';
	real = realpath(!slash ? "." : *above ? above : "/", NULL);
	if (!real)
		return -errno;
	return asprintf(ret, "%s/%s", strcmp(real, "/") == 0 ? "" : real,
			slash ? slash + 1 : above) < 0 ? -ENOMEM : 0;
}

static bool is_inside(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 &&
	       (path[len] == '/' || !path[len] || folder[len - 1] == '/');
}

static bool is_store_or_empty(const char *path)
{
	dl_cleanup(dl_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || disk_folder_check(fd) != -ENOTEMPTY;
}

static int check_store(struct request *q)
{
	const struct config *c = q->config;
	dl_cleanup(dl_freep) char *real = NULL;
	struct stat st;
	int r;

	if (!*c->store_path)
		return 0;
	r = resolve_new(c->store_path, &real);
	if (r == -ENOENT)
		return cli_fail(CLI_MOUNT_FAILED, "the folder above the store %s is not there; "
				"make it: mkdir -p %s", c->store_path, c->store_path);
	if (r < 0)
		return cli_fail(CLI_MOUNT_FAILED, "the store %s cannot be used: %s", c->store_path,
				strerror(-r));
	if (stat(real, &st) == 0 && !S_ISDIR(st.st_mode))
		return cli_fail(CLI_MOUNT_FAILED, "the store %s is a file; give a folder", real);
	if (is_inside(real, c->source) || is_inside(real, c->mountpoint))
		return cli_fail(CLI_MOUNT_FAILED, "the store %s lies inside the source or the "
				"mount point; give a folder elsewhere, on a local disk", real);
	if (!is_store_or_empty(real))
		return cli_fail(CLI_MOUNT_FAILED, "%s has files and is no store of dlfs; give an "
				"empty folder, or one that is not there yet", real);
	return take_place(q, "store.path", real);
}

static int check_source(const char *source)
{
	struct stat st;

	if (stat(source, &st) < 0)
		return cli_fail(CLI_MOUNT_FAILED, "the source %s cannot be used: %s", source,
				strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return cli_fail(CLI_MOUNT_FAILED, "the source %s is a file; give the folder that "
				"the dataset lies in", source);
	if (access(source, R_OK | X_OK) < 0)
		return cli_fail(CLI_MOUNT_FAILED, "the source %s may not be read by this user: %s",
				source, strerror(errno));
	return 0;
}

static int check_places(struct request *q)
{
	struct config *c = q->config;
	char text[256];
	int r = resolve(q, "source", &c->source);

	if (r == 0)
		r = check_source(c->source);
	if (r == 0)
		r = resolve(q, "mountpoint", &c->mountpoint);
	if (r == 0)
		r = check_order(c->order);
	if (r == 0)
		r = resolve_list(q);
	if (r == 0)
		r = check_store(q);
	if (r != 0)
		return r;
	if (host_check_mountpoint(c->source, c->mountpoint, c->nonempty, &q->place, text) < 0)
		return cli_fail(CLI_MOUNT_FAILED, "%s", text);
	return 0;
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

/* Without a place for its state dlfs reads the folders again at the next mount; no more. */
static const char *state_file(const struct config *c, const char *kind, struct buf *path)
{
	int r = host_state_file(c->source, kind, path);

	if (r == 0)
		return (char *)path->at;
	log_warning("what is found out about %s cannot be kept for the next mount: %s", c->source,
		    strerror(-r));
	return NULL;
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

static uint64_t decide_memory(const struct config *c)
{
	uint64_t memory = c->memory;
	char what[64] = "as set", text[80];

	if (memory == 0)
		memory = host_memory(what);
	log_info("%s is shown at %s to %s", c->source, c->mountpoint, readers_of(c, text));
	log_info("dlfs holds at most %llu MiB (%s)", (unsigned long long)(memory / MiB), what);
	return memory;
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
	char text[256];
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
		options.memory = decide_memory(c);
		options.fuse_fd = mount_fd(mount);
		r = supervise_run(&options, mount, ready_fd) == 0 ? CLI_OK : CLI_MOUNT_FAILED;
	}
	shared_free(options.shared);
	served_close(options.served);
	manifest_close(options.manifest);
	return r;
}

static bool is_empty(const char *folder)
{
	DIR *entries = opendir(folder);
	const struct dirent *d = NULL;
	bool empty;

	while (entries && (d = readdir(entries)) != NULL)
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			break;
	empty = entries && !d;
	if (entries)
		closedir(entries);
	return empty;
}

/* What is allowed, but hardly meant. */
static void warn(const struct config *c)
{
	uint64_t there = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	there = DL_MIN(there, host_cgroup_limit());
	if (c->memory > there)
		cli_fail(CLI_OK, "warning: memory is more than the %llu MiB that there are here; "
			 "without that setting dlfs takes half of what is free",
			 (unsigned long long)(there / MiB));
	if (is_empty(c->source))
		cli_fail(CLI_OK, "note: the source %s holds no files", c->source);
}

static int go(struct request *q)
{
	const struct config *c = q->config;
	char text[512], readers[80];
	int r, ready_fd = -1;

	warn(c);
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
		r = check_places(&q);
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
	while (r == 0 && (option = getopt(argc, argv, "sfnvrwN:o:t:")) != -1) {
		if (option == '?')
			r = cli_bad_option(&cmd_mount, argv);
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
		r = take_place(&q, "source", strncmp(argv[optind], "dlfs#", 5) == 0 ?
			       argv[optind] + 5 : argv[optind]);
	if (r == 0)
		r = take_place(&q, "mountpoint", argv[optind + 1]);
	if (r == 0)
		r = check_places(&q);
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
