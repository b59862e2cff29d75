#include <criterion/criterion.h>
#include <sys/mman.h>

#include "base/sum.h"
#include "prefetch/manifest/file.h"
#include "tests/lib/dataset.h"

static struct tree state;
static const char *file;

/* Folders in folders, a link, two listings of one folder, a folder that is gone, one with two
 * entries. */
static void set_up(void)
{
	static char path[128];

	tree = tree_new();
	state = tree_new();
	snprintf(path, sizeof(path), "%s/saved", state.root);
	file = path;
	tree_folder(&tree, "a");
	tree_file(&tree, "a/one", 100);
	tree_folder(&tree, "a/a");
	tree_folder(&tree, "a/sub");
	tree_file(&tree, "a/sub/deep", 3);
	tree_folder(&tree, "gone");
	tree_file(&tree, "gone/x", 50);
	tree_link(&tree, "link", "a/one");
	tree_file(&tree, "top", 4000);
	m = open_manifest(&tree);
	cr_assert_eq(manifest_scan(m, 2, NULL), 0);
	tree_drop(&tree, "gone");
	cr_assert_eq(chmod(tree_path(&tree, "a"), 0711), 0);
	cr_assert_eq(manifest_refresh(m, 1, true, NULL, NULL), 2);
}

static void tear_down(void)
{
	dataset_drop();
	tree_drop(&state, "");
}

TestSuite(manifest_save, .init = set_up, .fini = tear_down);

static const char *const names[] = { "", "a", "a/one", "a/sub", "a/sub/deep", "link", "top" };

static void expect_equal(struct manifest *other)
{
	struct manifest_usage u = manifest_usage(m), v = manifest_usage(other);

	cr_expect(u.folders == v.folders && u.name_bytes == v.name_bytes);
	cr_expect_lt(v.record_bytes, u.record_bytes, "listings that were replaced are left out");
	cr_expect(u.files == v.files && u.bytes == v.bytes);
	cr_expect_eq(u.files, 3);
	cr_expect_eq(u.bytes, 4103);
	for (size_t i = 0; i < DL_COUNT(names); i++) {
		struct attr a, b;

		cr_assert_eq(manifest_attr(m, node_at(names[i]), &a), 0);
		cr_assert_eq(manifest_attr(other, node_in(other, names[i]), &b), 0);
		cr_expect_eq(memcmp(&a, &b, sizeof(a)), 0, "%s", names[i]);
	}
}

Test(manifest_save, brings_all_back)
{
	struct manifest *other = open_manifest(&tree);

	cr_assert_eq(manifest_save(m, file), 0);
	cr_assert_eq(manifest_load(other, file), 0);
	cr_expect(manifest_scanned(other));
	expect_equal(other);
	cr_expect_eq(manifest_load(other, file), -ESTALE, "only once");
	expect_equal(other);
	cr_expect_eq(manifest_refresh(other, 2, true, NULL, NULL), 0, "nothing has changed");
	tree_file(&tree, "a/new", 1);
	cr_expect_eq(manifest_refresh(other, 2, false, NULL, NULL), 1);
	cr_expect_neq(node_in(other, "a/new"), 0);
	cr_expect_eq(manifest_usage(other).bytes, 4104);
	manifest_close(other);
}

Test(manifest_save, leaves_only_the_file_in_its_folder)
{
	char command[160];

	cr_assert_eq(manifest_save(m, file), 0);
	cr_assert_eq(manifest_save(m, file), 0);
	snprintf(command, sizeof(command), "test \"$(ls -A %s)\" = saved", state.root);
	cr_expect_eq(system(command), 0);
	cr_expect_eq(manifest_save(m, "/nowhere/at/all"), -ENOENT);
}

Test(manifest_save, needs_a_finished_scan)
{
	_Atomic bool stop = true;
	struct manifest *other = open_manifest(&tree);
	struct attr a;

	cr_expect_eq(manifest_save(other, file), -EAGAIN);
	cr_expect_eq(manifest_lookup(other, NODE_ROOT, "a", &a), 0);
	cr_expect_eq(manifest_scan(other, 2, &stop), -ECANCELED);
	cr_expect_eq(manifest_save(other, file), -EAGAIN);
	cr_expect_eq(access(file, F_OK), -1);
	manifest_close(other);
}

Test(manifest_save, is_only_for_its_source)
{
	struct tree copy = tree_new();
	struct manifest *other = open_manifest(&copy);

	cr_assert_eq(manifest_save(m, file), 0);
	cr_expect_eq(manifest_load(other, file), -ESTALE);
	cr_expect_eq(manifest_load(other, "/nowhere"), -ENOENT);
	cr_expect_eq(manifest_load(other, "/dev/null"), -ESTALE);
	cr_expect_lt(manifest_load(other, "/"), 0);
	manifest_close(other);
	tree_drop(&copy, "");
}

/* --- Damage ------------------------------------------------------------------------------ */

static _Alignas(struct file_head) uint8_t saved[65536];
static size_t saved_len;

static void save(void)
{
	FILE *f;

	cr_assert_eq(manifest_save(m, file), 0);
	f = fopen(file, "r");
	cr_assert(f);
	saved_len = fread(saved, 1, sizeof(saved), f);
	fclose(f);
	cr_assert(saved_len > sizeof(struct file_head) && saved_len < sizeof(saved));
}

static int load_bytes(struct manifest *into, const uint8_t *at, size_t len)
{
	int fd = memfd_create("saved", MFD_CLOEXEC), r;
	char path[64];

	cr_assert(fd >= 0 && write(fd, at, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = manifest_load(into, path);
	close(fd);
	return r;
}

Test(manifest_save, no_changed_byte_passes)
{
	struct manifest *other = open_manifest(&tree);

	save();
	for (size_t i = 0; i < saved_len; i++) {
		saved[i] ^= (uint8_t)(1u << i % 8);
		cr_assert_eq(load_bytes(other, saved, saved_len), -ESTALE, "byte %zu", i);
		saved[i] ^= (uint8_t)(1u << i % 8);
		cr_assert_eq(load_bytes(other, saved, i), -ESTALE, "cut at %zu", i);
	}
	saved[saved_len] = 0;
	cr_expect_eq(load_bytes(other, saved, saved_len + 1), -ESTALE, "a byte too many");
	cr_expect(!manifest_scanned(other) && manifest_usage(other).folders == 1);
	cr_expect_eq(load_bytes(other, saved, saved_len), 0, "nothing stayed of the others");
	expect_equal(other);
	manifest_close(other);
}

struct parts {
	struct file_head *head;
	struct folder *folders;
	struct listing *listings;
	struct record *entries;
	uint32_t *places;
	char *names;
};

static struct parts parts_of(void)
{
	struct parts p = { .head = (struct file_head *)(void *)saved };

	p.folders = (void *)(p.head + 1);
	p.listings = (void *)(p.folders + p.head->folders);
	p.entries = (void *)(p.listings + p.head->listings);
	p.places = (void *)((struct owner *)(void *)(p.entries + p.head->entries) +
			    p.head->owners);
	p.names = (char *)(p.places + p.head->places);
	return p;
}

static uint32_t entry_of(const struct parts *p, const char *name)
{
	uint32_t i = 0;

	while (strcmp(p->names + p->entries[i].name, name) != 0)
		i++;
	return i;
}

/* The newest entry of a name; the folder itself knows only its oldest. */
static uint32_t last_entry_of(const struct parts *p, const char *name)
{
	uint32_t i = p->head->entries - 1;

	while (strcmp(p->names + p->entries[i].name, name) != 0)
		i--;
	return i;
}

/* What only the checks behind the checksum can find.  true: there is one more. */
static bool forge(const struct parts *p, int what)
{
	uint32_t a = entry_of(p, "a"), sub = entry_of(p, "sub"), top = entry_of(p, "top");
	uint32_t new_a = last_entry_of(p, "a"), gone = entry_of(p, "gone");
	uint32_t link = entry_of(p, "link"), in_a = p->folders[p->entries[a].size].listing - 1;
	uint32_t a_in_a = p->places[p->listings[in_a].first];

	switch (what) {
	case 0: p->listings[0].error = 1; return true;
	case 1: p->listings[0].error = -EIO; return true;
	case 2: p->listings[0].count = (uint32_t)p->head->places + 1; return true;
	case 3: p->listings[0].first = UINT32_MAX; return true;
	case 4: p->listings[0].folder = p->head->folders; return true;
	case 5: p->entries[top].folder = (uint32_t)p->entries[a].size; return true;
	case 6: p->entries[top].folder = p->head->folders; return true;
	case 7: p->entries[top].name = p->head->names; return true;
	case 8: p->entries[top].name_len = 2; return true;
	case 9: p->entries[top].name_len = 4; return true;
	case 10: p->entries[top].owner = p->head->owners & 0xffff; return true;
	case 11: p->entries[link].size = 4; return true;
	case 12: p->entries[link].size = UINT64_MAX - 3; return true;
	case 13: p->entries[sub].size = p->head->folders; return true;
	case 14: p->entries[sub].size = p->entries[a].size; return true;
	case 15: p->entries[sub].mode = 0100644; return true;
	case 16: p->folders[p->entries[sub].size].parent = 0; return true;
	case 17: p->folders[p->entries[sub].size].parent = p->head->folders; return true;
	case 18: p->folders[p->entries[sub].size].entry = top; return true;
	case 19: p->folders[p->entries[sub].size].entry = p->head->entries; return true;
	case 20: p->folders[p->entries[sub].size].listing = in_a + 1; return true;
	case 21: p->folders[0].listing = p->head->listings + 1; return true;
	case 22: p->folders[0].entry = a; return true;
	case 23: p->folders[0].parent = 1; return true;
	case 24: p->names[p->entries[top].name] = '/'; return true;
	case 25: memcpy(p->names + p->entries[a].name, ".", 1); return true;
	case 26: p->names[p->entries[top].name] = 'b'; return true;
	case 27: p->names[p->entries[top].name + 1] = 0; return true;
	case 28: p->head->folders = 0; return true;
	case 29: p->head->entries = UINT32_MAX; return true;
	case 30: p->head->names = UINT64_MAX; return true;
	case 31: p->head->owners = UINT32_MAX; return true;
	case 32: p->listings[0].stamp.mode = 0100644; return true;
	case 33: p->entries[new_a].size = p->entries[gone].size; return true;
	case 34: p->entries[new_a].size = p->entries[sub].size; return true;
	case 35: p->entries[new_a].size = p->entries[a_in_a].size; return true;
	case 36: p->places[0] = p->head->entries; return true;
	case 37: p->places[1] = p->places[0]; return true;
	case 38: p->head->places = UINT64_MAX; return true;
	default: return false;
	}
}

Test(manifest_save, no_forged_table_passes)
{
	static uint8_t good[sizeof(saved)];
	struct manifest *other = open_manifest(&tree);
	int what = 0;

	save();
	memcpy(good, saved, saved_len);
	for (struct parts p = parts_of(); forge(&p, what); p = parts_of()) {
		p.head->checksum = sum_of(saved + 16, saved_len - 16, 0);
		cr_expect_eq(load_bytes(other, saved, saved_len), -ESTALE, "forgery %d", what);
		memcpy(saved, good, saved_len);
		what++;
	}
	cr_expect_eq(what, 39);
	cr_expect_eq(load_bytes(other, saved, saved_len), 0);
	expect_equal(other);
	manifest_close(other);
}

/* Sums and what is detached are not believed but made again. */
Test(manifest_save, what_follows_from_the_tables_is_worked_out)
{
	struct manifest *other = open_manifest(&tree);
	struct parts p;

	save();
	p = parts_of();
	for (uint32_t i = 1; i < p.head->folders; i++)
		p.folders[i].detached ^= 1;
	p.head->checksum = sum_of(saved + 16, saved_len - 16, 0);
	cr_expect_eq(load_bytes(other, saved, saved_len), 0);
	expect_equal(other);
	manifest_close(other);
}

static void change_until(uint32_t entries)
{
	while (manifest_entries(m) < entries) {
		tree_file(&tree, "top", 100 + manifest_entries(m));
		cr_assert_eq(manifest_refresh(m, 1, true, NULL, NULL), 1);
	}
}

/* What changes all the time would make it longer and longer. */
Test(manifest_save, what_is_mostly_old_is_read_anew)
{
	struct manifest *other = open_manifest(&tree);
	uint32_t most = 3 * 7 + 4096;  /* of what there is, and more */

	change_until(most);
	cr_assert_eq(manifest_save(m, file), 0);
	cr_expect_eq(manifest_load(other, file), 0, "so much is borne");
	manifest_close(other);
	change_until(most + 1);
	cr_assert_eq(manifest_save(m, file), 0);
	other = open_manifest(&tree);
	cr_expect_eq(manifest_load(other, file), -ESTALE);
	manifest_close(other);
}
