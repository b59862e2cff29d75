/* A manifest on disk: a head, the tables as they lie in memory, the names; one checksum. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <xxhash.h>

#include "prefetch/manifest/internal.h"

#define MAGIC UINT64_C(0x31303073666c6401)
#define PARTS 6

struct file_head {
	uint64_t magic, checksum;      /* of everything after these two, and of all parts */
	uint64_t root_ino, root_dev, source_hash, names, files, bytes;
	uint32_t folders, listings, entries, owners;
};

static struct file_head head_of(const struct manifest *m)
{
	const struct head *h = m->head;

	return (struct file_head){
		.magic = MAGIC, .root_ino = h->root.ino, .root_dev = h->root.dev,
		.source_hash = XXH3_64bits(m->source, strlen(m->source)),
		.names = h->names, .files = h->files, .bytes = h->bytes, .folders = h->folders,
		.listings = h->listings, .entries = h->entries, .owners = h->owners,
	};
}

/* The head without its checksum, then the tables. */
static void parts_of(const struct manifest *m, struct file_head *h, struct iovec part[PARTS])
{
	const size_t skip = offsetof(struct file_head, root_ino);

	part[0] = (struct iovec){ (char *)h + skip, sizeof(*h) - skip };
	part[1] = (struct iovec){ m->folders, h->folders * sizeof(struct folder) };
	part[2] = (struct iovec){ m->listings, h->listings * sizeof(struct listing) };
	part[3] = (struct iovec){ m->entries, h->entries * sizeof(struct record) };
	part[4] = (struct iovec){ m->owners, h->owners * sizeof(struct owner) };
	part[5] = (struct iovec){ m->names, h->names };
}

static uint64_t checksum(const struct iovec part[PARTS])
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PARTS; i++)
		sum = XXH3_64bits_withSeed(part[i].iov_base, part[i].iov_len, sum);
	return sum;
}

static int write_all(int fd, const void *at, size_t len)
{
	const char *from = at;

	while (len > 0) {
		ssize_t n = write(fd, from, DL_MIN(len, (size_t)GiB));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		from += n;
		len -= (size_t)n;
	}
	return 0;
}

static int read_all(int fd, void *at, size_t len)
{
	char *to = at;

	while (len > 0) {
		ssize_t n = read(fd, to, DL_MIN(len, (size_t)GiB));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ESTALE;
		to += n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_file(const struct manifest *m, int fd)
{
	struct file_head h = head_of(m);
	struct iovec part[PARTS];
	int r;

	parts_of(m, &h, part);
	h.checksum = checksum(part);
	r = write_all(fd, &h, offsetof(struct file_head, root_ino));
	for (size_t i = 0; r == 0 && i < PARTS; i++)
		r = write_all(fd, part[i].iov_base, part[i].iov_len);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	return r;
}

/* Not while a scan or a refresh runs: the two fields that change, a folder's newest listing and
 * a listing's read_at, would not be those that the checksum is of. */
int manifest_save(const struct manifest *m, const char *path)
{
	dl_cleanup(buf_free) struct buf temporary = BUF_EMPTY;
	dl_cleanup(dl_closep) int fd = -1;
	int r = buf_printf(&temporary, "%s.new-%d", path, (int)getpid());

	if (r < 0)
		return r;
	fd = open((char *)temporary.at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = write_file(m, fd);
	if (r == 0 && rename((char *)temporary.at, path) < 0)
		r = -errno;
	if (r < 0)
		unlink((char *)temporary.at);
	return r;
}

static bool good_name(const struct manifest *m, const struct file_head *h, const struct record *e)
{
	uint64_t end = e->name + e->name_len;

	if (end >= h->names || e->name_len == 0 || m->names[end] != 0 ||
	    memchr(m->names + e->name, 0, e->name_len) ||
	    memchr(m->names + e->name, '/', e->name_len))
		return false;
	if (!S_ISLNK(e->mode))
		return true;
	return e->size < h->names - end - 1 && m->names[end + 1 + e->size] == 0;
}

static bool good_entries(const struct manifest *m, const struct file_head *h)
{
	for (uint32_t i = 0; i < h->entries; i++) {
		const struct record *e = &m->entries[i];

		if (!good_name(m, h, e) || e->owner >= h->owners || e->folder >= h->folders)
			return false;
		if (is_folder(e) && (e->size >= h->folders || e->size == 0))
			return false;
	}
	return true;
}

/* A parent has a lower number than its child, so no walk upwards can go round. */
static bool good_folders(const struct manifest *m, const struct file_head *h)
{
	for (uint32_t i = 0; i < h->folders; i++) {
		const struct folder *f = &m->folders[i];

		if (f->listing > h->listings)
			return false;
		if (f->listing > 0 && m->listings[f->listing - 1].folder != i)
			return false;
		if (i > 0 && (f->parent >= i || f->entry >= h->entries))
			return false;
	}
	return h->folders > 0 && m->folders[0].entry == NONE && m->folders[0].parent == 0;
}

static bool good_listings(const struct manifest *m, const struct file_head *h)
{
	for (uint32_t i = 0; i < h->listings; i++) {
		const struct listing *l = &m->listings[i];

		if (l->folder >= h->folders || l->first > h->entries ||
		    l->count > h->entries - l->first)
			return false;
		for (uint32_t k = 1; k < l->count; k++)
			if (strcmp(name_of(m, &m->entries[l->first + k - 1]),
				   name_of(m, &m->entries[l->first + k])) >= 0)
				return false;
	}
	return true;
}

static bool fits(const struct manifest *m, const struct file_head *h)
{
	struct file_head mine = head_of(m);

	return h->magic == MAGIC && h->root_ino == mine.root_ino && h->root_dev == mine.root_dev &&
		h->source_hash == mine.source_hash && h->folders <= m->max_folders &&
		h->listings <= m->max_listings && h->entries <= m->max_entries &&
		h->owners <= OWNERS_MAX && h->names <= m->max_names;
}

static int read_parts(struct manifest *m, int fd, struct file_head *h)
{
	struct iovec part[PARTS];
	int r = 0;

	parts_of(m, h, part);
	for (size_t i = 1; r == 0 && i < PARTS; i++)
		r = read_all(fd, part[i].iov_base, part[i].iov_len);
	if (r < 0)
		return r;
	if (checksum(part) != h->checksum || !good_entries(m, h) || !good_listings(m, h) ||
	    !good_folders(m, h))
		return -ESTALE;
	return 0;
}

int manifest_load(struct manifest *m, const char *path)
{
	dl_cleanup(dl_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct file_head h;
	int r;

	if (fd < 0)
		return -errno;
	r = read_all(fd, &h, sizeof(h));
	if (r < 0)
		return r;
	if (m->head->listings > 0 || !fits(m, &h))
		return -ESTALE;
	r = read_parts(m, fd, &h);
	if (r < 0) {
		manifest_reset(m);
		return r;
	}
	m->head->owners = h.owners;
	m->head->names = h.names;
	m->head->files = h.files;
	m->head->bytes = h.bytes;
	m->head->entries = h.entries;
	m->head->listings = h.listings;
	m->head->folders = h.folders;
	m->head->scanned = true;
	return 0;
}
