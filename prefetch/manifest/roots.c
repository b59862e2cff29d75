/* Where a training program may have its ImageFolder: a folder whose sub-folders hold files. */
#include <string.h>
#include <sys/stat.h>

#include "prefetch/manifest/internal.h"
#include "prefetch/manifest/list.h"

static bool holds_files(const struct manifest *m, uint32_t folder)
{
	const struct listing *l = listing_at(m, current_listing(m, folder));

	for (uint32_t i = 0; l && i < l->count; i++)
		if (!is_folder(&m->entries[l->first + i]))
			return true;
	return false;
}

/* Some sub-folder directly holds files: this may well be an ImageFolder's root. */
static bool has_classes(const struct manifest *m, uint32_t folder)
{
	const struct listing *l = listing_at(m, current_listing(m, folder));

	for (uint32_t i = 0; l && i < l->count; i++) {
		const struct record *e = &m->entries[l->first + i];

		if (S_ISLNK(e->mode) || (is_folder(e) && holds_files(m, (uint32_t)e->size)))
			return true;
	}
	return false;
}

struct finding {
	const struct manifest *m;
	node_id *at;
	size_t count, max;
};

static void consider(struct finding *f, uint32_t folder, unsigned depth)
{
	const struct listing *l = listing_at(f->m, current_listing(f->m, folder));

	if (depth == 0) {
		if (f->count < f->max && has_classes(f->m, folder))
			f->at[f->count++] = (node_id)folder + 1;
		return;
	}
	/* Training sets first: the name begins with "train". */
	for (int train = 1; train >= 0; train--) {
		for (uint32_t i = 0; l && f->count < f->max && i < l->count; i++) {
			const struct record *e = &f->m->entries[l->first + i];

			if (is_folder(e) && (strncmp(name_of(f->m, e), "train", 5) == 0) == train)
				consider(f, (uint32_t)e->size, depth - 1);
		}
	}
}

size_t list_roots(struct manifest *m, node_id *ret, size_t max)
{
	struct finding f = { .m = m, .at = ret, .max = max };

	for (unsigned depth = 0; depth <= 2; depth++)
		consider(&f, 0, depth);
	return f.count;
}
