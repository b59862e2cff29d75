#include "prefetch/manifest/link.h"

#include <string.h>
#include <sys/stat.h>

#include "prefetch/manifest/internal.h"

#define HOPS_MAX 40                    /* as in the kernel */

static node_id go(const struct manifest *m, node_id from, const char *path, unsigned *hops);

/* One name in a folder, and on if it is a link. */
static node_id step(const struct manifest *m, uint32_t folder, const char *name, size_t len,
		    unsigned *hops)
{
	uint32_t listing = current_listing(m, folder), entry;
	char text[256];

	if (listing == NONE || len >= sizeof(text))
		return 0;
	memcpy(text, name, len);
	text[len] = 0;
	entry = listing_find(m, listing, text, len);
	if (entry == NONE)
		return 0;
	if (is_folder(&m->entries[entry]))
		return m->entries[entry].size + 1;
	if (!S_ISLNK(m->entries[entry].mode))
		return node_of_sample(entry);
	if (++*hops > HOPS_MAX)
		return 0;
	return go(m, (node_id)folder + 1, name_of(m, &m->entries[entry]) + len + 1, hops);
}

/* 0 once the way leads nowhere.  Above the root nothing is known. */
static node_id go(const struct manifest *m, node_id from, const char *path, unsigned *hops)
{
	node_id at = *path && *path != '/' ? from : 0;

	while (at && *path) {
		size_t len = strcspn(path, "/");

		if (!node_is_folder(at))
			return 0;
		if (len == 2 && path[0] == '.' && path[1] == '.')
			at = at == NODE_ROOT ? 0 : manifest_parent(m, at);
		else if (len > 1 || (len == 1 && path[0] != '.'))
			at = step(m, (uint32_t)at - 1, path, len, hops);
		path += len;
		path += *path == '/';
	}
	return at;
}

node_id link_target(const struct manifest *m, sample_id link)
{
	const struct record *e = &m->entries[link];
	unsigned hops = 1;

	return go(m, (node_id)e->folder + 1, name_of(m, e) + e->name_len + 1, &hops);
}
