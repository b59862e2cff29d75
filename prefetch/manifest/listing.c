/* Publishing a listing, and finding names in one. */
#include <string.h>

#include "prefetch/manifest/internal.h"

uint32_t listing_find(const struct manifest *m, uint32_t listing, const char *name, size_t len)
{
	const struct listing *l = &m->listings[listing];
	uint32_t low = l->first, high = l->first + l->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		int order = strcmp(name, name_of(m, &m->entries[mid]));

		if (order == 0)
			return m->entries[mid].name_len == len ? mid : NONE;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NONE;
}

int64_t listing_ensure(struct manifest *m, uint32_t folder)
{
	dl_cleanup(draft_free) struct draft d = { 0 };
	uint32_t listing = current_listing(m, folder);
	int r;

	if (listing != NONE)
		return listing;
	r = draft_read(m, folder, &d);
	return r < 0 ? r : draft_publish(m, folder, &d, 0);
}

/* Few owners are ever seen, so the last one is nearly always the right one. */
static int owner_number(struct manifest *m, struct owner o, uint32_t *last)
{
	uint32_t count = m->head->owners;

	if (*last < count && m->owners[*last].uid == o.uid && m->owners[*last].gid == o.gid)
		return (int)*last;
	for (uint32_t i = 0; i < count; i++) {
		if (m->owners[i].uid == o.uid && m->owners[i].gid == o.gid) {
			*last = i;
			return (int)i;
		}
	}
	if (count == OWNERS_MAX)
		return -ENOSPC;
	m->owners[count] = o;
	m->head->owners = count + 1;
	*last = count;
	return (int)count;
}

/* A sub-folder that was there before keeps its number, and so its node and its listing. */
static int folder_number(struct manifest *m, uint32_t parent, uint32_t old, uint32_t entry,
			 const struct record *e, const char *name, uint32_t *ret)
{
	uint32_t before = old == NONE ? NONE : listing_find(m, old, name, e->name_len);
	uint32_t number = m->head->folders;

	if (before != NONE && is_folder(&m->entries[before]) && m->entries[before].ino == e->ino) {
		*ret = (uint32_t)m->entries[before].size;
		return 0;
	}
	if (number == m->max_folders)
		return -ENOSPC;
	m->folders[number] = (struct folder){ .parent = parent, .entry = entry };
	*ret = number;
	return 1;
}

static int write_entry(struct manifest *m, uint32_t folder, uint32_t old, uint32_t number,
		       const struct draft *d, const struct draft_entry *x, uint32_t *last_owner)
{
	struct record *e = &m->entries[number];
	int owner = owner_number(m, x->owner, last_owner), r = 0;
	uint32_t sub;

	if (owner < 0)
		return owner;
	*e = x->record;
	e->name = m->head->names + x->record.name;
	e->owner = (uint64_t)owner & 0xffff;
	e->folder = folder;
	if (is_folder(e)) {
		r = folder_number(m, folder, old, number, e,
				  (const char *)d->names.at + x->record.name, &sub);
		if (r < 0)
			return r;
		e->size = sub;
	}
	/* The folder's counter rises with each, since the next takes the number after it; a
	 * folder that nothing names yet is harmless. */
	if (r == 1)
		atomic_store_explicit(&m->head->folders, sub + 1, memory_order_release);
	return 0;
}

/* Add a listing's regular files to the sums, or take them out. */
static void count_files(struct manifest *m, uint32_t listing, bool in)
{
	const struct listing *l = listing == NONE ? NULL : &m->listings[listing];

	for (uint32_t i = 0; l && i < l->count; i++) {
		const struct record *e = &m->entries[l->first + i];

		if (!is_regular(e))
			continue;
		m->head->files += in ? 1 : UINT64_MAX;
		m->head->bytes += in ? e->size : -e->size;
	}
}

/* All records first, then the counters, then the one store that shows the listing. */
static int64_t publish(struct manifest *m, uint32_t folder, const struct draft *d, uint32_t old)
{
	const struct draft_entry *x = (const void *)d->entries.at;
	uint32_t count = (uint32_t)(d->entries.len / sizeof(*x));
	uint32_t first = m->head->entries, listing = m->head->listings, last_owner = 0;

	if (count > m->max_entries - first || listing == m->max_listings ||
	    d->names.len > m->max_names - m->head->names)
		return -ENOSPC;
	if (d->names.len > 0)
		memcpy(m->names + m->head->names, d->names.at, d->names.len);
	for (uint32_t i = 0; i < count; i++) {
		int r = write_entry(m, folder, old, first + i, d, &x[i], &last_owner);

		if (r < 0)
			return r;
	}
	m->listings[listing] = (struct listing){
		.first = first, .count = count, .folder = folder, .error = d->error,
		.stamp = d->stamp, .read_at = d->read_at,
	};
	atomic_store_explicit(&m->head->names, m->head->names + d->names.len, memory_order_release);
	atomic_store_explicit(&m->head->entries, first + count, memory_order_release);
	atomic_store_explicit(&m->head->listings, listing + 1, memory_order_release);
	count_files(m, listing, true);
	count_files(m, old, false);
	atomic_store_explicit(&m->folders[folder].listing, listing + 1, memory_order_release);
	return listing;
}

int64_t draft_publish(struct manifest *m, uint32_t folder, const struct draft *d,
		      uint32_t expected)
{
	DL_HOLD(&m->writer);

	if (m->folders[folder].listing != expected)
		return current_listing(m, folder);
	return publish(m, folder, d, expected - 1);
}
