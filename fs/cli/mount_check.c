#include "fs/cli/mount_check.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "config/units.h"
#include "fs/cli/cli.h"
#include "fs/host/host.h"
#include "prefetch/order/order.h"
#include "prefetch/source/source.h"
#include "prefetch/store/disk_folder.h"

#define TINY_PIXELS 16                 /* nobody trains on less */

int mount_said(int error, const struct config_error *e)
{
	if (error == -ENOMEM)
		return cli_fail(CLI_MOUNT_FAILED, "out of memory");
	return error < 0 ? cli_fail(CLI_MOUNT_FAILED, "%s", e->text) : 0;
}

int mount_set(struct config *c, const char *key, const char *value)
{
	struct config_error e = { 0 };

	return mount_said(config_set(c, key, value, &e), &e);
}

/* host:/export, user@host:folder, //server/share, s3://bucket: none is a folder of this machine. */
static bool is_remote(const char *path)
{
	return strstr(path, "://") || strncmp(path, "//", 2) == 0 ||
		(path[strcspn(path, "/:")] == ':' && path[0] != ':');
}

static int refuse_source(const char *path, int error)
{
	if (error == -ENOENT && is_remote(path))
		return cli_fail(CLI_MOUNT_FAILED, "the source %s cannot be used: only a folder of "
				"this machine can be shown; mount it first (mount -t nfs, sshfs, "
				"rclone mount, ...), and give that folder", path);
	return cli_fail(CLI_MOUNT_FAILED, "the source %s cannot be used: %s", path,
			strerror(-error));
}

static int resolve(struct config *c, const char *key, const char *path)
{
	dl_cleanup(dl_freep) char *real = NULL;
	int r = host_resolve(path, &real);

	if (r == 0)
		return mount_set(c, key, real);
	if (strcmp(key, "source") == 0)
		return refuse_source(path, r);
	if (r == -ENOENT)
		return cli_fail(CLI_MOUNT_FAILED, "there is no folder %s; make it: mkdir -p %s",
				path, path);
	return cli_fail(CLI_MOUNT_FAILED, "the mount point %s cannot be used: %s", path,
			strerror(-r));
}

/* The server would find out as well, but when nobody listens any more. */
static int check_order(const char *text)
{
	dl_cleanup(order_spec_fini) struct order_spec spec = { 0 };
	char why[160] = "out of memory";

	return order_parse(text, &spec, why) < 0 ? cli_fail(CLI_MOUNT_FAILED, "order: %s", why) : 0;
}

static int check_layers(const char *text)
{
	char why[160];

	return source_check_layers(text, why) < 0 ?
		cli_fail(CLI_MOUNT_FAILED, "source_layers: %s", why) : 0;
}

/* A list is named relative to where the command was given, and read from elsewhere. */
static int resolve_list(struct config *c)
{
	dl_cleanup(dl_freep) char *real = NULL;
	dl_cleanup(buf_free) struct buf spec = BUF_EMPTY;
	const char *file;

	if (strncmp(c->order, "list:", 5) != 0)
		return 0;
	file = c->order + 5;
	real = realpath(file, NULL);
	if (!real)
		return cli_fail(CLI_MOUNT_FAILED, "the order's list %s cannot be read: %s", file,
				strerror(errno));
	if (buf_printf(&spec, "list:%s", real) < 0)
		return cli_fail(CLI_MOUNT_FAILED, "out of memory");
	return mount_set(c, "order", (char *)spec.at);
}

static bool is_store_or_empty(const char *path)
{
	dl_cleanup(dl_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || disk_folder_check(fd) != -ENOTEMPTY;
}

static int check_store(struct config *c)
{
	dl_cleanup(dl_freep) char *real = NULL;
	struct stat st;
	int r;

	if (!*c->store_path)
		return 0;
	r = host_resolve_new(c->store_path, &real);
	if (r == -ENOENT)
		return cli_fail(CLI_MOUNT_FAILED, "the folder above the store %s is not there; "
				"make it: mkdir -p %s", c->store_path, c->store_path);
	if (r < 0)
		return cli_fail(CLI_MOUNT_FAILED, "the store %s cannot be used: %s", c->store_path,
				strerror(-r));
	if (stat(real, &st) == 0 && !S_ISDIR(st.st_mode))
		return cli_fail(CLI_MOUNT_FAILED, "the store %s is a file; give a folder", real);
	if (path_is_below(real, c->source) || path_is_below(real, c->mountpoint))
		return cli_fail(CLI_MOUNT_FAILED, "the store %s lies inside the source or the "
				"mount point; give a folder elsewhere, on a local disk", real);
	if (!is_store_or_empty(real))
		return cli_fail(CLI_MOUNT_FAILED, "%s has files and is no store of dlfs; give an "
				"empty folder, or one that is not there yet", real);
	return mount_set(c, "store.path", real);
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

int mount_check(struct config *c, int *ret_lock)
{
	char text[REFUSE_MAX];
	int r = resolve(c, "source", c->source);

	if (r == 0)
		r = check_source(c->source);
	if (r == 0)
		r = resolve(c, "mountpoint", c->mountpoint);
	if (r == 0)
		r = check_order(c->order);
	if (r == 0)
		r = resolve_list(c);
	if (r == 0)
		r = check_layers(c->source_layers);
	if (r == 0)
		r = check_store(c);
	if (r != 0)
		return r;
	if (host_check_mountpoint(c->source, c->mountpoint, c->nonempty, ret_lock, text) < 0)
		return cli_fail(CLI_MOUNT_FAILED, "%s", text);
	return 0;
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

static bool is_tiny(uint64_t pixels)
{
	return pixels > 0 && pixels < TINY_PIXELS;
}

static void warn_store(const struct config *c)
{
	uint64_t there = *c->store_path ? disk_folder_size(c->store_path) : 0;
	char size[32], is[32];

	if (!*c->store_path && c->store_size)
		cli_fail(CLI_OK, "warning: store.size without store.path: there is no store");
	if (there && c->store_keep_free >= there)
		cli_fail(CLI_OK, "warning: nothing will be stored: store.keep_free is %s, and the "
			 "disk of %s has %s in all; give less than that",
			 units_human_size(c->store_keep_free, size), c->store_path,
			 units_human_size(there, is));
	if (there && c->store_size > there)
		cli_fail(CLI_OK, "warning: store.size is %s, but the disk of %s has %s in all; "
			 "give less than that", units_human_size(c->store_size, size),
			 c->store_path, units_human_size(there, is));
}

static void warn_state(void)
{
	dl_cleanup(buf_free) struct buf folder = BUF_EMPTY;
	int r = host_state_check(&folder);

	if (r < 0)
		cli_fail(CLI_OK, "warning: what is found out about the source is not kept for the "
			 "next mount: %s: %s; set XDG_STATE_HOME to a folder that may be written",
			 folder.len ? (char *)folder.at : "$HOME", strerror(-r));
}

void mount_warn(const struct config *c)
{
	uint64_t there = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	there = DL_MIN(there, host_cgroup_limit());
	if (c->memory > there)
		cli_fail(CLI_OK, "warning: memory is more than the %llu MiB that there are here; "
			 "without that setting dlfs takes half of what is free",
			 (unsigned long long)(there / MiB));
	warn_store(c);
	warn_state();
	if (is_tiny(c->max_short_side) || is_tiny(c->max_long_side))
		cli_fail(CLI_OK, "warning: max_%s_side=%llu makes images of a few pixels; it is "
			 "not a part, but the length that the side has at most",
			 is_tiny(c->max_short_side) ? "short" : "long",
			 (unsigned long long)(is_tiny(c->max_short_side) ? c->max_short_side
							: c->max_long_side));
	if (*c->recode_match && c->quality_ratio == 1 && !c->max_short_side &&
	    !c->max_long_side && c->png == PNG_OFF)
		cli_fail(CLI_OK, "note: recode_match alone changes no file; say what to do with "
			 "them by quality_ratio, max_short_side, max_long_side or png");
	if (is_empty(c->source))
		cli_fail(CLI_OK, "note: the source %s holds no files", c->source);
}
