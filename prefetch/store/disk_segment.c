#include "prefetch/store/disk_segment.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sum.h"
#include "prefetch/store/disk_pack.h"

#define MAGIC UINT64_C(0x32303064736c6401)     /* the version is in it */

#define PAGE UINT64_C(4096)

struct head {                          /* on the disk */
	uint64_t magic;
	struct record record;
	uint64_t sum;                  /* of all before, then of the bytes */
	uint64_t head_sum;             /* of all before */
};
_Static_assert(sizeof(struct head) == RECORD_HEAD, "a head has no holes");

bool same_identity(const struct disk_identity *a, const struct disk_identity *b)
{
	return a->size == b->size && a->ino == b->ino && a->dev == b->dev &&
		a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}

static bool same_record(const struct record *a, const struct record *b)
{
	return same_key(&a->key, &b->key) && same_identity(&a->id, &b->id) &&
		a->length == b->length && a->stored == b->stored;
}

static uint64_t sum_all(const struct head *h, const void *bytes)
{
	uint64_t sum = sum_of(h, offsetof(struct head, sum), 0);

	return sum_of(bytes, h->record.stored, sum);
}

/* Nothing unpacks to more than a frame for each few bytes. */
static bool lengths_sound(const struct record *r)
{
	return r->stored <= r->length && r->length / PACK_FRAME <= r->stored / 8 + 1;
}

static bool head_sound(const struct head *h)
{
	return h->magic == MAGIC && h->head_sum == sum_of(h, offsetof(struct head, head_sum), 0) &&
		(h->record.stored == h->record.length || lengths_sound(&h->record));
}

/* --- Files --------------------------------------------------------------------------------- */

struct name { char text[16]; };

static struct name name_of(uint32_t number)
{
	struct name n;

	snprintf(n.text, sizeof(n.text), "%08x.seg", number);
	return n;
}

int segment_create(int folder, uint32_t number)
{
	int fd = openat(folder, name_of(number).text,
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? -errno : fd;
}

int segment_remove(int folder, uint32_t number)
{
	return unlinkat(folder, name_of(number).text, 0) < 0 && errno != ENOENT ? -errno : 0;
}

static int open_to_read(int folder, uint32_t number, int *ret, uint64_t *ret_size)
{
	struct stat st;
	int fd = openat(folder, name_of(number).text,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	*ret = fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	*ret_size = (uint64_t)st.st_size;
	return S_ISREG(st.st_mode) ? 0 : -EBADMSG;
}

int segment_list(int folder, int (*each)(void *context, uint32_t number, uint64_t bytes),
		 void *context)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (r >= 0 && (e = readdir(dir))) {
		uint32_t number = (uint32_t)strtoul(e->d_name, NULL, 16);
		struct stat st;

		if (number != SEGMENT_NONE && strcmp(e->d_name, name_of(number).text) == 0 &&
		    fstatat(folder, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			r = each(context, number, (uint64_t)st.st_size);
	}
	closedir(dir);
	return r;
}

/* --- Records ------------------------------------------------------------------------------- */

static int write_at(int fd, struct iovec part[2], uint64_t offset)
{
	size_t i = 0;

	while (i < 2) {
		ssize_t n = pwritev(fd, part + i, (int)(2 - i), (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		offset += (uint64_t)n;
		while (i < 2 && (size_t)n >= part[i].iov_len)
			n -= (ssize_t)part[i++].iov_len;
		if (i < 2) {
			part[i].iov_base = (char *)part[i].iov_base + n;
			part[i].iov_len -= (size_t)n;
		}
	}
	return 0;
}

int segment_append(int fd, uint64_t offset, const struct record *r, const void *bytes)
{
	struct head h = { .magic = MAGIC, .record = *r };
	struct iovec part[2] = { { &h, sizeof(h) }, { (void *)(uintptr_t)bytes, r->stored } };
	int error;

	h.sum = sum_all(&h, bytes);
	h.head_sum = sum_of(&h, offsetof(struct head, head_sum), 0);
	error = write_at(fd, part, offset);
	/* Half a record takes room; if it cannot be cut off either, the next one covers it. */
	if (error < 0 && ftruncate(fd, (off_t)offset) < 0)
		return error;
	return error;
}

static int read_at(int fd, void *at, size_t len, uint64_t offset)
{
	while (len > 0) {
		ssize_t n = pread(fd, at, DL_MIN(len, (size_t)GiB), (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		at = (char *)at + n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/* In one call, so that the disk is asked once. */
static int read_both(int fd, uint64_t offset, struct head *h, void *bytes, uint64_t length)
{
	struct iovec part[2] = { { h, sizeof(*h) }, { bytes, length } };
	uint64_t had;
	ssize_t n;

	do
		n = preadv(fd, part, 2, (off_t)offset);
	while (n < 0 && errno == EINTR);
	if (n < (ssize_t)sizeof(*h))
		return n < 0 ? -errno : -EBADMSG;
	had = (uint64_t)n - sizeof(*h);
	if (had == length)
		return 0;
	return read_at(fd, (char *)bytes + had, length - had, offset + (uint64_t)n);
}

static bool fits(uint64_t size, uint64_t offset, uint64_t length)
{
	return size >= RECORD_HEAD && offset <= size - RECORD_HEAD &&
		length <= size - RECORD_HEAD - offset;
}

/* It goes into the page cache as a part of its own file, so no second copy stays here; nor is
 * anything read ahead: what comes next here is not what is read next. */
static void leave_no_pages(int fd, uint64_t from, uint64_t len)
{
	uint64_t start = from / PAGE * PAGE, end = (from + len + PAGE - 1) / PAGE * PAGE;

	posix_fadvise(fd, (off_t)start, (off_t)(end - start), POSIX_FADV_DONTNEED);
}

int segment_read(int folder, struct place at, const struct record *want, struct buf *ret)
{
	dl_cleanup(dl_closep) int fd = -1;
	struct head h;
	uint64_t size;
	int r = open_to_read(folder, at.segment, &fd, &size);

	if (r < 0)
		return r;
	if (!fits(size, at.offset, want->stored))
		return -EBADMSG;
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	r = buf_reserve(ret, want->stored);
	if (r == 0)
		r = read_both(fd, at.offset, &h, ret->at, want->stored);
	if (r == 0 && (!head_sound(&h) || !same_record(&h.record, want) ||
		       h.sum != sum_all(&h, ret->at)))
		r = -EBADMSG;
	if (r == 0)
		ret->len = want->stored;
	leave_no_pages(fd, at.offset, record_bytes(want));
	return r;
}

void segment_written(int fd)
{
	sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

void segment_clean(int fd)
{
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

int segment_scan(int folder, uint32_t number, uint64_t from,
		 int (*each)(void *context, const struct record *r, struct place at),
		 void *context)
{
	dl_cleanup(dl_closep) int fd = -1;
	uint64_t size;
	int r = open_to_read(folder, number, &fd, &size);

	while (r >= 0 && fits(size, from, 0) && from <= UINT32_MAX) {
		struct head h;

		r = read_at(fd, &h, sizeof(h), from);
		if (r < 0)
			break;
		if (!head_sound(&h) || !fits(size, from, h.record.stored))
			return 0;
		r = each(context, &h.record, (struct place){ number, (uint32_t)from });
		from += record_bytes(&h.record);
	}
	return r < 0 ? r : 0;
}
