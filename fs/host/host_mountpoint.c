#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/refuse.h"
#include "fs/host/internal.h"

#define DEAD_MOUNTS 16                 /* that may lie on top of each other */
#define LOCK_MS 70000                  /* a start is given up before */

/* The folder above and the last name; the folder may be asked even if the name cannot. */
static int resolve_above(const char *path, char **ret)
{
	dl_cleanup(dl_freep) char *copy = strdup(path), *above = NULL;
	char *name;
	size_t len;

	if (!copy)
		return -ENOMEM;
	for (len = strlen(copy); len > 1 && copy[len - 1] == '/'; len--)
		copy[len - 1] = '\0';
	name = strrchr(copy, '/');
	if (name)
		*name++ = '\0';
	above = realpath(!name ? "." : *copy ? copy : "/", NULL);
	if (!above)
		return -errno;
	if (asprintf(ret, "%s/%s", strcmp(above, "/") == 0 ? "" : above, name ? name : copy) < 0)
		return -ENOMEM;
	return 0;
}

int host_resolve(const char *path, char **ret)
{
	char *real = realpath(path, NULL);

	if (real) {
		*ret = real;
		return 0;
	}
	if (errno == ENOTCONN || errno == EACCES)
		return resolve_above(path, ret);
	return -errno;
}

int host_resolve_new(const char *path, char **ret)
{
	char *real = realpath(path, NULL);

	if (real) {
		*ret = real;
		return 0;
	}
	return errno == ENOENT ? resolve_above(path, ret) : -errno;
}

static bool same_folder(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether the way up from `path` comes through `folder`.  Sees through symlinks and bind
 * mounts of `folder` itself and of what is above it. */
static bool leads_through(const char *path, const char *folder)
{
	dl_cleanup(dl_closep) int at = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat wanted, here, above;
	int up;

	if (at < 0 || stat(folder, &wanted) < 0 || fstat(at, &here) < 0)
		return path_is_below(path, folder);
	while (!same_folder(&here, &wanted)) {
		up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0)
			return false;
		close(at);
		at = up;
		if (fstat(at, &above) < 0 || same_folder(&above, &here))
			return false;
		here = above;
	}
	return true;
}

/* A bind mount of a part of the source has its mounts copied to the source, if both are in
 * one group of shared mounts; only the file systems' own paths tell. */
static bool lies_within(const char *path, const char *folder)
{
	dl_cleanup(host_mount_fini) struct host_mount a = { 0 }, b = { 0 };
	dl_cleanup(buf_free) struct buf in_a = BUF_EMPTY, in_b = BUF_EMPTY;

	if (leads_through(path, folder))
		return true;
	if (host_mount_of(path, &a) != 1 || host_mount_of(folder, &b) != 1 ||
	    a.major != b.major || a.minor != b.minor ||
	    path_in_filesystem(&a, path, &in_a) < 0 || path_in_filesystem(&b, folder, &in_b) < 0)
		return false;
	return path_is_below((char *)in_a.at, (char *)in_b.at);
}

static int check_places(const char *source, const char *mountpoint, char reterr[REFUSE_MAX])
{
	bool inside = lies_within(mountpoint, source), around = lies_within(source, mountpoint);

	if (inside && around)
		return refuse(reterr, -EINVAL, "%.90s is the source itself; choose another folder "
			      "to show it at", mountpoint);
	if (inside)
		return refuse(reterr, -EINVAL, "%.90s lies inside the source %.90s; choose a "
			      "folder outside of it", mountpoint, source);
	if (around)
		return refuse(reterr, -EINVAL, "the source %.80s lies inside %.80s, which would "
			      "hide it; choose another folder", source, mountpoint);
	return 0;
}

static int check_folder(const char *mountpoint, char reterr[REFUSE_MAX])
{
	struct stat st;

	if (stat(mountpoint, &st) < 0 && errno == ENOENT)
		return refuse(reterr, -ENOENT, "there is no folder %.90s; make it: mkdir -p %.90s",
			      mountpoint, mountpoint);
	if (stat(mountpoint, &st) < 0)
		return refuse(reterr, -errno, "%.150s cannot be used: %s", mountpoint,
			      strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return refuse(reterr, -ENOTDIR, "%.150s is not a folder; choose an empty one",
			      mountpoint);
	if (geteuid() != 0 && access(mountpoint, W_OK) < 0)
		return refuse(reterr, -EACCES, "%.120s is not yours to mount on; choose a folder "
			      "that you may write to, or mount as root", mountpoint);
	return 0;
}

static int check_empty(const char *mountpoint, char reterr[REFUSE_MAX])
{
	DIR *d = opendir(mountpoint);
	struct dirent *e;
	int r = 0;

	if (!d)
		return refuse(reterr, -errno, "%.150s cannot be read: %s", mountpoint,
			      strerror(errno));
	while (r == 0 && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = refuse(reterr, -ENOTEMPTY, "%.100s is not empty (it has \"%.40s\"); "
				   "choose another folder, or hide what is there with -o nonempty",
				   mountpoint, e->d_name);
	closedir(d);
	return r;
}

static int refuse_mount(const struct host_mount *m, bool nonempty, char reterr[REFUSE_MAX])
{
	if (host_mount_is_dlfs(m))
		return refuse(reterr, -EBUSY, "%.80s already shows %.80s; dlfs umount %.60s first",
			      m->mountpoint, m->source, m->mountpoint);
	if (m->dead)
		return refuse(reterr, -ENOTCONN, "%.80s has a dead mount of another program (%.30s)"
			      "; take it away: umount -l %.80s", m->mountpoint, m->type,
			      m->mountpoint);
	if (strcmp(m->mountpoint, "/") == 0)
		return refuse(reterr, -EBUSY, "/ holds the whole system and cannot be hidden; "
			      "choose another folder");
	if (nonempty)
		return 0;
	return refuse(reterr, -EBUSY, "%.90s is already a mount point (%.30s); choose another "
		      "folder, or hide what is there with -o nonempty", m->mountpoint, m->type);
}

static int take_lock(const void *fd)
{
	return flock(*(const int *)fd, LOCK_EX) < 0 ? -errno : 0;
}

/* A lock belongs to all who share the open folder: what the child takes is ours. */
static int lock(const char *folder, int *ret, char reterr[REFUSE_MAX])
{
	dl_cleanup(dl_closep) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = fd < 0 ? -errno : child_call(take_lock, &fd, LOCK_MS);

	if (r == -ETIMEDOUT)
		return refuse(reterr, -EBUSY, "another program locks %.120s and does not end",
			      folder);
	if (r == 0) {
		*ret = fd;
		fd = -1;
	}
	return 0;
}

/* What lies below a dead mount cannot be locked.  Without any lock the mount that another has
 * just made in the dead one's place could be taken away. */
static int lock_above(const char *mountpoint, int *ret, char reterr[REFUSE_MAX])
{
	dl_cleanup(dl_freep) char *copy = strdup(mountpoint);

	return copy ? lock(dirname(copy), ret, reterr) : refuse(reterr, -ENOMEM, "out of memory");
}

/* Take away dead mounts of ours; refuse any other. */
static int clear(const char *mountpoint, bool nonempty, char reterr[REFUSE_MAX])
{
	dl_cleanup(dl_closep) int above = -1;
	int r;

	for (int i = 0; i < DEAD_MOUNTS; i++) {
		dl_cleanup(host_mount_fini) struct host_mount m = { 0 };

		r = host_mounted(mountpoint, &m);
		if (r < 0)
			return refuse(reterr, r, "cannot see what is mounted: %s", strerror(-r));
		if (r == 0)
			break;
		if (!m.dead || !host_mount_is_dlfs(&m))
			return refuse_mount(&m, nonempty, reterr);
		if (i == 0) {          /* and then look again */
			r = lock_above(mountpoint, &above, reterr);
			if (r < 0)
				return r;
			continue;
		}
		r = host_unmount(mountpoint, true);
		if (r < 0)
			return refuse(reterr, r, "%.100s has a dead dlfs mount that you may not "
				      "take away; as root: umount -l %.90s",
				      mountpoint, mountpoint);
	}
	return 0;
}

int host_check_mountpoint(const char *source, const char *mountpoint, bool nonempty,
			  int *ret_lock, char reterr[REFUSE_MAX])
{
	dl_cleanup(dl_closep) int fd = -1;
	int r = clear(mountpoint, nonempty, reterr);

	if (r == 0)
		r = lock(mountpoint, &fd, reterr);
	if (r == 0)                    /* who had the lock before us may have mounted */
		r = clear(mountpoint, nonempty, reterr);
	if (r == 0)
		r = check_folder(mountpoint, reterr);
	if (r == 0)
		r = check_places(source, mountpoint, reterr);
	if (r == 0 && !nonempty)
		r = check_empty(mountpoint, reterr);
	if (r < 0)
		return r;
	*ret_lock = fd;
	fd = -1;
	return 0;
}
