#include "prefetch/manifest/list.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "prefetch/manifest/internal.h"
#include "prefetch/manifest/link.h"
#include "prefetch/manifest/natural.h"

/* Links can make a small tree endless.  So many folders may be met more than once. */
#define REPEATED_MAX 65536u

struct run {                           /* index .. index + count - 1 are ids from `id` on */
	uint32_t index, id, count;
};

struct list {
	_Atomic unsigned refs;
	enum list_kind kind;
	node_id root;
	uint32_t count;
	uint32_t run_count, id_count;
	struct run *by_index;
	struct run *by_id;             /* without overlaps: a sample has one index here */
};

/* While a list is made: folders by their sort key, or all files by theirs. */
struct making {
	struct manifest *m;
	enum list_kind kind;
	struct buf runs;               /* struct run */
	uint32_t count;
	uint32_t visits_left;
	struct buf folders;            /* struct place */
	struct buf files;              /* struct place */
};

struct place {
	char *path;                    /* below the list's root; owned */
	sample_id id;                  /* a file, or a folder's number */
};

static const char *const extensions[] = {
	".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp",
};

static bool is_image(const char *name, size_t len)
{
	for (size_t i = 0; i < DL_COUNT(extensions); i++) {
		size_t n = strlen(extensions[i]);

		if (len >= n && strcasecmp(name + len - n, extensions[i]) == 0)
			return true;
	}
	return false;
}

static void places_free(struct buf *places)
{
	struct place *p = (void *)places->at;

	for (size_t i = 0; i < places->len / sizeof(*p); i++)
		free(p[i].path);
	buf_free(places);
}

static void making_free(struct making *k)
{
	buf_free(&k->runs);
	places_free(&k->folders);
	places_free(&k->files);
}

static int add_place(struct buf *to, const char *folder, const char *name, sample_id id)
{
	struct place p = { .id = id };
	int r;

	if (asprintf(&p.path, "%s%s%s", folder, *folder && *name ? "/" : "", name) < 0)
		return -ENOMEM;
	r = buf_append(to, &p, sizeof(p));
	if (r < 0)
		free(p.path);
	return r;
}

static int add_index(struct making *k, sample_id id)
{
	struct run *last = k->runs.len ? (void *)(k->runs.at + k->runs.len - sizeof(*last)) : NULL;
	struct run next = { k->count, id, 1 };

	if (k->count == UINT32_MAX)
		return -EFBIG;
	k->count++;
	if (last && last->id + last->count == id) {
		last->count++;
		return 0;
	}
	return buf_append(&k->runs, &next, sizeof(next));
}

/* What a name stands for: itself, or what its link leads to; 0: nothing that is known. */
static node_id node_of(const struct making *k, uint32_t entry)
{
	const struct record *e = &k->m->entries[entry];

	if (is_folder(e))
		return e->size + 1;
	return S_ISLNK(e->mode) ? link_target(k->m, entry) : node_of_sample(entry);
}

static bool is_sub_folder(const struct making *k, uint32_t entry)
{
	node_id node;

	if (k->kind == LIST_ALL)
		return is_folder(&k->m->entries[entry]);
	node = node_of(k, entry);
	return node && node_is_folder(node);
}

struct visit {
	uint32_t folder;
	const char *path;
	const struct visit *above;
};

static bool on_the_way(const struct visit *v, uint32_t folder)
{
	while (v && v->folder != folder)
		v = v->above;
	return v;
}

static int collect_folders(struct making *k, const struct visit *v);

/* Round a circle of links a program goes on until the path is too long; dlfs goes once. */
static int collect_below(struct making *k, const struct visit *v, uint32_t entry)
{
	const struct record *e = &k->m->entries[entry];
	dl_cleanup(dl_freep) char *path = NULL;
	uint32_t folder = (uint32_t)node_of(k, entry) - 1;

	if (on_the_way(v, folder) || strlen(v->path) + 1 + e->name_len >= PATH_MAX)
		return 0;
	if (asprintf(&path, "%s%s%s", v->path, *v->path ? "/" : "", name_of(k->m, e)) < 0)
		return -ENOMEM;
	return collect_folders(k, &(struct visit){ folder, path, v });
}

/* All folders from one on, as os.walk(followlinks=True) meets them. */
static int collect_folders(struct making *k, const struct visit *v)
{
	uint32_t listing = current_listing(k->m, v->folder);
	const struct listing *l;
	int r = k->visits_left > 0 ? add_place(&k->folders, v->path, "", v->folder) : -ELOOP;

	if (r < 0)
		return r;
	k->visits_left--;
	if (listing == NONE)
		return 0;
	l = &k->m->listings[listing];
	for (uint32_t i = l->first; r == 0 && i < l->first + l->count; i++)
		if (is_sub_folder(k, i))
			r = collect_below(k, v, i);
	return r;
}

/* The entry that the list has for a name, or NONE.  A program takes any name with the extension
 * that is no folder: a broken link takes up a number too, and so keeps its own entry. */
static uint32_t listed(const struct making *k, uint32_t entry)
{
	const struct record *e = &k->m->entries[entry];
	node_id node;

	if (k->kind == LIST_ALL)
		return is_regular(e) ? entry : NONE;
	if (!is_image(name_of(k->m, e), e->name_len))
		return NONE;
	node = node_of(k, entry);
	if (node && node_is_folder(node))
		return NONE;
	return node && is_regular(&k->m->entries[node_sample(node)]) ? node_sample(node) : entry;
}

/* The files of one folder that the list has, in name order: to `add`. */
static int each_file(struct making *k, const struct place *folder,
		     int (*add)(struct making *k, const char *path, const char *name, sample_id id))
{
	uint32_t listing = current_listing(k->m, folder->id);
	const struct listing *l;
	int r = 0;

	if (listing == NONE)
		return 0;
	l = &k->m->listings[listing];
	for (uint32_t i = l->first; r == 0 && i < l->first + l->count; i++) {
		uint32_t id = listed(k, i);

		if (id != NONE)
			r = add(k, folder->path, name_of(k->m, &k->m->entries[i]), id);
	}
	return r;
}

static int add_directly(struct making *k, const char *path, const char *name, sample_id id)
{
	(void)path;
	(void)name;
	return add_index(k, id);
}

static int add_to_sort(struct making *k, const char *path, const char *name, sample_id id)
{
	return add_place(&k->files, path, name, id);
}

/* ImageFolder's order of folders: by class (the first component), then by the whole path. */
static int by_class(const void *a, const void *b)
{
	const char *x = ((const struct place *)a)->path, *y = ((const struct place *)b)->path;
	size_t n = strcspn(x, "/"), m = strcspn(y, "/");
	int order = memcmp(x, y, DL_MIN(n, m));

	if (order == 0 && n != m)
		order = n < m ? -1 : 1;
	return order ? order : strcmp(x, y);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct place *)a)->path, ((const struct place *)b)->path);
}

static int by_nature(const void *a, const void *b)
{
	int order = natural_compare(((const struct place *)a)->path,
				    ((const struct place *)b)->path);

	return order ? order : by_path(a, b);
}

static int number_by_class(struct making *k)
{
	struct place *folders = (void *)k->folders.at;
	size_t count = k->folders.len / sizeof(*folders);
	int r = 0;

	qsort(folders, count, sizeof(*folders), by_class);
	for (size_t i = 0; r == 0 && i < count; i++)
		if (*folders[i].path)          /* files directly in the root are of no class */
			r = each_file(k, &folders[i], add_directly);
	return r;
}

static int number_by_path(struct making *k)
{
	struct place *folders = (void *)k->folders.at, *files;
	int r = 0;

	for (size_t i = 0; r == 0 && i < k->folders.len / sizeof(*folders); i++)
		r = each_file(k, &folders[i], add_to_sort);
	if (r < 0 || k->files.len == 0)
		return r;
	files = (void *)k->files.at;
	qsort(files, k->files.len / sizeof(*files), sizeof(*files),
	      k->kind == LIST_NATURAL ? by_nature : by_path);
	for (size_t i = 0; r == 0 && i < k->files.len / sizeof(*files); i++)
		r = add_index(k, files[i].id);
	return r;
}

static int by_id(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Where runs overlap (a file reached by its name and by a link) the earlier in id order stays
 * whole, and of the others what sticks out. */
static void make_disjoint(struct list *l)
{
	uint64_t end = 0;

	qsort(l->by_id, l->run_count, sizeof(struct run), by_id);
	for (uint32_t i = 0; i < l->run_count; i++) {
		struct run x = l->by_id[i];
		uint32_t known = (uint32_t)(x.id < end ? DL_MIN(end - x.id, (uint64_t)x.count) : 0);

		if (known == x.count)
			continue;
		end = (uint64_t)x.id + x.count;
		l->by_id[l->id_count++] = (struct run){
			x.index + known, x.id + known, x.count - known,
		};
	}
}

static int finish(struct making *k, node_id root, struct list **ret)
{
	struct list *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	*l = (struct list){
		.refs = 1, .kind = k->kind, .root = root, .count = k->count,
		.run_count = (uint32_t)(k->runs.len / sizeof(struct run)),
	};
	l->by_id = malloc(k->runs.len);
	if (!l->by_id) {
		free(l);
		return -ENOMEM;
	}
	l->by_index = (void *)buf_take(&k->runs).at;
	memcpy(l->by_id, l->by_index, l->run_count * sizeof(struct run));
	make_disjoint(l);
	*ret = l;
	return 0;
}

int list_new(struct manifest *m, enum list_kind kind, node_id root, struct list **ret)
{
	dl_cleanup(making_free) struct making k = { .m = m, .kind = kind };
	int r;

	if (!manifest_scanned(m))
		return -EAGAIN;
	if (!node_is_folder(root))
		return -ENOTDIR;
	if (root < NODE_ROOT || root > m->head->folders)
		return -ENOENT;
	k.visits_left = (uint32_t)DL_MIN((uint64_t)m->head->folders + REPEATED_MAX,
					 (uint64_t)UINT32_MAX);
	r = collect_folders(&k, &(struct visit){ (uint32_t)root - 1, "", NULL });
	if (r == 0)
		r = kind == LIST_IMAGE_FOLDER ? number_by_class(&k) : number_by_path(&k);
	if (r < 0)
		return r;
	if (k.count == 0)
		return -ENOENT;
	return finish(&k, root, ret);
}

struct list *list_ref(struct list *l)
{
	atomic_fetch_add(&l->refs, 1);
	return l;
}

void list_unref(struct list *l)
{
	if (!l || atomic_fetch_sub(&l->refs, 1) > 1)
		return;
	free(l->by_index);
	free(l->by_id);
	free(l);
}

uint32_t list_count(const struct list *l)
{
	return l->count;
}

node_id list_root(const struct list *l)
{
	return l->root;
}

enum list_kind list_kind(const struct list *l)
{
	return l->kind;
}

sample_id list_at(const struct list *l, uint32_t index)
{
	uint32_t low = 0, high = l->run_count;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (l->by_index[mid].index <= index)
			low = mid;
		else
			high = mid;
	}
	return l->by_index[low].id + (index - l->by_index[low].index);
}

bool list_index(const struct list *l, sample_id id, uint32_t *ret_index)
{
	uint32_t low = 0, high = l->id_count;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (l->by_id[mid].id <= id)
			low = mid;
		else
			high = mid;
	}
	if (id < l->by_id[low].id || id - l->by_id[low].id >= l->by_id[low].count)
		return false;
	*ret_index = l->by_id[low].index + (id - l->by_id[low].id);
	return true;
}
