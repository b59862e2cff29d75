#include "prefetch/store/disk_trust.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/sum.h"

#define MAGIC UINT64_C(0x32303069736c6401)     /* the version is in it */
#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define STEP ((size_t)MiB)

struct state {                         /* in its file */
	uint64_t magic;
	uint64_t trust;
	char boot[40];                 /* that it was opened in */
	uint64_t data_sum;             /* when it was closed */
	uint64_t sum;                  /* of all before */
};

static uint64_t state_sum(const struct state *s)
{
	return sum_of(s, offsetof(struct state, sum), 0);
}

int trust_path(const char *folder, const char *name, char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%s/index%s", folder, name);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int open_file(const char *folder, const char *name, int flags)
{
	char path[PATH_MAX];
	int r = trust_path(folder, name, path), fd;

	if (r < 0)
		return r;
	fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? -errno : fd;
}

static void this_boot(char boot[40])
{
	dl_cleanup(buf_free) struct buf id = BUF_EMPTY;

	memset(boot, 0, 40);
	if (file_read(BOOT_ID, 39, &id) == 0)
		memcpy(boot, id.at, id.len);
}

/* Of the whole file; 0 if it cannot be read. */
static uint64_t data_sum(const char *folder)
{
	dl_cleanup(dl_closep) int fd = open_file(folder, "/data.mdb", O_RDONLY);
	dl_cleanup(dl_freep) void *step = malloc(STEP);
	uint64_t sum = 0;
	ssize_t n;

	if (fd < 0 || !step)
		return 0;
	while ((n = file_fill(fd, step, STEP)) > 0)
		sum = sum_of(step, (size_t)n, sum);
	return n < 0 ? 0 : sum;
}

static bool trusted(const char *folder)
{
	dl_cleanup(dl_closep) int fd = open_file(folder, "/state", O_RDONLY);
	struct state s;
	char boot[40];
	uint64_t sum;

	if (fd < 0 || file_fill(fd, &s, sizeof(s)) != sizeof(s) || s.magic != MAGIC ||
	    s.sum != state_sum(&s))
		return false;
	this_boot(boot);
	/* All of it is gone through next, in the order of its keys: page by page, from a disk, that
	 * would be slow.  So it is read once in any case. */
	sum = data_sum(folder);
	if (s.trust == TRUST_IF_SAME)
		return s.data_sum == sum;
	return s.trust == TRUST_IN_BOOT && boot[0] && memcmp(boot, s.boot, sizeof(boot)) == 0;
}

/* If it cannot be written, the old one refuses what is changed from now on, or is gone. */
void trust_say(const char *folder, enum trust trust)
{
	dl_cleanup(dl_closep) int fd = open_file(folder, "/state", O_WRONLY | O_CREAT);
	struct state s = { .magic = MAGIC, .trust = trust };

	this_boot(s.boot);
	if (trust == TRUST_IF_SAME)
		s.data_sum = data_sum(folder);
	s.sum = state_sum(&s);
	if (fd >= 0 && pwrite(fd, &s, sizeof(s), 0) != (ssize_t)sizeof(s) && ftruncate(fd, 0) < 0)
		return;
}

int trust_remove(const char *folder)
{
	static const char *const names[] = { "/state", "/data.mdb", "/lock.mdb", "" };
	char path[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r == 0 && i < DL_COUNT(names); i++) {
		r = trust_path(folder, names[i], path);
		if (r == 0 && unlink(path) < 0 && errno != ENOENT && errno != ENOTDIR &&
		    errno != EISDIR)
			r = -errno;
	}
	return r;
}

/* LMDB writes to the lock file through a mapping: on a full disk a hole in it would be fatal. */
int trust_lock_file(const char *folder)
{
	dl_cleanup(dl_closep) int fd = open_file(folder, "/lock.mdb", O_RDWR | O_CREAT);

	return fd < 0 ? fd : -posix_fallocate(fd, 0, TRUST_LOCK_FILE);
}

bool trust_given(const char *folder)
{
	char path[PATH_MAX];

	if (trust_path(folder, "/data.mdb", path) < 0)
		return false;
	return trusted(folder) || (access(path, F_OK) < 0 && errno == ENOENT);
}
