/* Where a training program may have its files, and which lists of them it may go through. */
#include <string.h>
#include <sys/stat.h>

#include "prefetch/manifest/internal.h"
#include "prefetch/manifest/list.h"

static bool holds_files(const struct manifest *m, uint32_t folder)
{
	const struct listing *l = listing_at(m, current_listing(m, folder));

	for (uint32_t i = 0; l && i < l->count; i++)
		if (!is_folder(&m->entries[entry_in(m, l, i)]))
			return true;
	return false;
}

/* Some sub-folder directly holds files: this may well be an ImageFolder's root. */
static bool has_classes(const struct manifest *m, uint32_t folder)
{
	const struct listing *l = listing_at(m, current_listing(m, folder));

	for (uint32_t i = 0; l && i < l->count; i++) {
		const struct record *e = &m->entries[entry_in(m, l, i)];

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
			const struct record *e = &f->m->entries[entry_in(f->m, l, i)];

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

/* --- By what was opened ------------------------------------------------------------------ */

#define MOST(count) (((count) * 3 + 3) / 4)
#define ROOTS_MAX 8u
/* Of all together: at many millions of files unlikely lists that need tables are left out. */
#define BYTES_MAX (256 * MiB)

/* The folder below `above` on the way to a sample, or NONE. */
static uint32_t folder_below(const struct manifest *m, uint32_t above, sample_id id)
{
	uint32_t at = m->entries[id].folder, below = NONE;

	while (at != above && at != 0) {
		below = at;
		at = m->folders[at].parent;
	}
	return at == above ? below : NONE;
}

/* The sub-folder that most of them are below, or NONE: the one that a vote leaves, if any. */
static uint32_t step_down(const struct manifest *m, uint32_t above, const sample_id *opened,
			  size_t count)
{
	uint32_t chosen = NONE;
	size_t votes = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t below = folder_below(m, above, opened[i]);

		if (votes == 0)
			chosen = below;
		votes = below == chosen ? votes + 1 : votes - 1;
	}
	votes = 0;
	for (size_t i = 0; i < count; i++)
		votes += folder_below(m, above, opened[i]) == chosen;
	return votes >= MOST(count) ? chosen : NONE;
}

node_id list_root_of(struct manifest *m, const sample_id *opened, size_t count)
{
	uint32_t folder = 0, below;

	while (count > 0 && (below = step_down(m, folder, opened, count)) != NONE)
		folder = below;
	return (node_id)folder + 1;
}

struct choice {
	struct manifest *m;
	struct list **lists;
	size_t count, max, bytes;
};

static void choose(struct choice *c, enum list_kind kind, node_id root)
{
	struct list *l;

	if (c->count == c->max || list_new(c->m, kind, root, &l) < 0)
		return;
	for (size_t i = 0; i < c->count; i++)
		if (list_same(c->lists[i], l)) {
			list_unref(l);
			return;
		}
	if (c->count > 0 && c->bytes + list_bytes(l) > BYTES_MAX) {
		list_unref(l);
		return;
	}
	c->bytes += list_bytes(l);
	c->lists[c->count++] = l;
}

size_t list_candidates(struct manifest *m, node_id root, struct list **ret, size_t max)
{
	struct choice c = { .m = m, .lists = ret, .max = max };
	node_id roots[ROOTS_MAX];
	size_t n = 0;

	for (; root != NODE_ROOT && n < ROOTS_MAX - 1; root = manifest_parent(m, root))
		roots[n++] = root;
	roots[n++] = NODE_ROOT;
	for (size_t i = 0; i < n; i++)
		for (int kind = 0; kind < LIST_KINDS; kind++)
			choose(&c, (enum list_kind)kind, roots[i]);
	return c.count;
}
