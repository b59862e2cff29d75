#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "fs/host/internal.h"

static int name_folder(struct buf *ret)
{
	const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (xdg && xdg[0] == '/')
		return buf_printf(ret, "%s/dlfs", xdg);
	if (geteuid() == 0)
		return buf_printf(ret, "/var/lib/dlfs");
	if (home && home[0] == '/')
		return buf_printf(ret, "%s/.local/state/dlfs", home);
	return -ENOENT;
}

static int make_folders(char *path)
{
	for (char *at = strchr(path + 1, '/'); ; at = strchr(at + 1, '/')) {
		if (at)
			*at = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -errno;
		if (!at)
			return 0;
		*at = '/';
	}
}

/* FNV-1a.  The file itself says of which source it is, so a collision costs a scan. */
static uint64_t name_hash(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	return hash;
}

/* *ret is there also if it cannot be made: up to the first that cannot. */
static int state_folder(struct buf *ret)
{
	int r = name_folder(ret);

	return r < 0 ? r : make_folders((char *)ret->at);
}

int host_state_check(struct buf *ret)
{
	int r = state_folder(ret);

	if (r == 0 && faccessat(AT_FDCWD, (char *)ret->at, W_OK | X_OK, AT_EACCESS) < 0)
		r = -errno;
	return r;
}

int host_state_file(const char *source, const char *kind, struct buf *ret)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
	dl_cleanup(dl_freep) char *real = realpath(source, NULL);
	int r;

	if (!real)
		return -errno;
	r = state_folder(&path);
	if (r == 0)
		r = buf_printf(&path, "/%016llx.%s", (unsigned long long)name_hash(real), kind);
	if (r < 0)
		return r;
	*ret = buf_take(&path);
	return 0;
}
