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
	int64_t now;
	int r;

	if (listing != NONE)
		return listing;
	r = draft_read(m, folder, &d);
	if (r < 0)
		return r;
	now = draft_publish(m, folder, &d, 0);
	return now == -EAGAIN ? current_listing(m, folder) : now;
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

/* A listing on its way: what is written lies above the counters, and so may be written again. */
struct publishing {
	struct manifest *m;
	const struct draft *draft;
	uint32_t folder, old;
	uint32_t first, count;         /* entries */
	uint32_t folders;              /* all, with the new ones */
	uint32_t last_owner;
};

/* A sub-folder that was there before keeps its number, and so its node and its listing. */
static int64_t folder_number(struct publishing *p, uint32_t entry, const char *name)
{
	struct manifest *m = p->m;
	const struct record *e = &m->entries[entry];
	uint32_t before = p->old == NONE ? NONE : listing_find(m, p->old, name, e->name_len);

	if (before != NONE && is_folder(&m->entries[before]) && m->entries[before].ino == e->ino)
		return (int64_t)m->entries[before].size;
	if (p->folders == m->max_folders)
		return -ENOSPC;
	m->folders[p->folders] = (struct folder){
		.parent = p->folder, .entry = entry, .detached = m->folders[p->folder].detached,
	};
	return p->folders++;
}

static int write_entry(struct publishing *p, uint32_t number, const struct draft_entry *x)
{
	struct record *e = &p->m->entries[number];
	int owner = owner_number(p->m, x->owner, &p->last_owner);
	int64_t sub;

	if (owner < 0)
		return owner;
	*e = x->record;
	e->name = p->m->head->names + x->record.name;
	e->owner = (uint64_t)owner & 0xffff;
	e->folder = p->folder;
	if (!is_folder(e))
		return 0;
	sub = folder_number(p, number, (const char *)p->draft->names.at + x->record.name);
	if (sub < 0)
		return (int)sub;
	e->size = (uint64_t)sub;
	return 0;
}

static int write_entries(struct publishing *p)
{
	const struct buf *names = &p->draft->names;
	const struct draft_entry *x = (const void *)p->draft->entries.at;
	struct manifest *m = p->m;
	int r = 0;

	p->first = m->head->entries;
	p->count = (uint32_t)(p->draft->entries.len / sizeof(*x));
	if (p->count > m->max_entries - p->first || names->len > m->max_names - m->head->names)
		return -ENOSPC;
	if (names->len > 0)
		memcpy(m->names + m->head->names, names->at, names->len);
	for (uint32_t i = 0; r == 0 && i < p->count; i++)
		r = write_entry(p, p->first + i, &x[i]);
	if (r < 0)
		return r;
	/* A folder names its entry, so the entries are counted first. */
	atomic_store_explicit(&m->head->names, m->head->names + names->len, memory_order_release);
	atomic_store_explicit(&m->head->entries, p->first + p->count, memory_order_release);
	atomic_store_explicit(&m->head->folders, p->folders, memory_order_release);
	return 0;
}

static void share_entries(struct publishing *p)
{
	p->first = p->m->listings[p->old].first;
	p->count = p->m->listings[p->old].count;
}

static int64_t publish(struct publishing *p, bool same)
{
	const struct draft *d = p->draft;
	struct manifest *m = p->m;
	uint32_t listing = m->head->listings;
	int r = 0;

	if (listing == m->max_listings)
		return -ENOSPC;
	if (same)
		share_entries(p);
	else
		r = write_entries(p);
	if (r < 0)
		return r;
	m->listings[listing] = (struct listing){
		.first = p->first, .count = p->count, .folder = p->folder, .error = d->error,
		.stamp = d->stamp, .read_at = d->read_at,
	};
	atomic_store_explicit(&m->head->listings, listing + 1, memory_order_release);
	atomic_store_explicit(&m->folders[p->folder].listing, listing + 1, memory_order_release);
	if (!same)
		sums_replace(m, p->folder, p->old, listing);
	return listing;
}

int64_t draft_publish(struct manifest *m, uint32_t folder, const struct draft *d,
		      uint32_t expected)
{
	struct publishing p = { .m = m, .draft = d, .folder = folder, .old = expected - 1 };
	bool same = expected > 0 && draft_same_entries(m, d, expected - 1);
	int64_t listing;

	DL_HOLD(&m->writer);
	if (m->folders[folder].listing != expected)
		return -EAGAIN;
	p.folders = m->head->folders;
	m->head->writing = true;
	listing = publish(&p, same);
	m->head->writing = false;
	return listing;
}
