#include "fs/cli/cli.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/edits.h"
#include "config/config.h"
#include "fs/host/host.h"

static const struct command *const commands[] = {
	&cmd_mount, &cmd_umount, &cmd_stats, &cmd_order, &cmd_refresh, &cmd_warm,
	&cmd_drop, &cmd_verify, &cmd_profile, &cmd_doctor,
};

/* --- For the commands ----------------------------------------------------------------- */

DL_PRINTF(2, 0)
static void complain(const char *after, const char *format, va_list args)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, args);
	/* A name with a line end in it must not make two lines of one. */
	for (char *at = text; *at; at++)
		if (iscntrl((uint8_t)*at))
			*at = '?';
	fprintf(stderr, "dlfs: %s%s\n", text, after);
}

int cli_fail(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain("", format, args);
	va_end(args);
	return code;
}

int cli_usage(const struct command *c, const char *format, ...)
{
	char after[256];
	va_list args;

	snprintf(after, sizeof(after), "; usage: dlfs %s%s%s", c->name, *c->usage ? " " : "",
		 c->usage);
	va_start(args, format);
	complain(after, format, args);
	va_end(args);
	return CLI_USAGE;
}

int cli_bad_option(const struct command *c, char **argv, int option)
{
	const char *word = argv[DL_MAX(optind - 1, 1)], *why = "is unknown";

	if (option == ':')
		why = "needs a value";
	else if (optopt && strncmp(word, "--", 2) == 0)
		why = "takes no value";
	/* Of several letters in one word getopt has not come to the next word yet. */
	if (optopt && strncmp(word, "--", 2) != 0)
		return cli_usage(c, "option \"-%c\" %s", optopt, why);
	return cli_usage(c, "option \"%s\" %s", word, why);
}

int cli_fail_path(const char *path, int error)
{
	return cli_fail(CLI_FAILED, "%s: %s", *path ? path : "\"\"", strerror(error));
}

int cli_printed(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	return cli_fail(CLI_FAILED, "the output cannot be written: %s", strerror(errno));
}

static bool is_dead(int error)
{
	return error == ENOTCONN || error == ECONNABORTED;
}

static int fail_dead(const char *mountpoint)
{
	return cli_fail(CLI_FAILED, "the mount at %s is dead, nobody serves it any more; "
			"`dlfs umount %s` takes it away, then it can be mounted again", mountpoint,
			mountpoint);
}

bool cli_is_gone(const char *mountpoint)
{
	dl_cleanup(host_mount_fini) struct host_mount m = { 0 };

	return host_mount_of(mountpoint, &m) == 1 && strcmp(m.mountpoint, mountpoint) != 0;
}

int cli_fail_call(const char *mountpoint, const char *what, int error)
{
	/* What is asked then is the folder below. */
	if (cli_is_gone(mountpoint))
		return cli_fail(CLI_FAILED, "the mount at %s is gone: it was unmounted meanwhile",
				mountpoint);
	if (is_dead(error))
		return fail_dead(mountpoint);
	if (error == EACCES)
		return cli_fail(CLI_FAILED, "%s may be read only by who mounted it; the mount "
				"option allow_other lets others in", mountpoint);
	if (error == ETIMEDOUT)
		return cli_fail(CLI_FAILED, "the dlfs that serves %s is too busy to answer, or "
				"stuck; its log may say more", mountpoint);
	return cli_fail(CLI_FAILED, "%s %s: %s", mountpoint, what, strerror(error));
}

int cli_no_mount(const char *path)
{
	dl_cleanup(host_mount_fini) struct host_mount above = { 0 };

	if (host_mount_of(path, &above) == 1 && host_mount_is_dlfs(&above))
		return cli_fail(CLI_FAILED, "%s lies in a dlfs mount; the mount point is %s", path,
				above.mountpoint);
	return cli_fail(CLI_FAILED, "%s is not a dlfs mount; `findmnt -t fuse.dlfs` lists them",
			path);
}

int cli_find_mount(const char *path, char **ret)
{
	dl_cleanup(host_mount_fini) struct host_mount m = { 0 };
	dl_cleanup(dl_freep) char *real = NULL;
	int r = host_resolve(path, &real);

	if (r < 0)
		return cli_fail_path(path, -r);
	r = host_mounted(real, &m);
	if (r < 0)
		return cli_fail(CLI_FAILED, "cannot see what is mounted: %s", strerror(-r));
	/* Not host_mount_is_dlfs(): -o subtype= may have given it another name. */
	if (r == 0 || strncmp(m.type, "fuse", 4) != 0)
		return cli_no_mount(real);
	if (m.dead)
		return fail_dead(real);
	*ret = DL_TAKE(real);
	return CLI_OK;
}

int cli_setxattr(const char *mountpoint, const char *name, const char *value, size_t len)
{
	dl_cleanup(dl_freep) char *ours = NULL;

	if (setxattr(mountpoint, name, value, len, 0) == 0)
		return 0;
	if (errno != EACCES)
		return -errno;
	if (asprintf(&ours, "%s/.dlfs", mountpoint) < 0) {
		ours = NULL;
		return -ENOMEM;
	}
	return setxattr(ours, name, value, len, 0) < 0 ? -errno : 0;
}

int cli_getxattr(const char *path, const char *name, struct buf *ret)
{
	dl_cleanup(buf_free) struct buf value = BUF_EMPTY;
	ssize_t n;
	int r = buf_reserve(&value, 65536 + 1);

	if (r < 0)
		return r;
	n = getxattr(path, name, value.at, 65536);
	if (n < 0)
		return -errno;
	value.at[n] = '\0';
	value.len = (size_t)n;
	*ret = buf_take(&value);
	return 0;
}

/* --- Picking one ---------------------------------------------------------------------- */

static int print_version(void)
{
	puts("dlfs " DLFS_VERSION);
	return cli_printed(CLI_OK);
}

static int print_help(void)
{
	puts("usage: dlfs COMMAND [ARGUMENT...]\n\n"
	     "dlfs shows a folder of training data as it is, and has each file in memory when it\n"
	     "is opened: it knows, or finds out, in which order the files will be read.\n");
	for (size_t i = 0; i < DL_COUNT(commands); i++)
		printf("  %-8s %s\n", commands[i]->name, commands[i]->summary);
	puts("\n  dlfs COMMAND --help says more; so does dlfs(1).  --version prints the version.");
	return cli_printed(CLI_OK);
}

static int print_command_help(const struct command *c)
{
	dl_cleanup(buf_free) struct buf settings = BUF_EMPTY;

	printf("usage: dlfs %s%s%s\n\n%s.\n", c->name, *c->usage ? " " : "", c->usage, c->summary);
	if (*c->help)
		printf("\n%s", c->help);
	if (c != &cmd_mount)
		return cli_printed(CLI_OK);
	if (config_print_help(&settings) < 0)
		return cli_fail(CLI_FAILED, "out of memory");
	printf("\nSettings, after -o or in a file (see dlfs.yaml(5)):\n\n%.*s", (int)settings.len,
	       (char *)settings.at);
	return cli_printed(CLI_OK);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < DL_COUNT(commands); i++)
		if (strcmp(name, commands[i]->name) == 0)
			return commands[i];
	return strcmp(name, "unmount") == 0 ? &cmd_umount : NULL;
}

static int unknown_command(const char *name)
{
	for (size_t i = 0; i < DL_COUNT(commands); i++)
		if (edits(name, commands[i]->name) <= 1 ||
		    (strlen(name) >= 2 && strncmp(name, commands[i]->name, strlen(name)) == 0))
			return cli_fail(CLI_USAGE, "there is no command \"%s\"; did you mean `dlfs "
					"%s`?", name, commands[i]->name);
	return cli_fail(CLI_USAGE, "there is no command \"%s\"; `dlfs --help` lists them", name);
}

static bool is_word(const char *text, const char *a, const char *b)
{
	return strcmp(text, a) == 0 || strcmp(text, b) == 0;
}

int main(int argc, char **argv)
{
	const char *base = strrchr(argv[0], '/');
	const struct command *c;

	base = base ? base + 1 : argv[0];
	if (strncmp(base, "mount.", 6) == 0)
		return cmd_mount_helper(argc, argv);
	if (argc < 2) {
		print_help();
		return CLI_USAGE;
	}
	if (is_word(argv[1], "--help", "-h") || (argc == 2 && strcmp(argv[1], "help") == 0))
		return print_help();
	if (strcmp(argv[1], "help") == 0) {
		c = find_command(argv[2]);
		return c ? print_command_help(c) : unknown_command(argv[2]);
	}
	if (is_word(argv[1], "--version", "-V"))
		return print_version();
	c = find_command(argv[1]);
	/* `mount -t fuse.dlfs` comes here as "dlfs SOURCE MOUNTPOINT -o …" by mount.fuse. */
	if (!c && argv[1][0] == '/' && argc > 2)
		return cmd_mount_helper(argc, argv);
	if (!c && argv[1][0] == '-')
		return cli_fail(CLI_USAGE, "option \"%s\" is unknown; `dlfs --help` says more",
				argv[1]);
	if (!c)
		return unknown_command(argv[1]);
	for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (is_word(argv[i], "--help", "-h"))
			return print_command_help(c);
	return c->run(argc - 1, argv + 1);
}
