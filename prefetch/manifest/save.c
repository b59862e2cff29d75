/* A manifest on disk, see file.h. */
#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "base/sum.h"
#include "prefetch/manifest/file.h"

#define MAGIC UINT64_C(0x35303073666c6401)
#define PARTS 7
#define OLD_LEAST 4096u                /* entries that do no harm */
#define UNSUMMED offsetof(struct file_head, root_ino)

struct file_head file_head_of(const struct manifest *m)
{
	return (struct file_head){
		.magic = MAGIC, .root_ino = m->head->root.ino, .root_dev = m->head->root.dev,
		.source_hash = sum_of(m->source, strlen(m->source), 0),
	};
}

/* What is not as it lies in the manifest. */
struct tables {
	struct folder *folders;
	struct listing *listings;
	uint32_t *places;
};

static void tables_fini(struct tables *t)
{
	free(t->folders);
	free(t->listings);
	free(t->places);
}

static void parts_of(const struct manifest *m, struct file_head *h, const struct tables *t,
		     struct iovec part[PARTS])
{
	part[0] = (struct iovec){ (char *)h + UNSUMMED, sizeof(*h) - UNSUMMED };
	part[1] = (struct iovec){ t->folders, h->folders * sizeof(struct folder) };
	part[2] = (struct iovec){ t->listings, h->listings * sizeof(struct listing) };
	part[3] = (struct iovec){ m->entries, h->entries * sizeof(struct record) };
	part[4] = (struct iovec){ m->owners, h->owners * sizeof(struct owner) };
	part[5] = (struct iovec){ t->places, h->places * sizeof(uint32_t) };
	part[6] = (struct iovec){ m->names, h->names };
}

static int read_all(int fd, void *at, size_t len)
{
	ssize_t n = file_fill(fd, at, len);

	return n < 0 ? (int)n : (size_t)n < len ? -ESTALE : 0;
}

/* Of a folder that is gone there is none. */
static const struct listing *listing_of(const struct manifest *m, uint32_t folder)
{
	return m->folders[folder].detached ? NULL : listing_at(m, current_listing(m, folder));
}

static void copy_listing(const struct manifest *m, uint32_t folder, struct tables *t,
			 struct file_head *h)
{
	const struct listing *l = listing_of(m, folder);

	t->folders[folder].listing = 0;
	if (!l)
		return;
	t->listings[h->listings] = (struct listing){
		.first = (uint32_t)h->places, .count = l->count, .folder = folder,
		.error = l->error, .stamp = l->stamp, .read_at = l->read_at,
	};
	memcpy(t->places + h->places, m->places + l->first, l->count * sizeof(*t->places));
	h->places += l->count;
	t->folders[folder].listing = ++h->listings;
}

static size_t places_in_use(const struct manifest *m)
{
	size_t places = 0;

	for (uint32_t i = 0; i < m->head->folders; i++) {
		const struct listing *l = listing_of(m, i);

		places += l ? l->count : 0;
	}
	return places;
}

/* What lookups and refreshes may add meanwhile lies above these counters; what they change in place
 * is copied, and of listings only the current ones. */
static int take_tables(struct manifest *m, struct file_head *ret, struct tables *t)
{
	uint32_t folders;

	DL_HOLD(&m->writer);
	folders = m->head->folders;
	t->folders = malloc(folders * sizeof(*t->folders));
	t->listings = malloc(folders * sizeof(*t->listings));
	t->places = calloc(places_in_use(m) + 1, sizeof(*t->places));
	if (!t->folders || !t->listings || !t->places)
		return -ENOMEM;
	memcpy(t->folders, m->folders, folders * sizeof(*t->folders));
	*ret = file_head_of(m);
	ret->folders = folders;
	ret->entries = m->head->entries;
	ret->owners = m->head->owners;
	ret->names = m->head->names;
	for (uint32_t i = 0; i < folders; i++)
		copy_listing(m, i, t, ret);
	return 0;
}

int manifest_save(struct manifest *m, const char *path)
{
	dl_cleanup(tables_fini) struct tables t = { NULL };
	struct iovec part[1 + PARTS];
	struct file_head h;
	int r = manifest_scanned(m) ? take_tables(m, &h, &t) : -EAGAIN;

	if (r < 0)
		return r;
	part[0] = (struct iovec){ &h, UNSUMMED };
	parts_of(m, &h, &t, part + 1);
	r = sum_parts(part + 1, PARTS, &h.checksum);
	return r < 0 ? r : file_replace_parts(path, part, 1 + PARTS);
}

/* What is gone, or was replaced, is in no listing.  Once it is most of all, reading the source anew
 * costs less than the changes did; else what is saved would grow with each of them, for ever. */
static bool is_mostly_old(const struct file_head *h)
{
	return h->entries > 3 * h->places + OLD_LEAST;
}

static bool fits(const struct manifest *m, const struct file_head *h)
{
	struct file_head mine = file_head_of(m);

	return h->magic == mine.magic && h->root_ino == mine.root_ino &&
		h->root_dev == mine.root_dev && h->source_hash == mine.source_hash &&
		h->folders <= m->max_folders && h->listings <= m->max_listings &&
		h->entries <= m->max_entries && h->owners <= OWNERS_MAX &&
		h->places <= m->max_places && h->names <= m->max_names &&
		!is_mostly_old(h);
}

/* Into the tables, above the counters: nobody sees it yet. */
static int read_tables(const struct manifest *m, int fd, struct file_head *h,
		       struct folder *folders)
{
	struct tables t = { folders, m->listings, m->places };
	struct iovec part[PARTS];
	uint64_t sum;
	char more;
	int r = 0;

	parts_of(m, h, &t, part);
	for (size_t i = 1; r == 0 && i < PARTS; i++)
		r = read_all(fd, part[i].iov_base, part[i].iov_len);
	if (r == 0)
		r = sum_parts(part, PARTS, &sum);
	if (r < 0)
		return r;
	if (sum != h->checksum || read(fd, &more, 1) != 0)
		return -ESTALE;
	return tables_sound(m, h, folders) ? 0 : -ESTALE;
}

/* The root's listing last, as in publishing: it makes all the others reachable. */
static void adopt(struct manifest *m, const struct file_head *h, const struct folder *folders)
{
	m->head->writing = true;
	memcpy(m->folders + 1, folders + 1, (h->folders - 1) * sizeof(*folders));
	m->head->owners = h->owners;
	m->head->names = h->names;
	m->head->places = m->head->packed = (uint32_t)h->places;
	m->head->entries = h->entries;
	m->head->folders = h->folders;
	m->head->listings = h->listings;
	m->folders[0].listing = folders[0].listing;
	sums_all(m);
	m->head->writing = false;
	m->head->scanned = true;
}

static int load(struct manifest *m, int fd)
{
	dl_cleanup(dl_freep) struct folder *folders = NULL;
	struct file_head h;
	int r = read_all(fd, &h, sizeof(h));

	if (r < 0)
		return r;
	/* A lookup that comes now waits for what is loaded, and then finds it. */
	DL_HOLD(&m->writer);
	if (m->head->listings > 0 || !fits(m, &h))
		return -ESTALE;
	folders = malloc(DL_MAX(h.folders, 1u) * sizeof(*folders));
	if (!folders)
		return -ENOMEM;
	r = read_tables(m, fd, &h, folders);
	if (r == 0)
		adopt(m, &h, folders);
	return r;
}

int manifest_load(struct manifest *m, const char *path)
{
	dl_cleanup(dl_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : load(m, fd);
}
