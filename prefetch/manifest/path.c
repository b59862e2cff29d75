/* Paths below the root, both ways. */
#include <string.h>
#include <sys/stat.h>

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
