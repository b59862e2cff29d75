/* Paths below the root: of a node, to a node, and opened. */
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>

#include "prefetch/manifest/internal.h"

static int prepend(struct buf *path, const char *name)
{
	size_t len = strlen(name), sep = path->len > 0;
	int r = buf_reserve(path, len + sep);

	if (r < 0)
		return r;
	memmove(path->at + len + sep, path->at, path->len);
	memcpy(path->at, name, len);
	if (sep)
		path->at[len] = '/';
	path->len += len + sep;
	return 0;
}

int manifest_path(const struct manifest *m, node_id node, struct buf *ret)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
	struct attr attr;
	int r = manifest_attr(m, node, &attr);

	while (r == 0 && node != NODE_ROOT) {
		r = prepend(&path, manifest_name(m, node));
		node = manifest_parent(m, node);
	}
	return r < 0 ? r : buf_append(ret, path.at, path.len);
}

int manifest_resolve(struct manifest *m, const char *path, node_id *ret)
{
	node_id node = NODE_ROOT;
	char name[256];

	while (*(path += strspn(path, "/"))) {
		size_t len = strcspn(path, "/");
		struct attr attr;
		int r;

		if (len > 255)
			return -ENAMETOOLONG;
		memcpy(name, path, len);
		name[len] = 0;
		path += len;
		if (strcmp(name, ".") == 0)
			continue;
		if (!node_is_folder(node))
			return -ENOTDIR;
		if (strcmp(name, "..") == 0) {
			node = manifest_parent(m, node);
			continue;
		}
		r = manifest_lookup(m, node, name, &attr);
		if (r < 0)
			return r;
		node = attr.node;
	}
	*ret = node;
	return 0;
}

static int open_at_once(const struct manifest *m, const char *path, int how_to)
{
	struct open_how how = {
		.flags = (uint64_t)(how_to | O_DIRECTORY | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	long fd = syscall(SYS_openat2, m->root_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

/* The same for kernels and sandboxes without openat2, and for paths over PATH_MAX. */
static int open_by_steps(const struct manifest *m, char *path, int how_to)
{
	const int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	dl_cleanup(dl_closep) int at = openat(m->root_fd, ".", O_PATH | flags);
	char *rest = path, *name;
	int fd;

	while (at >= 0 && (name = strsep(&rest, "/"))) {
		fd = openat(at, name, O_PATH | flags);
		if (fd < 0)
			return -errno;
		close(at);
		at = fd;
	}
	fd = at < 0 ? -1 : openat(at, ".", how_to | flags);
	return fd < 0 ? -errno : fd;
}

int folder_open(const struct manifest *m, uint32_t folder, int how_to)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
	int r = manifest_path(m, (node_id)folder + 1, &path), fd;

	if (r == 0 && path.len == 0)
		r = buf_append(&path, ".", 1);
	if (r < 0)
		return r;
	fd = open_at_once(m, (char *)path.at, how_to);
	if (fd == -EPERM)              /* O_NOATIME is the owner's */
		fd = open_at_once(m, (char *)path.at, how_to &= ~O_NOATIME);
	if (fd == -ENOSYS || fd == -EPERM || fd == -ENAMETOOLONG)
		fd = open_by_steps(m, (char *)path.at, how_to & ~O_NOATIME);
	return fd;
}
