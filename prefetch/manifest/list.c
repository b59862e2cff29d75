#include "prefetch/manifest/list.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "prefetch/manifest/internal.h"
#include "prefetch/manifest/natural.h"

struct run {                           /* index .. index + count - 1 are ids from `id` on */
	uint32_t index, id, count;
};

struct list {
	_Atomic unsigned refs;
	enum list_kind kind;
	node_id root;
	uint32_t count;
	uint32_t run_count;
	struct run *by_index, *by_id;
};

/* While a list is made: folders by their sort key, or all files by theirs. */
struct making {
	struct manifest *m;
	enum list_kind kind;
	struct buf runs;               /* struct run */
	uint32_t count;
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

	if (asprintf(&p.path, "%s%s%s", folder, *folder ? "/" : "", name) < 0)
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

	k->count++;
	if (last && last->id + last->count == id) {
		last->count++;
		return 0;
	}
	return buf_append(&k->runs, &next, sizeof(next));
}

/* What a name stands for: itself, or what its link leads to inside the dataset. */
static uint32_t followed(struct making *k, uint32_t entry)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
	node_id parent = (node_id)k->m->entries[entry].folder + 1, node;
	struct attr attr;

	for (int hops = 0; hops < 16; hops++) {
		path.len = 0;
		if (!S_ISLNK(k->m->entries[entry].mode))
			return entry;
		if (manifest_path(k->m, parent, &path) < 0 || buf_append(&path, "/", 1) < 0 ||
		    manifest_readlink(k->m, node_of_sample(entry), &path) < 0 ||
		    buf_append(&path, "", 1) < 0)
			return NONE;
		if (strstr((char *)path.at, "//"))      /* absolute: leads out of the mount */
			return NONE;
		if (manifest_resolve(k->m, (char *)path.at, &node) < 0 ||
		    manifest_attr(k->m, node, &attr) < 0)
			return NONE;
		entry = node_is_folder(node) ? k->m->folders[node - 1].entry : node_sample(node);
		if (entry == NONE)
			return NONE;
		parent = manifest_parent(k->m, node);
	}
	return NONE;
}

static bool inside(const struct manifest *m, uint32_t folder, uint32_t ancestor)
{
	while (folder != ancestor && folder != 0)
		folder = m->folders[folder].parent;
	return folder == ancestor;
}

/* All folders below one, as os.walk(followlinks=True) meets them.  A link to a folder above
 * itself is not entered: a program that did would never end. */
static int collect_folders(struct making *k, uint32_t folder, const char *path, int depth)
{
	uint32_t listing = current_listing(k->m, folder);
	const struct listing *l;
	int r = buf_append(&k->folders, &(struct place){ strdup(path), folder },
			   sizeof(struct place));

	if (r < 0 || listing == NONE || depth > 128)
		return r;
	l = &k->m->listings[listing];
	for (uint32_t i = l->first; r == 0 && i < l->first + l->count; i++) {
		const struct record *e = &k->m->entries[i];
		dl_cleanup(dl_freep) char *below = NULL;
		uint32_t to = S_ISLNK(e->mode) ? followed(k, i) : i;

		if (to == NONE || !is_folder(&k->m->entries[to]) ||
		    (to != i && inside(k->m, folder, (uint32_t)k->m->entries[to].size)))
			continue;
		if (asprintf(&below, "%s%s%s", path, *path ? "/" : "", name_of(k->m, e)) < 0)
			return -ENOMEM;
		r = collect_folders(k, (uint32_t)k->m->entries[to].size, below, depth + 1);
	}
	return r;
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
		const struct record *e = &k->m->entries[i];
		uint32_t to;

		if (k->kind != LIST_ALL && !is_image(name_of(k->m, e), e->name_len))
			continue;
		to = S_ISLNK(e->mode) && k->kind != LIST_ALL ? followed(k, i) : i;
		if (to != NONE && is_regular(&k->m->entries[to]))
			r = add(k, folder->path, name_of(k->m, e), to);
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
	return natural_compare(((const struct place *)a)->path, ((const struct place *)b)->path);
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
	qsort(files, k->files.len / sizeof(*files), sizeof(*files), by_path);
	if (k->kind == LIST_NATURAL)
		qsort(files, k->files.len / sizeof(*files), sizeof(*files), by_nature);
	for (size_t i = 0; r == 0 && i < k->files.len / sizeof(*files); i++)
		r = add_index(k, files[i].id);
	return r;
}

static int by_id(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
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
	qsort(l->by_id, l->run_count, sizeof(struct run), by_id);
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
	r = collect_folders(&k, (uint32_t)root - 1, "", 0);
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
	uint32_t low = 0, high = l->run_count;

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
