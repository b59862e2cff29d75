/* What follows from the current listings: which folders are still in the tree, and how many
 * files and bytes those hold. */
#include "prefetch/manifest/internal.h"

static void add_files(struct manifest *m, uint32_t listing, bool in)
{
	const struct listing *l = listing_at(m, listing);
	uint64_t files = 0, bytes = 0, paged = 0;

	for (uint32_t i = 0; l && i < l->count; i++) {
		const struct record *e = &m->entries[entry_in(m, l, i)];

		if (is_regular(e)) {
			files++;
			bytes += e->size;
			paged += dl_paged(e->size);
		}
	}
	m->head->files += in ? files : -files;
	m->head->bytes += in ? bytes : -bytes;
	m->head->paged += in ? paged : -paged;
}

static bool names_folder(const struct manifest *m, uint32_t listing, const struct record *as,
			 uint32_t folder)
{
	uint32_t entry = listing_find(m, listing, name_of(m, as), as->name_len);

	return entry != NONE && is_folder(&m->entries[entry]) && m->entries[entry].size == folder;
}

static void detach(struct manifest *m, uint32_t folder)
{
	m->folders[folder].detached = 1;
	add_files(m, current_listing(m, folder), false);
}

/* Below one that went all went, and each has a higher number than what it lies in. */
static void detach_below(struct manifest *m, uint32_t lowest)
{
	for (uint32_t i = lowest + 1; i < m->head->folders; i++)
		if (!m->folders[i].detached && m->folders[m->folders[i].parent].detached)
			detach(m, i);
}

void sums_replace(struct manifest *m, uint32_t folder, uint32_t old, uint32_t now)
{
	const struct listing *was = listing_at(m, old);
	uint32_t lowest = NONE;

	dl_assert_held(&m->writer);
	if (m->folders[folder].detached)
		return;
	add_files(m, now, true);
	add_files(m, old, false);
	for (uint32_t i = 0; was && i < was->count; i++) {
		const struct record *e = &m->entries[entry_in(m, was, i)];

		if (!is_folder(e) || names_folder(m, now, e, (uint32_t)e->size))
			continue;
		detach(m, (uint32_t)e->size);
		lowest = DL_MIN(lowest, (uint32_t)e->size);
	}
	if (lowest != NONE)
		detach_below(m, lowest);
}

static bool in_tree(const struct manifest *m, uint32_t folder)
{
	const struct folder *f = &m->folders[folder];
	uint32_t above;

	if (folder == 0)
		return true;
	above = current_listing(m, f->parent);
	return !m->folders[f->parent].detached && above != NONE &&
		names_folder(m, above, &m->entries[f->entry], folder);
}

void sums_all(struct manifest *m)
{
	m->head->files = m->head->bytes = m->head->paged = 0;
	for (uint32_t i = 0; i < m->head->folders; i++) {
		m->folders[i].detached = !in_tree(m, i);
		if (!m->folders[i].detached)
			add_files(m, current_listing(m, i), true);
	}
}
