#include "prefetch/source/kept_key.h"

#include <string.h>

#include "base/sum.h"

uint64_t kept_source(const struct manifest *m)
{
	return sum_of(manifest_source(m), strlen(manifest_source(m)), 0);
}

int kept_key(const struct manifest *m, sample_id id, struct disk_key *ret)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
	int r = manifest_path(m, node_of_sample(id), &path);

	if (r == 0)
		*ret = (struct disk_key){ { kept_source(m), sum_of(path.at, path.len, 0) }, 0 };
	return r;
}

struct disk_identity kept_identity(const struct served *served, sample_id id,
				   const struct attr *a)
{
	return (struct disk_identity){
		.size = a->size, .ino = a->ino, .mtime_ns = a->mtime_ns, .ctime_ns = a->ctime_ns,
		.dev = served_wants(served, id) ? served_recipe(served) : 0,
	};
}

bool kept_has(struct disk *d, const struct manifest *m, const struct served *served, sample_id id)
{
	struct disk_identity identity;
	struct disk_key key;
	struct attr a;

	if (manifest_attr(m, node_of_sample(id), &a) < 0 || kept_key(m, id, &key) < 0)
		return false;
	identity = kept_identity(served, id, &a);
	return disk_has(d, &key, &identity);
}
