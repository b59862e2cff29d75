#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "fs/host/internal.h"

#define NO_LIMIT UINT64_MAX
#define LEAST (4 * MiB)                /* what the setting accepts at least */
#define OWN (16 * MiB)                 /* for dlfs itself: code, tables, threads */
#define MARGIN_PART 16                 /* of all stays free, for who comes suddenly, and ... */
#define MARGIN_MOST GiB                /* ... no more than that */

/* The number after `key` at the start of a line; "" takes the first number of the file. */
static bool file_number(const char *path, const char *key, uint64_t *ret)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	const char *line;
	unsigned long long n;

	if (file_read(path, SIZE_MAX, &text) < 0)
		return false;
	for (line = (char *)text.at; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, strlen(key)) == 0 &&
		    sscanf(line + strlen(key), "%llu", &n) == 1) {
			*ret = n;
			return true;
		}
	}
	return false;
}

/* What the two versions call the same things. */
struct cgroup_files {
	const char *mount, *limit, *throttle, *usage, *inactive, *active;
};
static const struct cgroup_files v1 = {
	"/sys/fs/cgroup/memory", "memory.limit_in_bytes", NULL, "memory.usage_in_bytes",
	"total_inactive_file", "total_active_file",
};
static const struct cgroup_files v2 = {
	"/sys/fs/cgroup", "memory.max", "memory.high", "memory.current", "inactive_file",
	"active_file",
};

struct room {
	uint64_t pushed;               /* in: bytes of ours that may be in the page cache */
	uint64_t limit, free;          /* out, of the tightest; free: what we hold counts as used */
	uint64_t spare;                /* out: what those of `pushed` take counts as free, and the
	                                * margin does not */
};

static bool level_number(const char *root, const struct cgroup_files *f, const char *level,
			 const char *file, const char *key, uint64_t *ret)
{
	char path[PATH_MAX];

	if (!file)
		return false;
	snprintf(path, sizeof(path), "%s%s%s/%s", root, f->mount, level, file);
	return file_number(path, key, ret);
}

/* Version 1 writes "no limit" as the largest multiple of a page. */
static uint64_t as_limit(uint64_t n)
{
	return n >= UINT64_C(1) << 60 ? NO_LIMIT : n;
}

static uint64_t left(uint64_t all, uint64_t used)
{
	return all > used ? all - used : 0;
}

static uint64_t less_margin(uint64_t all)
{
	return all - DL_MIN(all / MARGIN_PART, MARGIN_MOST);
}

static void look_at_level(const char *root, const struct cgroup_files *f, const char *level,
			  struct room *room)
{
	uint64_t limit = NO_LIMIT, throttle = NO_LIMIT, usage = 0, inactive = 0, active = 0, ours;

	(void)level_number(root, f, level, f->limit, "", &limit);
	(void)level_number(root, f, level, f->throttle, "", &throttle);
	limit = as_limit(DL_MIN(limit, throttle));
	if (limit == NO_LIMIT)
		return;
	(void)level_number(root, f, level, f->usage, "", &usage);
	(void)level_number(root, f, level, "memory.stat", f->inactive, &inactive);
	(void)level_number(root, f, level, "memory.stat", f->active, &active);
	room->limit = DL_MIN(room->limit, limit);
	/* Old page cache makes way for what is wanted now. */
	room->free = DL_MIN(room->free, left(limit, left(usage, inactive)));
	/* What is ours may have been read twice, or be gone already. */
	ours = DL_MIN(room->pushed, inactive + active);
	usage = left(usage, DL_MAX(inactive, ours));
	room->spare = DL_MIN(room->spare, left(less_margin(limit), usage));
}

/* The path of this process in the hierarchy that limits memory. */
static const struct cgroup_files *own_cgroup(const char *root, char path[PATH_MAX])
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	const struct cgroup_files *found = NULL;
	char file[PATH_MAX], *save = NULL;

	snprintf(file, sizeof(file), "%s/proc/self/cgroup", root);
	if (file_read(file, SIZE_MAX, &text) < 0)
		return NULL;
	for (char *line = strtok_r((char *)text.at, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *controllers = strchr(line, ':'), *at;

		at = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!at)
			continue;
		*at++ = '\0';
		if (controllers[1] == '\0' && !found)
			found = &v2;
		else if (strcmp(controllers + 1, "memory") == 0)
			found = &v1;
		else
			continue;
		snprintf(path, PATH_MAX, "%s", strcmp(at, "/") == 0 ? "" : at);
	}
	return found;
}

/* Each level has its own limit.  In a container the path may be one of the host, of which
 * only the top is to be seen; levels that are not there say nothing. */
static struct room cgroup_room(const char *root, uint64_t pushed)
{
	struct room room = { pushed, NO_LIMIT, NO_LIMIT, NO_LIMIT };
	const struct cgroup_files *f;
	char level[PATH_MAX], *slash;

	f = own_cgroup(root, level);
	if (!f)
		return room;
	if (strstr(level, "/.."))
		level[0] = '\0';
	look_at_level(root, f, level, &room);
	while ((slash = strrchr(level, '/'))) {
		*slash = '\0';
		look_at_level(root, f, level, &room);
	}
	return room;
}

uint64_t memory_cgroup_limit(const char *root)
{
	return cgroup_room(root, 0).limit;
}

/* The machine is the group of all groups.  What is pushed is available there. */
static uint64_t machine_spare(const char *root)
{
	uint64_t all = 0, available;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	if (!file_number(path, "MemTotal:", &all) ||
	    !file_number(path, "MemAvailable:", &available))
		return NO_LIMIT;
	all *= KiB;
	return left(available * KiB, all - less_margin(all));
}

uint64_t memory_fits(const char *root, uint64_t waiting, uint64_t pushed)
{
	uint64_t spare = DL_MIN(cgroup_room(root, pushed).spare, machine_spare(root));

	return spare == NO_LIMIT ? NO_LIMIT : spare + waiting;
}

uint64_t memory_default(const char *root, char what[64])
{
	uint64_t machine = 0, cgroup = cgroup_room(root, 0).free, free;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	if (file_number(path, "MemAvailable:", &machine))
		machine *= KiB;
	else
		machine = 2 * LEAST;
	snprintf(what, 64, cgroup < machine ? "half of what the memory cgroup has free" :
		 "half of what the machine has free");
	free = DL_MIN(cgroup, machine);
	return free < OWN + 2 * LEAST ? LEAST : (free - OWN) / 2;
}

uint64_t host_memory(char what[64])
{
	return memory_default("", what);
}

uint64_t host_memory_fits(uint64_t waiting, uint64_t pushed)
{
	return memory_fits("", waiting, pushed);
}

uint64_t host_cgroup_limit(void)
{
	return memory_cgroup_limit("");
}
