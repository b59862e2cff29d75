#include "base/clock.h"
#include "tests/lib/manifest_stage.h"

TestSuite(manifest, .init = set_up, .fini = dataset_drop);

static const char *const names[] = { "", "a", "a/one", "a/two", "a/sub", "a/sub/deep", "b",
				     "link", "top" };

Test(manifest, tells_what_the_source_is)
{
	cr_assert(!manifest_scanned(m));
	cr_assert_eq(manifest_scan(m, 4, NULL), 0);
	cr_assert(manifest_scanned(m));
	expect_sums(4, 4123);
	for (size_t i = 0; i < DL_COUNT(names); i++) {
		dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
		struct stat st;
		struct attr a;

		cr_assert_eq(lstat(tree_path(&tree, names[i]), &st), 0);
		cr_assert_eq(manifest_attr(m, node_at(names[i]), &a), 0);
		cr_expect(a.ino == st.st_ino && a.mode == st.st_mode && a.uid == st.st_uid &&
			  a.gid == st.st_gid && a.nlink == st.st_nlink, "%s", names[i]);
		cr_expect_eq(a.mtime_ns, st.st_mtim.tv_sec * INT64_C(1000000000) +
			     st.st_mtim.tv_nsec);
		cr_expect_eq(a.size, S_ISDIR(st.st_mode) ? 4096 : (uint64_t)st.st_size);
		cr_assert_eq(manifest_path(m, a.node, &path), 0);
		cr_expect_str_eq((char *)path.at, names[i]);
	}
}

Test(manifest, answers_before_any_scan_and_refuses_what_is_not_there)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	struct attr a;
	node_id node;

	cr_assert_eq(manifest_lookup(m, NODE_ROOT, "top", &a), 0);
	cr_expect_eq(a.size, 4000);
	cr_expect_eq(manifest_lookup(m, NODE_ROOT, "to", &a), -ENOENT);
	cr_expect_eq(manifest_lookup(m, node_at("top"), "x", &a), -ENOTDIR);
	cr_expect_eq(manifest_lookup(m, 1000, "x", &a), -ESTALE);
	cr_expect_eq(manifest_attr(m, 0, &a), -ESTALE);
	cr_expect_eq(manifest_attr(m, NODE_FILES + 1000, &a), -ESTALE);
	cr_expect_eq(manifest_resolve(m, "top/x", &node), -ENOTDIR);
	cr_assert_eq(manifest_readlink(m, node_at("link"), &text), 0);
	cr_expect(text.len == 5 && memcmp(text.at, "a/one", 5) == 0);
	cr_expect_eq(manifest_readlink(m, node_at("top"), &text), -EINVAL);
}

/* The names of a folder in their order, with a blank after each; stops after `most`. */
static uint64_t list_from(node_id folder, uint64_t cookie, int most, char ret[256])
{
	struct manifest_dirent d;
	int r = 0;

	*ret = 0;
	while (most-- > 0 && (r = manifest_next(m, folder, cookie, &d)) == 1) {
		strcat(strcat(ret, d.name), " ");
		cookie = d.cookie;
	}
	cr_assert_geq(r, 0);
	return cookie;
}

Test(manifest, lists_by_name_and_goes_on_after_a_refresh)
{
	struct manifest_dirent d;
	char all[256], rest[256];
	uint64_t cookie = list_from(NODE_ROOT, 0, 2, all);

	cr_expect_str_eq(all, "a b ");
	tree_file(&tree, "c", 1);
	cr_expect_gt(refresh(true), 0);
	list_from(NODE_ROOT, cookie, 99, rest);
	cr_expect_str_eq(rest, "c link top ");
	list_from(NODE_ROOT, 0, 99, all);
	cr_expect_str_eq(all, "a b c link top ");
	list_from(node_at("b"), 0, 99, all);
	cr_expect_str_eq(all, "");
	cr_expect_eq(manifest_next(m, NODE_ROOT, 3, &d), -EINVAL, "a cookie of no listing");
	cr_expect_eq(manifest_next(m, node_at("a"), cookie, &d), -EINVAL, "of another folder");
	cr_expect_eq(manifest_next(m, NODE_ROOT, UINT64_MAX, &d), -EINVAL, "of a later one");
	tree_drop(&tree, "b");
	tree_file(&tree, "bb", 1);
	cr_expect_gt(refresh(true), 0);
	list_from(NODE_ROOT, cookie, 99, rest);
	cr_expect_str_eq(rest, "bb c link top ", "after a name that is gone");
}

static uint32_t places_after(int refreshes)
{
	for (int i = 0; i < refreshes; i++) {
		tree_file(&tree, "a/one", 200 + manifest_entries(m));
		cr_assert_eq(refresh(true), 1);
	}
	return m->head->places;
}

/* A folder that changes all the time would fill the table in the end. */
Test(manifest, places_of_replaced_listings_are_used_again)
{
	uint32_t few, many;
	char all[256];

	cr_assert_eq(manifest_scan(m, 1, NULL), 0);
	m->quarantine = 0;
	few = places_after(2);
	many = places_after(40);
	cr_expect_eq(many, few);
	m->quarantine = 3600 * CLOCK_S;
	cr_expect_gt(places_after(3), many, "somebody may be looking into them");
	list_from(node_at("a"), 0, 99, all);
	cr_expect_str_eq(all, "one sub two ");
	list_from(NODE_ROOT, 0, 99, all);
	cr_expect_str_eq(all, "a b link top ");
}

static uint32_t first_old;

static void on_replaced_once(void *context, struct manifest *of, node_id folder, uint32_t old,
			     uint32_t now)
{
	struct manifest_dirent d;

	(void)context;
	(void)folder;
	(void)now;
	if (first_old == 0)
		first_old = old;
	cr_expect_eq(manifest_listing_entry(of, first_old, 0, &d), 0);
	cr_expect_str_eq(d.name, "one");
}

Test(manifest, a_listing_stays_until_it_is_released)
{
	struct manifest_change change = { on_replaced_once, NULL };
	uint32_t before;

	cr_assert_eq(manifest_scan(m, 1, NULL), 0);
	m->quarantine = 0;
	before = m->head->places;
	for (size_t i = 0; i < 10; i++) {
		tree_file(&tree, "a/one", 200 + i);
		cr_assert_eq(manifest_refresh(m, 1, true, &change, NULL), 1);
	}
	cr_expect_geq(m->head->places, before + 10);
}

struct told { int times; node_id folder; };

static void on_replaced(void *context, struct manifest *of, node_id folder, uint32_t old,
			uint32_t now)
{
	struct told *t = context;

	cr_assert(of == m && old != now);
	t->times++;
	t->folder = folder;
}

Test(manifest, a_changed_file_alone_is_a_new_sample)
{
	struct told told = { 0 };
	struct manifest_change change = { on_replaced, &told };
	node_id folder, one, two, sub;
	uint32_t entries;
	uint64_t size = 0;

	cr_assert_eq(manifest_scan(m, 1, NULL), 0);
	folder = node_at("a"), one = node_at("a/one"), sub = node_at("a/sub");
	two = node_at("a/two"), entries = manifest_entries(m);
	cr_expect_eq(manifest_refresh(m, 2, true, &change, NULL), 0);
	tree_file(&tree, "a/one", 50);
	cr_expect_eq(manifest_refresh(m, 2, true, &change, NULL), 1);
	cr_expect(told.times == 1 && told.folder == folder);
	cr_expect_eq(node_at("a/one"), node_of_sample(entries));
	cr_expect_eq(node_at("a/two"), two, "what is unchanged stays");
	cr_expect_eq(node_at("a"), folder);
	cr_expect_eq(node_at("a/sub"), sub);
	cr_assert(manifest_sample(m, node_sample(one), &size));
	cr_expect_eq(size, 100, "the old one is answered as it was");
	expect_sums(4, 4073);
	cr_expect_eq(manifest_refresh_folder(m, folder, &change), 0);
	tree_file(&tree, "a/two", 0);
	cr_expect_eq(manifest_refresh_folder(m, folder, &change), 1);
	cr_expect_eq(manifest_refresh_folder(m, 77, &change), -ENOENT);
	expect_sums(4, 4053);
}

Test(manifest, a_touched_folder_keeps_its_samples)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1234 } };
	node_id one, sub;
	struct attr a;

	cr_assert_eq(manifest_scan(m, 1, NULL), 0);
	one = node_at("a/one"), sub = node_at("a/sub");
	cr_assert_eq(utimensat(AT_FDCWD, tree_path(&tree, "a"), times, 0), 0);
	cr_expect_eq(refresh(false), 1);
	cr_expect_eq(node_at("a/one"), one);
	cr_expect_eq(node_at("a/sub"), sub);
	cr_assert_eq(manifest_attr(m, node_at("a"), &a), 0);
	cr_expect_eq(a.mtime_ns, 1234 * INT64_C(1000000000));
	expect_sums(4, 4123);
}

Test(manifest, what_vanished_and_came_back_counts_once)
{
	struct tree away = tree_new();
	char there[128];
	node_id gone;
	struct attr a;

	snprintf(there, sizeof(there), "../%s/a", strrchr(away.root, '/') + 1);
	cr_assert_eq(manifest_scan(m, 1, NULL), 0);
	gone = node_at("a/sub");
	for (int i = 0; i < 3; i++) {
		tree_move(&tree, "a", there);
		cr_expect_geq(refresh(false), 1);
		expect_sums(1, 4000);
		tree_move(&tree, there, "a");
		cr_expect_geq(refresh(false), 1);
		expect_sums(4, 4123);
	}
	cr_expect_neq(node_at("a/sub"), gone);
	cr_expect_eq(manifest_attr(m, gone, &a), 0, "who holds the old one may ask");
	tree_drop(&tree, "a/sub");
	cr_expect_geq(refresh(true), 1);
	expect_sums(3, 4120);
	tree_drop(&away, "");
}

Test(manifest, who_takes_over_counts_again_what_was_being_written)
{
	cr_assert_eq(manifest_scan(m, 2, NULL), 0);
	m->head->files = 99;
	m->head->writing = true;
	m->folders[node_at("a/sub") - 1].detached = 1;
	manifest_take_over(m);
	expect_sums(4, 4123);
	cr_expect(!m->head->writing && !m->folders[node_at("a/sub") - 1].detached);
}

/* --- Long ways --------------------------------------------------------------------------- */

#define LONG_DEPTH 30

Test(manifest, paths_may_be_longer_than_the_system_takes)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
	char name[201], command[128];
	int at = open(tree.root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	memset(name, 'd', 200);
	name[200] = 0;
	for (int i = 0; i < LONG_DEPTH; i++) {
		cr_assert_eq(mkdirat(at, name, 0755), 0);
		fd = openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		cr_assert_geq(fd, 0);
		close(at);
		at = fd;
		cr_assert_eq(buf_printf(&path, "%s/", name), 0);
	}
	fd = openat(at, "end", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	cr_assert(fd >= 0 && write(fd, "12345", 5) == 5);
	close(fd);
	close(at);
	cr_expect_eq(manifest_scan(m, 2, NULL), 0);
	expect_sums(5, 4128);
	cr_assert_eq(buf_printf(&path, "end"), 0);
	cr_expect(!node_is_folder(node_at((char *)path.at)));
	snprintf(command, sizeof(command), "rm -r %s/ddd*", tree.root);
	cr_assert_eq(system(command), 0);
}
