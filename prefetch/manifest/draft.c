/* Reading one folder of the source, and comparing it with what is known. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "prefetch/manifest/internal.h"

#define TRIES 3

static int64_t ns_of(struct statx_timestamp t)
{
	return t.tv_sec * (int64_t)CLOCK_S + t.tv_nsec;
}

static uint64_t device_of(const struct statx *s)
{
	return makedev(s->stx_dev_major, s->stx_dev_minor);
}

static struct stamp stamp_of(const struct statx *s)
{
	return (struct stamp){
		.ino = s->stx_ino, .dev = device_of(s),
		.mtime_ns = ns_of(s->stx_mtime), .ctime_ns = ns_of(s->stx_ctime),
		.mode = s->stx_mode, .uid = s->stx_uid, .gid = s->stx_gid, .nlink = s->stx_nlink,
	};
}

static int stamp_fd(int fd, struct stamp *ret)
{
	struct statx s;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &s) < 0)
		return -errno;
	*ret = stamp_of(&s);
	return 0;
}

int draft_stamp(const struct manifest *m, uint32_t folder, struct stamp *ret)
{
	dl_cleanup(dl_closep) int fd = -1;

	if (folder == 0)
		return stamp_fd(m->root_fd, ret);
	fd = folder_open(m, folder, O_PATH);
	return fd < 0 ? fd : stamp_fd(fd, ret);
}

static int add_link_text(struct draft *d, int fd, const char *name, uint64_t *ret_size)
{
	ssize_t len;
	int r = buf_reserve(&d->names, 4097);

	if (r < 0)
		return r;
	len = readlinkat(fd, name, (char *)d->names.at + d->names.len, 4096);
	if (len < 0)
		return -errno;
	d->names.len += (size_t)len;
	*ret_size = (uint64_t)len;
	return buf_append(&d->names, "", 1);
}

static struct draft_entry entry_of(const struct statx *s, uint64_t name, size_t len)
{
	return (struct draft_entry){
		.record = {
			.size = s->stx_size, .ino = s->stx_ino, .mode = s->stx_mode,
			.mtime_ns = ns_of(s->stx_mtime), .ctime_ns = ns_of(s->stx_ctime),
			.nlink = (uint16_t)DL_MIN(s->stx_nlink, 65535u),
			.name = name, .name_len = (uint8_t)len,
		},
		.owner = { s->stx_uid, s->stx_gid },
		.dev = device_of(s),
	};
}

static bool is_foreign(const struct statx *s, const struct draft *d)
{
	return !S_ISDIR(s->stx_mode) && device_of(s) != d->stamp.dev;
}

/* 1: the entry is there; 0: it has vanished meanwhile; -errno: nothing can be said of it. */
static int add_entry(struct draft *d, int fd, const char *name)
{
	size_t len = strlen(name), before = d->names.len;
	struct draft_entry e;
	struct statx s;
	int r;

	if (len > 255)
		return 0;
	if (statx(fd, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &s) < 0)
		return errno == ENOENT ? 0 : -errno;
	e = entry_of(&s, before, len);
	e.record.foreign = is_foreign(&s, d);
	r = buf_append(&d->names, name, len + 1);
	if (r == 0 && S_ISLNK(s.stx_mode))
		r = add_link_text(d, fd, name, &e.record.size);
	if (r == 0)
		r = buf_append(&d->entries, &e, sizeof(e));
	if (r == 0)
		return 1;
	d->names.len = before;
	return r == -ENOENT || r == -EINVAL ? 0 : r;
}

/* One bad inode only costs its own entry.  It is looked for again at the next refresh, since a
 * folder that was read long ago, as it seems, is read again. */
static int add_if_possible(struct draft *d, int fd, const char *name)
{
	int r = add_entry(d, fd, name);

	for (int i = 0; i < TRIES && (r == -EINTR || r == -EAGAIN); i++)
		r = add_entry(d, fd, name);
	if (r >= 0 || r == -ENOMEM)
		return DL_MIN(r, 0);
	d->refused |= r == -EACCES;
	d->read_at = 0;
	return 0;
}

static int by_name(const void *a, const void *b, void *names)
{
	const struct draft_entry *x = a, *y = b;

	return strcmp((char *)names + x->record.name, (char *)names + y->record.name);
}

static void dir_closep(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* All but `hidden` (or NULL). */
static int read_entries(struct draft *d, int fd, const char *hidden)
{
	dl_cleanup(dir_closep) DIR *dir = NULL;
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct dirent *e;
	int r;

	if (copy < 0)
		return -errno;
	dir = fdopendir(copy);
	if (!dir) {
		close(copy);
		return -ENOMEM;
	}
	while (errno = 0, (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    (hidden && strcmp(e->d_name, hidden) == 0))
			continue;
		r = add_if_possible(d, fd, e->d_name);
		if (r < 0)
			return r;
	}
	if (errno)
		return -errno;
	if (d->entries.len == 0 && d->refused)
		return -EACCES;        /* the folder may be read, but not searched */
	if (d->entries.len > 0)
		qsort_r(d->entries.at, d->entries.len / sizeof(struct draft_entry),
			sizeof(struct draft_entry), by_name, d->names.at);
	return 0;
}

/* These say what the folder is.  Anything else may be over the next time. */
static bool lasting(int error)
{
	return error == -EACCES || error == -EPERM || error == -ENOENT || error == -ENOTDIR ||
		error == -ELOOP || error == -EXDEV;
}

static int read_once(const struct manifest *m, uint32_t folder, struct draft *ret)
{
	dl_cleanup(draft_free) struct draft d = { .read_at = clock_wall() };
	dl_cleanup(dl_closep) int fd = folder_open(m, folder, O_RDONLY | O_NOATIME);
	int r = fd < 0 ? fd : stamp_fd(fd, &d.stamp);

	if (r == 0)
		r = read_entries(&d, fd, folder == 0 ? m->hidden : NULL);
	if (r < 0 && !lasting(r))
		return r;
	if (r < 0) {
		d.error = r;
		d.entries.len = d.names.len = 0;
		if (draft_stamp(m, folder, &d.stamp) < 0)
			d.stamp = (struct stamp){ 0 };
	}
	*ret = d;
	d = (struct draft){ 0 };
	return 0;
}

int draft_read(const struct manifest *m, uint32_t folder, struct draft *ret)
{
	int r = read_once(m, folder, ret);

	for (int i = 0; i < TRIES && (r == -EINTR || r == -EAGAIN); i++)
		r = read_once(m, folder, ret);
	return r == -EINTR || r == -EAGAIN ? -EIO : r;
}

void draft_free(struct draft *d)
{
	buf_free(&d->names);
	buf_free(&d->entries);
}

bool draft_same_entry(const struct manifest *m, const struct draft *d,
		      const struct draft_entry *x, const struct record *e)
{
	const struct record *n = &x->record;
	const struct owner *o = &m->owners[e->owner];
	const char *name = (const char *)d->names.at + n->name;
	size_t len = draft_name_size(x);

	if (n->name_len != e->name_len || n->mode != e->mode || n->ino != e->ino ||
	    n->foreign != e->foreign)
		return false;
	if (is_folder(e))              /* its own listing says whether it changed */
		return x->dev == m->folders[e->size].dev && memcmp(name, name_of(m, e), len) == 0;
	return n->size == e->size && n->mtime_ns == e->mtime_ns && n->ctime_ns == e->ctime_ns &&
		n->nlink == e->nlink && x->owner.uid == o->uid && x->owner.gid == o->gid &&
		memcmp(name, name_of(m, e), len) == 0;
}

bool draft_same_entries(const struct manifest *m, const struct draft *d, uint32_t listing)
{
	const struct listing *l = &m->listings[listing];
	const struct draft_entry *x = (const void *)d->entries.at;

	if (d->entries.len / sizeof(*x) != l->count)
		return false;
	for (uint32_t i = 0; i < l->count; i++)
		if (!draft_same_entry(m, d, &x[i], &m->entries[entry_in(m, l, i)]))
			return false;
	return true;
}

bool draft_equals(const struct manifest *m, const struct draft *d, uint32_t listing)
{
	const struct listing *l = &m->listings[listing];

	if (d->error != l->error || memcmp(&d->stamp, &l->stamp, sizeof(d->stamp)) != 0)
		return false;
	return draft_same_entries(m, d, listing);
}
