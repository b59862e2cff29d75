#include "prefetch/manifest/number.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "prefetch/manifest/internal.h"
#include "prefetch/manifest/link.h"
#include "prefetch/manifest/name.h"
#include "prefetch/manifest/natural.h"

/* Links can make a small tree endless.  So many folders may be met more than once. */
#define REPEATED_MAX 65536u
#define TIMM_EXTENSIONS 3u             /* the first of these are timm's too */
#define EXTENSIONS 64

static const char *const extensions[] = {
	".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp",
};

struct making {
	struct manifest *m;
	enum list_kind kind;
	uint32_t visits_left;
	struct buf places;             /* struct place: an ImageFolder's folders */
	struct buf ids;
};

struct place {
	char *path;                    /* below the list's root; owned */
	uint32_t folder;
};

/* The way from the list's root to where we are. */
struct way {
	const uint32_t *folders;       /* more than one: timm takes their names for the same */
	size_t count;
	size_t len;                    /* of the path */
	const struct way *above;
};

static void making_free(struct making *k)
{
	struct place *p = (void *)k->places.at;

	for (size_t i = 0; i < k->places.len / sizeof(*p); i++)
		free(p[i].path);
	buf_free(&k->places);
	buf_free(&k->ids);
}

/* --- What belongs to a list -------------------------------------------------------------- */

static bool every_file(const struct making *k)
{
	return k->kind == LIST_ALL || k->kind == LIST_COMMON;
}

static bool is_image(const struct making *k, const char *name, size_t len)
{
	size_t count = k->kind == LIST_NATURAL ? TIMM_EXTENSIONS : DL_COUNT(extensions);

	for (size_t i = 0; i < count; i++) {
		size_t n = strlen(extensions[i]);

		if (len >= n && strcasecmp(name + len - n, extensions[i]) == 0)
			return true;
	}
	return false;
}

/* What a name stands for: itself, or what its link leads to; 0: nothing that is known. */
static node_id node_of(const struct making *k, uint32_t entry)
{
	const struct record *e = &k->m->entries[entry];

	if (is_folder(e))
		return e->size + 1;
	return S_ISLNK(e->mode) ? link_target(k->m, entry) : node_of_sample(entry);
}

/* The folder that a name stands for, or NONE.  Links may lead elsewhere the next time: the
 * source may be read anew meanwhile. */
static uint32_t folder_of(const struct making *k, uint32_t entry)
{
	node_id node = 0;

	if (is_folder(&k->m->entries[entry]) || !every_file(k))
		node = node_of(k, entry);
	return node && node_is_folder(node) ? (uint32_t)node - 1 : NONE;
}

/* The entry that the list has for a name, or NONE.  A program takes any name with the extension
 * that is no folder: a broken link takes up a number too, and so keeps its own entry. */
static uint32_t listed(const struct making *k, uint32_t entry)
{
	const struct record *e = &k->m->entries[entry];
	node_id node;

	if (every_file(k))
		return is_regular(e) ? entry : NONE;
	if (!is_image(k, name_of(k->m, e), e->name_len))
		return NONE;
	node = node_of(k, entry);
	if (node && node_is_folder(node))
		return NONE;
	return node && is_regular(&k->m->entries[node_sample(node)]) ? node_sample(node) : entry;
}

static int gather(struct making *k, uint32_t folder, bool files, bool folders, struct buf *ret)
{
	const struct listing *l = listing_at(k->m, current_listing(k->m, folder));
	int r = 0;

	for (uint32_t i = 0; l && r == 0 && i < l->count; i++) {
		uint32_t entry = entry_in(k->m, l, i);

		if ((files && listed(k, entry) != NONE) ||
		    (folders && folder_of(k, entry) != NONE))
			r = buf_append(ret, &entry, sizeof(entry));
	}
	return r;
}

static int add(struct making *k, uint32_t entry)
{
	uint32_t id = listed(k, entry);

	if (k->ids.len / sizeof(id) == UINT32_MAX)
		return -EFBIG;
	return id == NONE ? 0 : buf_append(&k->ids, &id, sizeof(id));
}

/* Round a circle of links a program goes on until the path is too long; dlfs goes once. */
static bool leads_on(const struct making *k, const struct way *way, uint32_t entry,
		     uint32_t folder)
{
	if (folder == NONE || way->len + 1 + k->m->entries[entry].name_len >= PATH_MAX)
		return false;
	for (; way; way = way->above)
		for (size_t i = 0; i < way->count; i++)
			if (way->folders[i] == folder)
				return false;
	return true;
}

static int visit(struct making *k)
{
	if (k->visits_left == 0)
		return -ELOOP;
	k->visits_left--;
	return 0;
}

/* --- Orders in one folder ---------------------------------------------------------------- */

struct sorting {
	const struct making *k;
	const struct way *way;
};

/* A name as a part of a longer path: a folder's with the slash, unless parts are compared. */
static const char *in_path(const struct making *k, uint32_t entry, char room[258])
{
	const struct record *e = &k->m->entries[entry];

	if (k->kind == LIST_PARTS || folder_of(k, entry) == NONE)
		return name_of(k->m, e);
	memcpy(room, name_of(k->m, e), e->name_len);
	memcpy(room + e->name_len, "/", 2);
	return room;
}

/* Names that are the same to timm keep the order in which they are met. */
static int as_met(const struct way *way, const struct record *x, const struct record *y)
{
	if (x->folder == y->folder)
		return x < y ? -1 : x > y;
	for (size_t i = 0; i < way->count; i++) {
		if (way->folders[i] == x->folder)
			return -1;
		if (way->folders[i] == y->folder)
			break;
	}
	return 1;
}

static int by_kind(const void *a, const void *b, void *context)
{
	const struct sorting *s = context;
	const struct making *k = s->k;
	const uint32_t *x = a, *y = b;
	char one[258], other[258];
	const char *p = in_path(k, *x, one), *q = in_path(k, *y, other);
	int order = k->kind == LIST_NATURAL ? natural_compare(p, q) : name_compare(p, q);

	return order ? order : as_met(s->way, &k->m->entries[*x], &k->m->entries[*y]);
}

/* Listings are sorted by name, so there is nearly always nothing to do. */
static void sort(const struct making *k, const struct way *way, struct buf *entries)
{
	struct sorting s = { k, way };
	uint32_t *at = (void *)entries->at;
	size_t count = entries->len / sizeof(*at);

	for (size_t i = 1; i < count; i++) {
		if (by_kind(&at[i - 1], &at[i], &s) <= 0)
			continue;
		qsort_r(at, count, sizeof(*at), by_kind, &s);
		return;
	}
}

/* --- ImageFolder: its folders, then the files of each ------------------------------------ */

static int collect_places(struct making *k, const char *path, const struct way *way);

static int collect_below(struct making *k, const char *path, const struct way *way, uint32_t entry)
{
	const char *name = name_of(k->m, &k->m->entries[entry]);
	uint32_t folder = folder_of(k, entry);
	dl_cleanup(dl_freep) char *below = NULL;

	if (!leads_on(k, way, entry, folder))
		return 0;
	if (asprintf(&below, "%s%s%s", path, *path ? "/" : "", name) < 0)
		return -ENOMEM;
	return collect_places(k, below, &(struct way){ &folder, 1, strlen(below), way });
}

/* All folders from one on, as os.walk(followlinks=True) meets them. */
static int collect_places(struct making *k, const char *path, const struct way *way)
{
	dl_cleanup(buf_free) struct buf entries = BUF_EMPTY;
	struct place p = { strdup(path), way->folders[0] };
	const uint32_t *at;
	int r = p.path ? buf_append(&k->places, &p, sizeof(p)) : -ENOMEM;

	if (r < 0) {
		free(p.path);
		return r;
	}
	r = visit(k);
	if (r == 0)
		r = gather(k, p.folder, false, true, &entries);
	at = (void *)entries.at;
	for (size_t i = 0; r == 0 && i < entries.len / sizeof(*at); i++)
		r = collect_below(k, path, way, at[i]);
	return r;
}

/* By class (the first component), then by the whole path. */
static int by_class(const void *a, const void *b)
{
	const char *x = ((const struct place *)a)->path, *y = ((const struct place *)b)->path;
	const char *p = x, *q = y;
	uint32_t c, d;

	do {
		c = name_code(&p);
		d = name_code(&q);
	} while (c == d && c && c != '/');
	c = c == '/' ? 0 : c;
	d = d == '/' ? 0 : d;
	return c != d ? (c < d ? -1 : 1) : name_compare(x, y);
}

static int number_place(struct making *k, const struct place *p)
{
	dl_cleanup(buf_free) struct buf entries = BUF_EMPTY;
	int r = gather(k, p->folder, true, false, &entries);
	const uint32_t *at = (void *)entries.at;

	if (r < 0)
		return r;
	sort(k, &(struct way){ &p->folder, 1, 0, NULL }, &entries);
	for (size_t i = 0; r == 0 && i < entries.len / sizeof(*at); i++)
		r = add(k, at[i]);
	return r;
}

static int number_by_class(struct making *k, const struct way *way)
{
	struct place *places;
	int r = collect_places(k, "", way);

	if (r < 0)
		return r;
	places = (void *)k->places.at;
	qsort(places, k->places.len / sizeof(*places), sizeof(*places), by_class);
	for (size_t i = 0; r == 0 && i < k->places.len / sizeof(*places); i++)
		if (*places[i].path)           /* files directly in the root are of no class */
			r = number_place(k, &places[i]);
	return r;
}

/* --- The others: folder by folder, each where its name belongs --------------------------- */

static int number_folders(struct making *k, const struct way *way);

/* A file, or a folder with those after it that come as one with it: how many, or an error. */
static ssize_t number_next(struct making *k, const struct way *way, const uint32_t *at,
			   size_t count)
{
	dl_cleanup(buf_free) struct buf folders = BUF_EMPTY;
	const char *name = name_of(k->m, &k->m->entries[at[0]]);
	size_t n = 0;
	int r = 0;

	if (folder_of(k, at[0]) == NONE) {
		r = add(k, at[0]);
		return r < 0 ? r : 1;
	}
	for (; r == 0 && n < count; n++) {
		uint32_t folder = folder_of(k, at[n]);

		if (n > 0 && (k->kind != LIST_NATURAL || folder == NONE ||
			      natural_compare(name, name_of(k->m, &k->m->entries[at[n]]))))
			break;
		if (leads_on(k, way, at[n], folder))
			r = buf_append(&folders, &folder, sizeof(folder));
	}
	if (r == 0 && folders.len > 0)
		r = number_folders(k, &(struct way){
			(void *)folders.at, folders.len / sizeof(uint32_t),
			way->len + 1 + strlen(name), way,
		});
	return r < 0 ? r : (ssize_t)n;
}

static int number_folders(struct making *k, const struct way *way)
{
	dl_cleanup(buf_free) struct buf entries = BUF_EMPTY;
	bool walk = k->kind == LIST_WALK;
	const uint32_t *at;
	size_t count;
	ssize_t n;
	int r = 0;

	for (size_t i = 0; r == 0 && i < way->count; i++) {
		r = visit(k);
		if (r == 0)
			r = gather(k, way->folders[i], true, !walk, &entries);
		if (r == 0 && walk)
			r = gather(k, way->folders[i], false, true, &entries);
	}
	if (r < 0)
		return r;
	if (!walk)
		sort(k, way, &entries);
	at = (void *)entries.at;
	count = entries.len / sizeof(*at);
	for (size_t i = 0; i < count; i += (size_t)n) {
		n = number_next(k, way, &at[i], count - i);
		if (n < 0)
			return (int)n;
	}
	return 0;
}

/* --- The files of one kind among all ------------------------------------------------------ */

static const char *extension_of(const struct making *k, uint32_t id)
{
	const char *name = name_of(k->m, &k->m->entries[id]), *dot = strrchr(name, '.');

	return dot && dot > name ? dot : "";
}

static const char *commonest(const struct making *k)
{
	struct { const char *text; uint32_t files; } seen[EXTENSIONS] = { 0 };
	const uint32_t *ids = (void *)k->ids.at;
	size_t best = 0;

	for (size_t i = 0; i < k->ids.len / sizeof(*ids); i++) {
		const char *text = extension_of(k, ids[i]);
		size_t e = 0;

		while (e < EXTENSIONS && seen[e].text && strcmp(seen[e].text, text) != 0)
			e++;
		if (e == EXTENSIONS)
			continue;
		seen[e].text = text;
		if (++seen[e].files > seen[best].files)
			best = e;
	}
	return seen[best].text;
}

static void keep_commonest(struct making *k)
{
	const char *text = commonest(k);
	uint32_t *ids = (void *)k->ids.at;
	size_t kept = 0;

	for (size_t i = 0; i < k->ids.len / sizeof(*ids); i++)
		if (strcmp(extension_of(k, ids[i]), text) == 0)
			ids[kept++] = ids[i];
	k->ids.len = kept * sizeof(*ids);
}

int number_samples(struct manifest *m, enum list_kind kind, node_id root, struct buf *ret)
{
	uint32_t folder = (uint32_t)root - 1;
	struct way way = { &folder, 1, 0, NULL };
	dl_cleanup(making_free) struct making k = {
		.m = m, .kind = kind,
		.visits_left = (uint32_t)DL_MIN((uint64_t)m->head->folders + REPEATED_MAX,
						(uint64_t)UINT32_MAX),
	};
	int r = kind == LIST_IMAGE_FOLDER ? number_by_class(&k, &way) : number_folders(&k, &way);

	if (r < 0)
		return r;
	if (k.ids.len == 0)
		return -ENOENT;
	if (kind == LIST_COMMON)
		keep_commonest(&k);
	*ret = buf_take(&k.ids);
	return 0;
}
