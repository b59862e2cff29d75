/* Whether tables that come from a file can be believed: afterwards they are used unasked. */
#include <string.h>
#include <sys/stat.h>

#include "prefetch/manifest/file.h"

struct tables {
	const struct manifest *m;
	const struct file_head *h;
	const struct folder *folders;
};

static bool good_name(const struct tables *t, const struct record *e)
{
	const char *names = t->m->names;
	uint64_t end = e->name + e->name_len;

	if (e->name_len == 0 || end >= t->h->names || names[end] != 0 ||
	    memchr(names + e->name, 0, e->name_len) || memchr(names + e->name, '/', e->name_len))
		return false;
	if (strcmp(names + e->name, ".") == 0 || strcmp(names + e->name, "..") == 0)
		return false;
	if (!S_ISLNK(e->mode))
		return true;
	return e->size < t->h->names - end - 1 && names[end + 1 + e->size] == 0;
}

static bool good_entries(const struct tables *t)
{
	for (uint32_t i = 0; i < t->h->entries; i++) {
		const struct record *e = &t->m->entries[i];

		if (!good_name(t, e) || e->owner >= t->h->owners || e->folder >= t->h->folders)
			return false;
		if (is_folder(e) && e->size >= t->h->folders)
			return false;
	}
	return true;
}

/* A parent has a lower number than its child, so no walk upwards can go round. */
static bool good_folder(const struct tables *t, uint32_t number)
{
	const struct folder *f = &t->folders[number];
	const struct record *named;

	if (f->listing > t->h->listings || f->detached > 1)
		return false;
	if (f->listing > 0 && t->m->listings[f->listing - 1].folder != number)
		return false;
	if (number == 0)
		return f->entry == NONE && f->parent == 0 && f->detached == 0;
	if (f->parent >= number || f->entry >= t->h->entries)
		return false;
	named = &t->m->entries[f->entry];
	return is_folder(named) && named->size == number && named->folder == f->parent;
}

static bool good_folders(const struct tables *t)
{
	for (uint32_t i = 0; i < t->h->folders; i++)
		if (!good_folder(t, i))
			return false;
	return t->h->folders > 0;
}

/* A sub-folder that is named here is that of this name, and of no other place. */
static bool good_place(const struct tables *t, const struct record *e)
{
	const struct record *named;

	if (!is_folder(e))
		return true;
	if (e->size == 0 || e->size >= t->h->folders)
		return false;
	named = &t->m->entries[t->folders[e->size].entry];
	return t->folders[e->size].parent == e->folder &&
		strcmp(name_of(t->m, named), name_of(t->m, e)) == 0;
}

static bool good_listing(const struct tables *t, const struct listing *l)
{
	const struct record *e, *last = NULL;

	if (l->folder >= t->h->folders || l->first > t->h->places ||
	    l->count > t->h->places - l->first || l->error > 0 || (l->error < 0 && l->count > 0))
		return false;
	if (l->stamp.mode != 0 && !S_ISDIR(l->stamp.mode))
		return false;
	for (uint32_t i = 0; i < l->count; i++, last = e) {
		if (entry_in(t->m, l, i) >= t->h->entries)
			return false;
		e = &t->m->entries[entry_in(t->m, l, i)];
		if (e->folder != l->folder || !good_place(t, e))
			return false;
		if (last && strcmp(name_of(t->m, last), name_of(t->m, e)) >= 0)
			return false;
	}
	return true;
}

static bool good_listings(const struct tables *t)
{
	for (uint32_t i = 0; i < t->h->listings; i++)
		if (!good_listing(t, &t->m->listings[i]))
			return false;
	return true;
}

bool tables_sound(const struct manifest *m, const struct file_head *h,
		  const struct folder *folders)
{
	const struct tables t = { m, h, folders };

	return good_entries(&t) && good_folders(&t) && good_listings(&t);
}
