/* A saved manifest with any numbers in it, but of the right source and with the right checksum, is
 * refused, or else can be used in every way.  The corpus was written by manifest_save(). */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sum.h"
#include "prefetch/manifest/file.h"
#include "prefetch/manifest/list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct manifest *fresh;
static size_t accepted;

/* After a change of the format the corpus must be made anew, or nothing would be tested. */
static void at_end(void)
{
	assert(accepted > 0);
	manifest_close(fresh);
}

/* Of a folder that is gone, so that nothing can be read there. */
static struct manifest *open_fresh(void)
{
	char folder[] = "/tmp/dlfs-fuzz-XXXXXX";
	struct manifest_options options = { .source = folder, .reserve = 1 };
	struct manifest *m = NULL;
	const char *made = mkdtemp(folder);
	int r = made ? manifest_open(&options, &m) : -errno;

	assert(r == 0 && rmdir(folder) == 0);
	return m;
}

static int load(const uint8_t *data, size_t size)
{
	struct file_head h, mine = file_head_of(fresh);
	int fd = memfd_create("saved", MFD_CLOEXEC), r;
	char path[64];
	bool headed = size >= sizeof(h);

	assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	if (headed) {
		uint8_t *copy = malloc(size);

		assert(copy);
		memcpy(copy, data, size);
		memcpy(&h, data, sizeof(h));
		h.root_ino = mine.root_ino;
		h.root_dev = mine.root_dev;
		h.source_hash = mine.source_hash;
		memcpy(copy, &h, sizeof(h));
		h.checksum = sum_of(copy + 16, size - 16, 0);
		free(copy);
		assert(pwrite(fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h));
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = manifest_load(fresh, path);
	close(fd);
	return r;
}

static void use_folder(struct manifest *m, node_id folder)
{
	struct manifest_dirent d;
	uint64_t cookie = 0;

	while (manifest_next(m, folder, cookie, &d) == 1) {
		dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
		struct attr a;
		node_id node = 0;
		uint64_t bytes;

		cookie = d.cookie;
		assert(manifest_lookup(m, folder, d.name, &a) == 0 && a.node == d.attr.node);
		assert(manifest_parent(m, a.node) == folder);
		assert(manifest_path(m, a.node, &path) == 0);
		if (!m->folders[folder - 1].detached)
			assert(manifest_resolve(m, (char *)path.at, &node) == 0 && node == a.node);
		path.len = 0;
		assert(manifest_readlink(m, a.node, &path) <= 0);
		if (!node_is_folder(a.node))
			manifest_sample(m, node_sample(a.node), &bytes);
	}
}

static void use_candidates(struct manifest *m, const struct list *l)
{
	struct list *lists[12];
	sample_id opened[8];
	size_t count = DL_MIN(list_count(l), (uint32_t)DL_COUNT(opened));

	for (size_t i = 0; i < count; i++)
		opened[i] = list_at(l, (uint32_t)i);
	count = list_candidates(m, list_root_of(m, opened, count), lists, DL_COUNT(lists));
	assert(count > 0);
	while (count > 0)
		list_unref(lists[--count]);
}

static void use(struct manifest *m)
{
	node_id roots[8];

	for (node_id folder = NODE_ROOT; folder <= manifest_usage(m).folders; folder++)
		use_folder(m, folder);
	list_roots(m, roots, DL_COUNT(roots));
	for (int kind = 0; kind < LIST_KINDS; kind++) {
		dl_cleanup(list_unrefp) struct list *l = NULL;
		uint32_t index;

		if (list_new(m, (enum list_kind)kind, NODE_ROOT, &l) < 0)
			continue;
		for (uint32_t i = 0; i < list_count(l); i++)
			assert(list_index(l, list_at(l, i), &index) &&
			       list_at(l, index) == list_at(l, i));
		use_candidates(m, l);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int r;

	if (!fresh) {
		fresh = open_fresh();
		assert(atexit(at_end) == 0);
	}
	r = load(data, size);
	assert(r == 0 || r == -ESTALE);
	assert(manifest_scanned(fresh) == (r == 0));
	if (r < 0)
		return 0;
	accepted++;
	use(fresh);
	manifest_close(fresh);
	fresh = open_fresh();
	return 0;
}
