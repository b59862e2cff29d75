#include "fs/cli/holders.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>

#include "base/clock.h"
#include "base/path.h"

/* --- Looking around in /proc ---------------------------------------------------------- */

typedef bool link_test(const char *target, const void *wanted);

static bool link_is(const char *path, link_test *test, const void *wanted)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n < 0)
		return false;
	target[n] = '\0';
	return test(target, wanted);
}

static bool any_file_is(int pid, link_test *test, const void *wanted)
{
	char path[300];
	struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	while (d && !found && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", pid, e->d_name);
		found = link_is(path, test, wanted);
	}
	if (d)
		closedir(d);
	return found;
}

static int next_pid(DIR *proc)
{
	struct dirent *e;

	while ((e = readdir(proc)))
		if (isdigit((uint8_t)e->d_name[0]))
			return atoi(e->d_name);
	return 0;
}

/* --- Who serves ----------------------------------------------------------------------- */

static bool is_marker(const char *target, const void *wanted)
{
	const char *name = wanted;
	size_t len = strlen(name);

	/* "/memfd:NAME (deleted)" */
	return strncmp(target, "/memfd:", 7) == 0 && strncmp(target + 7, name, len) == 0 &&
		(target[7 + len] == ' ' || target[7 + len] == '\0');
}

/* One that is gone meanwhile is none. */
static int add(struct holders *h, int pid)
{
	struct holder *more = realloc(h->at, (h->count + 1) * sizeof(*more));
	int fd;

	if (!more)
		return -ENOMEM;
	h->at = more;
	fd = pidfd_open(pid, 0);
	if (fd < 0)
		return errno == ESRCH ? 0 : -errno;
	h->at[h->count++] = (struct holder){ pid, fd };
	return 0;
}

int holders_of_marker(const char *marker, struct holders *ret)
{
	dl_cleanup(holders_fini) struct holders found = { 0 };
	DIR *proc = opendir("/proc");
	int pid, r = 0;

	if (!proc)
		return -errno;
	while (r == 0 && (pid = next_pid(proc)) != 0)
		if (pid != getpid() && any_file_is(pid, is_marker, marker))
			r = add(&found, pid);
	closedir(proc);
	if (r < 0)
		return r;
	*ret = found;
	found = (struct holders){ 0 };
	return 0;
}

void holders_fini(struct holders *h)
{
	for (unsigned i = 0; i < h->count; i++)
		close(h->at[i].fd);
	free(h->at);
	*h = (struct holders){ 0 };
}

void holders_kill(const struct holders *h, int number)
{
	for (unsigned i = 0; i < h->count; i++)
		(void)pidfd_send_signal(h->at[i].fd, number, NULL, 0);
}

static bool has_ended(const struct holder *h, uint64_t deadline)
{
	struct pollfd p = { .fd = h->fd, .events = POLLIN };
	uint64_t now = clock_now();

	return poll(&p, 1, deadline > now ? (int)((deadline - now) / CLOCK_MS) + 1 : 0) == 1;
}

bool holders_wait(const struct holders *h, uint64_t deadline)
{
	for (unsigned i = 0; i < h->count; i++)
		if (!has_ended(&h->at[i], deadline))
			return false;
	return true;
}

int holders_first(const struct holders *h)
{
	for (unsigned i = 0; i < h->count; i++)
		if (!has_ended(&h->at[i], 0))
			return h->at[i].pid;
	return 0;
}

/* --- Who uses ------------------------------------------------------------------------- */

static bool is_below(const char *target, const void *wanted)
{
	return path_is_below(target, wanted);
}

static bool maps_a_file_below(int pid, const char *folder)
{
	char path[64], line[PATH_MAX + 128];
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		char *name = strchr(line, '/');

		found = name && path_is_below(name, folder);
	}
	if (maps)
		fclose(maps);
	return found;
}

static bool uses(int pid, const char *folder)
{
	char cwd[64], root[64];

	snprintf(cwd, sizeof(cwd), "/proc/%d/cwd", pid);
	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	return link_is(cwd, is_below, folder) || link_is(root, is_below, folder) ||
		any_file_is(pid, is_below, folder) || maps_a_file_below(pid, folder);
}

static bool is_among(const struct holders *h, int pid)
{
	for (unsigned i = 0; i < h->count; i++)
		if (h->at[i].pid == pid)
			return true;
	return false;
}

static void command_of(int pid, char name[32])
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (!f || !fgets(name, 32, f))
		snprintf(name, 32, "a process");
	name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
}

bool holders_name_users(const char *mountpoint, const struct holders *servers, char *text,
			size_t size)
{
	DIR *proc = opendir("/proc");
	unsigned count = 0;
	size_t len = 0;
	char name[32];
	int pid;

	while (proc && (pid = next_pid(proc)) != 0) {
		if (pid == getpid() || is_among(servers, pid) || !uses(pid, mountpoint))
			continue;
		command_of(pid, name);
		if (len + sizeof(name) + 20 < size)
			len += (size_t)snprintf(text + len, size - len, "%s%s (pid %d)",
						count ? ", " : "", name, pid);
		else if (text[len - 1] == ')')
			len += (size_t)snprintf(text + len, size - len, ", ...");
		count++;
	}
	if (proc)
		closedir(proc);
	return count > 0;
}
