/* Publishing a listing, and finding names in one. */
#include <string.h>

#include "prefetch/manifest/internal.h"

uint32_t listing_find(const struct manifest *m, uint32_t listing, const char *name, size_t len)
{
	const struct listing *l = &m->listings[listing];
	uint32_t low = 0, high = l->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2, entry = entry_in(m, l, mid);
		int order = strcmp(name, name_of(m, &m->entries[entry]));

		if (order == 0)
			return m->entries[entry].name_len == len ? entry : NONE;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NONE;
}

uint32_t listing_after(const struct manifest *m, uint32_t listing, const char *name)
{
	const struct listing *l = &m->listings[listing];
	uint32_t low = 0, high = l->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (strcmp(name_of(m, &m->entries[entry_in(m, l, mid)]), name) <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
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
	uint32_t first, count;         /* places */
	uint32_t folders, entries, all_places;         /* all, with the new ones */
	uint64_t names;
	uint32_t passed;               /* places of the old listing */
	uint32_t last_owner;
};

/* What a name stood for.  Both listings are sorted, so one walk through the old one finds all. */
static uint32_t entry_before(struct publishing *p, const char *name)
{
	const struct listing *old = listing_at(p->m, p->old);

	for (; old && p->passed < old->count; p->passed++) {
		uint32_t entry = entry_in(p->m, old, p->passed);
		int order = strcmp(name_of(p->m, &p->m->entries[entry]), name);

		if (order >= 0)
			return order == 0 ? entry : NONE;
	}
	return NONE;
}

/* A sub-folder that was there before keeps its number, and so its node and its listing. */
static int64_t folder_number(struct publishing *p, uint32_t entry, uint64_t dev, uint32_t before)
{
	struct manifest *m = p->m;
	const struct record *e = &m->entries[entry];
	const struct record *b = before == NONE ? NULL : &m->entries[before];

	if (b && is_folder(b) && b->ino == e->ino && m->folders[b->size].dev == dev)
		return (int64_t)b->size;
	if (p->folders == m->max_folders)
		return -ENOSPC;
	m->folders[p->folders] = (struct folder){
		.parent = p->folder, .entry = entry, .detached = m->folders[p->folder].detached,
		.dev = dev,
	};
	return p->folders++;
}

static int write_entry(struct publishing *p, const struct draft_entry *x, uint32_t before)
{
	struct manifest *m = p->m;
	struct record *e = &m->entries[p->entries];
	const char *name = (const char *)p->draft->names.at + x->record.name;
	size_t len = draft_name_size(x);
	int owner = owner_number(m, x->owner, &p->last_owner);
	int64_t sub;

	if (owner < 0)
		return owner;
	if (p->entries == m->max_entries || len > m->max_names - p->names)
		return -ENOSPC;
	*e = x->record;
	e->name = p->names;
	e->owner = (uint64_t)owner & 0xffff;
	e->folder = p->folder;
	memcpy(m->names + p->names, name, len);
	p->names += len;
	if (is_folder(e)) {
		sub = folder_number(p, p->entries, x->dev, before);
		if (sub < 0)
			return (int)sub;
		e->size = (uint64_t)sub;
	}
	p->entries++;
	return 0;
}

/* What is unchanged keeps its entry. */
static int write_place(struct publishing *p, uint32_t place, const struct draft_entry *x)
{
	struct manifest *m = p->m;
	uint32_t before = entry_before(p, (const char *)p->draft->names.at + x->record.name);
	bool same = before != NONE && draft_same_entry(m, p->draft, x, &m->entries[before]);

	m->places[p->first + place] = same ? before : p->entries;
	return same ? 0 : write_entry(p, x, before);
}

static int write_places(struct publishing *p)
{
	const struct draft_entry *x = (const void *)p->draft->entries.at;
	struct manifest *m = p->m;
	int r;

	p->count = (uint32_t)(p->draft->entries.len / sizeof(*x));
	p->entries = m->head->entries;
	p->names = m->head->names;
	r = places_take(m, p->count, &p->first);
	if (r < 0)
		return r;
	for (uint32_t i = 0; r == 0 && i < p->count; i++)
		r = write_place(p, i, &x[i]);
	if (r < 0) {
		places_give(m, p->first, p->count);
		return r;
	}
	p->all_places = DL_MAX(m->head->places, p->first + places_room(p->count));
	/* A folder names its entry, so the entries are counted first. */
	atomic_store_explicit(&m->head->names, p->names, memory_order_release);
	atomic_store_explicit(&m->head->entries, p->entries, memory_order_release);
	atomic_store_explicit(&m->head->places, p->all_places, memory_order_release);
	atomic_store_explicit(&m->head->folders, p->folders, memory_order_release);
	return 0;
}

static void share_places(struct publishing *p)
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
		share_places(p);
	else
		r = write_places(p);
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
