/* A segment of foreign bytes: what the scan tells of it can be read or is refused, and never
 * reaches beyond the file.  In every other run the heads get right checksums, so that what is in
 * them is looked at.  The corpus was written by the store; after a change of the format it must be
 * made anew. */
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sum.h"
#include "tests/lib/tree.h"
#include "prefetch/store/disk_pack.h"
#include "prefetch/store/disk_segment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tree tree;
static int folder = -1;
static size_t found, read_well, unpacked;
static size_t file_size;

static void at_end(void)
{
	assert(found > 0 && read_well > 0 && unpacked > 0);
	close(folder);
	tree_drop(&tree, "");
}

static void unpack_it(const struct record *r, const struct buf *bytes)
{
	void *whole = malloc(r->length + 1);
	int error;

	if (!whole)
		return;
	error = unpack((struct bytes){ bytes->at, bytes->len }, whole, r->length);
	assert(error == 0 || error == -EBADMSG);
	unpacked += r->stored < r->length && error == 0;
	free(whole);
}

static int on_record(void *context, const struct record *r, struct place at)
{
	dl_cleanup(buf_free) struct buf bytes = BUF_EMPTY;
	int error = segment_read(folder, at, r, &bytes);

	(void)context;
	assert(at.segment == 1 && at.offset + record_bytes(r) <= file_size);
	assert(error == 0 || error == -EBADMSG);
	assert(error < 0 || bytes.len == r->stored);
	if (error == 0)
		unpack_it(r, &bytes);
	found++;
	read_well += error == 0;
	return 0;
}

/* As long as the lengths lead from one to the next. */
static void seal_heads(uint8_t *at, size_t size)
{
	for (size_t from = 0; from + RECORD_HEAD <= size;) {
		uint64_t sum = sum_of(at + from, RECORD_HEAD - 8, 0), length;

		memcpy(at + from + RECORD_HEAD - 8, &sum, 8);
		memcpy(&length, at + from + RECORD_HEAD - 24, 8);
		if (length > size)
			break;
		from += RECORD_HEAD + length;
	}
}

static void scan(const uint8_t *data, size_t size)
{
	int fd;

	assert(segment_remove(folder, 1) == 0);
	fd = segment_create(folder, 1);
	assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
	file_size = size;
	assert(segment_scan(folder, 1, 0, on_record, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *sealed = malloc(size + 1);

	if (folder < 0) {
		tree = tree_new();
		folder = open(tree.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert(folder >= 0 && atexit(at_end) == 0);
	}
	assert(sealed);
	memcpy(sealed, data, size);
	seal_heads(sealed, size);
	scan(data, size);
	scan(sealed, size);
	free(sealed);
	return 0;
}
