#include "prefetch/manifest/manifest.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "base/random.h"
#include "prefetch/manifest/internal.h"

#define RESERVE_DEFAULT (UINT64_C(24) * GiB)
#define RESERVE_MIN (UINT64_C(64) * MiB)
#define QUARANTINE (10 * CLOCK_S)

static size_t page_up(size_t n)
{
	return (n + 65535) & ~(size_t)65535;
}

/* Shares of the range: names a half, entries three eighths, the rest for folders and places. */
static void lay_out(struct manifest *m)
{
	size_t fixed = page_up(sizeof(struct head)) + page_up(OWNERS_MAX * sizeof(struct owner));
	size_t rest = m->range_size - fixed;
	char *at = m->range;

	m->head = (struct head *)(void *)at;
	at += page_up(sizeof(struct head));
	m->owners = (struct owner *)(void *)at;
	at += page_up(OWNERS_MAX * sizeof(struct owner));
	m->entries = (struct record *)(void *)at;
	m->max_entries = (uint32_t)DL_MIN(rest / 8 * 3 / sizeof(struct record), (size_t)NONE - 1);
	at += page_up(rest / 8 * 3);
	m->folders = (struct folder *)(void *)at;
	m->max_folders = (uint32_t)DL_MIN(rest / 32 / sizeof(struct folder), (size_t)NONE - 1);
	at += page_up(rest / 32);
	m->listings = (struct listing *)(void *)at;
	m->max_listings = (uint32_t)DL_MIN(rest / 16 / sizeof(struct listing), (size_t)NONE - 1);
	at += page_up(rest / 16);
	m->places = (uint32_t *)(void *)at;
	m->max_places = (uint32_t)DL_MIN(rest / 32 / sizeof(uint32_t), (size_t)NONE - 1);
	at += page_up(rest / 32);
	m->names = at;
	m->max_names = DL_MIN((uint64_t)(m->range_size - (size_t)(at - (char *)m->range)),
			      (UINT64_C(1) << 39) - 1);
}

/* Only the root, unread. */
static void reset(struct manifest *m)
{
	struct head *h = m->head;

	h->listings = h->entries = h->owners = h->places = h->packed = 0;
	h->names = h->files = h->bytes = h->paged = 0;
	h->scanned = h->writing = false;
	m->folders[0] = (struct folder){ .listing = 0, .parent = 0, .entry = NONE };
	h->folders = 1;
}

static int map_range(struct manifest *m, size_t reserve)
{
	void *at;

	m->range_size = DL_MAX(reserve ? reserve : RESERVE_DEFAULT, RESERVE_MIN);
	at = mmap(NULL, m->range_size, PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return -errno;
	m->range = at;
	lay_out(m);
	return 0;
}

static void manifest_closep(struct manifest **m)
{
	manifest_close(*m);
}

int manifest_open(const struct manifest_options *options, struct manifest **ret)
{
	dl_cleanup(manifest_closep) struct manifest *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	dl_lock_init(&m->writer);
	m->root_fd = open(options->source, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (m->root_fd < 0)
		return -errno;
	m->quarantine = QUARANTINE;
	m->hidden = options->hidden;
	m->source = strdup(options->source);
	if (!m->source)
		return -ENOMEM;
	r = map_range(m, options->reserve);
	if (r < 0)
		return r;
	reset(m);
	r = draft_stamp(m, 0, &m->head->root);
	if (r < 0)
		return r;
	*ret = DL_TAKE(m);
	return 0;
}

void manifest_close(struct manifest *m)
{
	if (!m)
		return;
	if (m->range)
		munmap(m->range, m->range_size);
	if (m->root_fd >= 0)
		close(m->root_fd);
	dl_lock_fini(&m->writer);
	buf_free(&m->free_places);
	free(m->source);
	free(m);
}

void manifest_take_over(struct manifest *m)
{
	/* The lock is this process's copy of the parent's. */
	dl_lock_init(&m->writer);
	if (m->head->writing)
		sums_all(m);
	m->head->writing = false;
}

int manifest_root_fd(const struct manifest *m)
{
	return m->root_fd;
}

const char *manifest_source(const struct manifest *m)
{
	return m->source;
}

uint32_t manifest_entries(const struct manifest *m)
{
	return atomic_load_explicit(&m->head->entries, memory_order_acquire);
}

bool manifest_sample(const struct manifest *m, sample_id id, uint64_t *ret_size)
{
	if (id >= manifest_entries(m) || !is_regular(&m->entries[id]))
		return false;
	*ret_size = m->entries[id].size;
	return true;
}

static struct attr attr_of_stamp(node_id node, const struct stamp *s)
{
	return (struct attr){
		.node = node, .size = 4096, .ino = s->ino, .dev = s->dev,
		.mtime_ns = s->mtime_ns, .ctime_ns = s->ctime_ns,
		.mode = s->mode, .uid = s->uid, .gid = s->gid, .nlink = s->nlink,
	};
}

static uint64_t device_of(const struct manifest *m, uint32_t folder)
{
	uint32_t listing = current_listing(m, folder);

	return listing == NONE ? m->head->root.dev : m->listings[listing].stamp.dev;
}

static uint64_t device_of_entry(const struct manifest *m, const struct record *e)
{
	if (e->foreign)
		return ATTR_DEV_UNKNOWN;
	return is_folder(e) ? m->folders[e->size].dev : device_of(m, e->folder);
}

static struct attr attr_of_entry(const struct manifest *m, uint32_t number)
{
	const struct record *e = &m->entries[number];
	const struct owner *o = &m->owners[e->owner];

	return (struct attr){
		.node = is_folder(e) ? e->size + 1 : node_of_sample(number),
		.size = is_folder(e) ? 4096 : e->size,
		.ino = e->ino, .dev = device_of_entry(m, e),
		.mtime_ns = e->mtime_ns, .ctime_ns = e->ctime_ns,
		.mode = e->mode, .uid = o->uid, .gid = o->gid, .nlink = e->nlink,
	};
}

static struct attr attr_of_folder(const struct manifest *m, uint32_t folder)
{
	uint32_t listing = current_listing(m, folder);

	if (listing != NONE && m->listings[listing].stamp.mode != 0)
		return attr_of_stamp(folder + 1, &m->listings[listing].stamp);
	if (m->folders[folder].entry == NONE)
		return attr_of_stamp(folder + 1, &m->head->root);
	return attr_of_entry(m, m->folders[folder].entry);
}

static bool folder_exists(const struct manifest *m, node_id node)
{
	return node_is_folder(node) && node >= NODE_ROOT &&
		node <= atomic_load_explicit(&m->head->folders, memory_order_acquire);
}

uint64_t manifest_inode(const struct manifest *m, const struct attr *a)
{
	if (a->dev == 0 || a->dev == m->head->root.dev)
		return a->ino;
	if (a->dev == ATTR_DEV_UNKNOWN)
		return random_mix(a->ino + random_mix(a->node));
	return random_mix(a->ino + random_mix(a->dev));
}

int manifest_attr(const struct manifest *m, node_id node, struct attr *ret)
{
	if (folder_exists(m, node)) {
		*ret = attr_of_folder(m, (uint32_t)node - 1);
		return 0;
	}
	if (node_is_folder(node) || node - NODE_FILES >= manifest_entries(m))
		return -ESTALE;
	*ret = attr_of_entry(m, node_sample(node));
	return 0;
}

static struct attr attr_of_child(const struct manifest *m, uint32_t entry)
{
	const struct record *e = &m->entries[entry];

	return is_folder(e) ? attr_of_folder(m, (uint32_t)e->size) : attr_of_entry(m, entry);
}

int manifest_lookup(struct manifest *m, node_id folder, const char *name, struct attr *ret)
{
	int64_t listing;
	uint32_t entry;

	if (!folder_exists(m, folder))
		return node_is_folder(folder) ? -ESTALE : -ENOTDIR;
	listing = listing_ensure(m, (uint32_t)folder - 1);
	if (listing < 0)
		return (int)listing;
	if (m->listings[listing].error < 0)
		return m->listings[listing].error;
	entry = listing_find(m, (uint32_t)listing, name, strlen(name));
	if (entry == NONE)
		return -ENOENT;
	*ret = attr_of_child(m, entry);
	return 0;
}

/* The folder to which the way from the root leads now, or NONE. */
static uint32_t folder_now(const struct manifest *m, uint32_t folder)
{
	const struct record *e;
	uint32_t above, listing, entry;

	if (!m->folders[folder].detached)
		return folder;
	above = folder_now(m, m->folders[folder].parent);
	listing = above == NONE ? NONE : current_listing(m, above);
	if (listing == NONE)
		return NONE;
	e = &m->entries[m->folders[folder].entry];
	entry = listing_find(m, listing, name_of(m, e), e->name_len);
	return entry == NONE || !is_folder(&m->entries[entry]) ? NONE :
		(uint32_t)m->entries[entry].size;
}

/* The entry that has its name now, or NONE. */
static uint32_t successor(const struct manifest *m, sample_id id)
{
	const struct record *e = &m->entries[id];
	uint32_t folder = folder_now(m, e->folder);
	uint32_t listing = folder == NONE ? NONE : current_listing(m, folder);

	return listing == NONE ? NONE : listing_find(m, listing, name_of(m, e), e->name_len);
}

bool manifest_is_newest(const struct manifest *m, sample_id id)
{
	return successor(m, id) == id;
}

bool manifest_newest(const struct manifest *m, sample_id id, sample_id *ret)
{
	uint32_t entry = successor(m, id);
	bool found = entry != NONE && !is_folder(&m->entries[entry]);

	*ret = found ? entry : id;
	return found;
}

static void fill_dirent(const struct manifest *m, uint32_t listing, uint32_t place,
			struct manifest_dirent *ret)
{
	const struct listing *l = &m->listings[listing];
	uint32_t entry = entry_in(m, l, place);

	*ret = (struct manifest_dirent){
		.name = name_of(m, &m->entries[entry]),
		.cookie = ((uint64_t)entry + 1) << 32 | (place + 1),
		.old = listing != current_listing(m, l->folder),
		.attr = attr_of_child(m, entry),
	};
}

/* Most listings stay as they are: the entry is where the cookie says.  Else its name says where to
 * go on. */
static int place_after(const struct manifest *m, uint32_t listing, uint64_t cookie,
		       uint32_t *ret)
{
	const struct listing *l = &m->listings[listing];
	uint64_t entry = (cookie >> 32) - 1;

	if (entry >= manifest_entries(m) || m->entries[entry].folder != l->folder)
		return -EINVAL;
	*ret = (uint32_t)cookie;
	if (*ret == 0 || *ret > l->count || entry_in(m, l, *ret - 1) != entry)
		*ret = listing_after(m, listing, name_of(m, &m->entries[entry]));
	return 0;
}

int manifest_next(struct manifest *m, node_id folder, uint64_t cookie, struct manifest_dirent *ret)
{
	int64_t listing;
	uint32_t place = 0;
	int r = 0;

	if (!folder_exists(m, folder))
		return node_is_folder(folder) ? -ESTALE : -ENOTDIR;
	listing = listing_ensure(m, (uint32_t)folder - 1);
	if (listing < 0)
		return (int)listing;
	if (m->listings[listing].error < 0)
		return m->listings[listing].error;
	if (cookie != 0)
		r = place_after(m, (uint32_t)listing, cookie, &place);
	if (r < 0 || place >= m->listings[listing].count)
		return r;
	fill_dirent(m, (uint32_t)listing, place, ret);
	return 1;
}

int manifest_listing_entry(const struct manifest *m, uint32_t listing, uint32_t place,
			   struct manifest_dirent *ret)
{
	if (listing >= m->head->listings || place >= m->listings[listing].count)
		return -ENOENT;
	fill_dirent(m, listing, place, ret);
	return 0;
}

node_id manifest_parent(const struct manifest *m, node_id node)
{
	if (node_is_folder(node))
		return (node_id)m->folders[node - 1].parent + 1;
	return (node_id)m->entries[node_sample(node)].folder + 1;
}

const char *manifest_name(const struct manifest *m, node_id node)
{
	uint32_t entry = node_is_folder(node) ? m->folders[node - 1].entry : node_sample(node);

	return entry == NONE ? "" : name_of(m, &m->entries[entry]);
}

int manifest_readlink(const struct manifest *m, node_id node, struct buf *ret)
{
	const struct record *e;

	if (node_is_folder(node) || node - NODE_FILES >= manifest_entries(m))
		return -EINVAL;
	e = &m->entries[node_sample(node)];
	if (!S_ISLNK(e->mode))
		return -EINVAL;
	return buf_append(ret, name_of(m, e) + e->name_len + 1, e->size);
}

struct manifest_usage manifest_usage(const struct manifest *m)
{
	const struct head *h = m->head;

	return (struct manifest_usage){
		.files = h->files, .bytes = h->bytes, .paged = h->paged, .folders = h->folders,
		.record_bytes = h->entries * sizeof(struct record) +
			h->places * sizeof(uint32_t) + h->listings * sizeof(struct listing) +
			h->folders * sizeof(struct folder),
		.name_bytes = h->names,
	};
}

uint64_t manifest_refused(const struct manifest *m, node_id *ret_first)
{
	uint32_t folders = m->head->folders;
	uint64_t count = 0;

	for (uint32_t i = 0; i < folders; i++) {
		const struct listing *l = listing_at(m, current_listing(m, i));

		if (m->folders[i].detached || !l || (l->error != -EACCES && l->error != -EPERM))
			continue;
		if (count++ == 0)
			*ret_first = (node_id)i + 1;
	}
	return count;
}
