/* Whose folder it is: nothing is written among somebody's files. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "prefetch/store/disk_folder.h"

static bool is_segment(const char *name)
{
	size_t digits = strspn(name, "0123456789abcdef");

	return digits == 8 && strcmp(name + digits, ".seg") == 0;
}

/* What every new file system has is nobody's. */
static bool is_nobodys(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		strcmp(name, "lost+found") == 0;
}

/* "lock" alone is a store that was killed as it began. */
static int judge(int folder, DIR *entries)
{
	bool foreign = false, begun = false;
	const struct dirent *d;

	if (faccessat(folder, "index/data.mdb", F_OK, 0) == 0)
		return 1;
	while ((d = readdir(entries)) != NULL) {
		bool ours = strcmp(d->d_name, "lock") == 0 || strcmp(d->d_name, "index") == 0;

		if (is_segment(d->d_name))
			return 1;
		begun |= ours;
		foreign |= !ours && !is_nobodys(d->d_name);
	}
	return foreign ? -ENOTEMPTY : begun;
}

int disk_folder_check(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	int r;

	if (!entries) {
		r = -errno;
		dl_closep(&fd);
		return r;
	}
	r = judge(folder, entries);
	closedir(entries);
	return r;
}

int disk_folder_open(const char *path)
{
	int fd, r;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = disk_folder_check(fd);
	if (r >= 0)
		return fd;
	close(fd);
	return r;
}

uint64_t disk_folder_size(const char *path)
{
	dl_cleanup(dl_freep) char *above = strdup(path);
	char *slash = above ? strrchr(above, '/') : NULL;
	struct statvfs fs;

	if (slash)
		slash[slash == above] = '\0';
	if (!above || (statvfs(path, &fs) < 0 && statvfs(above, &fs) < 0))
		return 0;
	return (uint64_t)fs.f_blocks * fs.f_frsize;
}
