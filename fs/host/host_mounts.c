#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/path.h"
#include "fs/host/internal.h"

#define ANSWER_MS 3000                 /* a server that is alive answers a stat within this */

/* Space, tab, newline and backslash are written as \ooo. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		unsigned code;

		if (*from == '\\' && strspn(from + 1, "01234567") >= 3 &&
		    sscanf(from + 1, "%3o", &code) == 1) {
			*to = (char)code;
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

struct fields { char *device, *root, *mountpoint, *type, *source; bool shared; };

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue" */
static bool split_line(char *line, struct fields *ret)
{
	char *save = NULL, *field = strtok_r(line, " ", &save);

	for (int i = 0; field && strcmp(field, "-") != 0; i++) {
		if (i == 2)
			ret->device = field;
		else if (i == 3)
			ret->root = field;
		else if (i == 4)
			ret->mountpoint = field;
		else if (i > 5 && strncmp(field, "shared:", 7) == 0)
			ret->shared = true;
		field = strtok_r(NULL, " ", &save);
	}
	ret->type = strtok_r(NULL, " ", &save);
	ret->source = strtok_r(NULL, " ", &save);
	if (!ret->mountpoint || !ret->type || !ret->source)
		return false;
	unescape(ret->root);
	unescape(ret->mountpoint);
	unescape(ret->source);
	return true;
}

static int take_fields(const struct fields *f, struct host_mount *ret)
{
	struct host_mount m = {
		.mountpoint = strdup(f->mountpoint), .type = strdup(f->type),
		.source = strdup(f->source), .root = strdup(f->root), .shared = f->shared,
	};

	if (!m.mountpoint || !m.type || !m.source || !m.root ||
	    sscanf(f->device, "%u:%u", &m.major, &m.minor) != 2) {
		host_mount_fini(&m);
		return -ENOMEM;
	}
	host_mount_fini(ret);
	*ret = m;
	return 0;
}

/* Later lines lie on top of earlier ones, so among those that cover the path it is the
 * longest, and the last of these. */
int mounts_find(char *mountinfo, const char *path, bool prefix, struct host_mount *ret)
{
	struct host_mount best = { 0 };
	char *save = NULL;
	int r = 0;

	for (char *line = strtok_r(mountinfo, "\n", &save); line && r == 0;
	     line = strtok_r(NULL, "\n", &save)) {
		struct fields f = { 0 };

		if (!split_line(line, &f))
			continue;
		if (prefix ? path_is_below(path, f.mountpoint) : strcmp(path, f.mountpoint) == 0)
			if (!best.mountpoint || strlen(f.mountpoint) >= strlen(best.mountpoint))
				r = take_fields(&f, &best);
	}
	if (r < 0) {
		host_mount_fini(&best);
		return r;
	}
	if (!best.mountpoint)
		return 0;
	*ret = best;
	return 1;
}

static int find_now(const char *path, bool prefix, struct host_mount *ret)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	int r = file_read("/proc/self/mountinfo", SIZE_MAX, &text);

	return r < 0 ? r : mounts_find((char *)text.at, path, prefix, ret);
}

/* Attributes that the kernel remembers outlive a server, so the server itself is asked. */
static int ask(const void *path)
{
	struct statx st;

	return statx(AT_FDCWD, path, AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &st) < 0 ? -errno : 0;
}

/* Who asks a server that dies meanwhile is told ECONNABORTED. */
static bool is_dead(const char *path)
{
	int r = child_call(ask, path, ANSWER_MS);

	return r == -ENOTCONN || r == -ECONNABORTED;
}

int host_mounted(const char *path, struct host_mount *ret)
{
	int r = find_now(path, false, ret);

	if (r == 1)
		ret->dead = strncmp(ret->type, "fuse", 4) == 0 && is_dead(path);
	return r;
}

int host_mount_of(const char *path, struct host_mount *ret)
{
	return find_now(path, true, ret);
}

bool host_mount_is_dlfs(const struct host_mount *m)
{
	return strcmp(m->type, "fuse.dlfs") == 0;
}

void host_mount_fini(struct host_mount *m)
{
	free(m->mountpoint);
	free(m->type);
	free(m->source);
	free(m->root);
	*m = (struct host_mount){ 0 };
}

int path_in_filesystem(const struct host_mount *m, const char *path, struct buf *ret)
{
	const char *below = path + (strcmp(m->mountpoint, "/") == 0 ? 0 : strlen(m->mountpoint));
	const char *root = strcmp(m->root, "/") == 0 ? "" : m->root;
	int r = buf_printf(ret, "%s%s", root, strcmp(below, "/") == 0 ? "" : below);

	return r == 0 && ret->len == 0 ? buf_printf(ret, "/") : r;
}
