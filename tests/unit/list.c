#include <criterion/criterion.h>
#include <dirent.h>

#include "prefetch/manifest/list.h"
#include "tests/lib/dataset.h"

static void set_up(void)
{
	tree = tree_new();
	m = open_manifest(&tree);
}

TestSuite(list, .init = set_up, .fini = dataset_drop);

/* Files, and folders that end in a slash. */
static void make(const char *const names[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(names[i]);

		if (names[i][len - 1] == '/')
			tree_folder(&tree, names[i]);
		else
			tree_file(&tree, names[i], 1);
	}
}
#define MAKE(...) make((const char *const[]){ __VA_ARGS__ }, \
		       DL_COUNT(((const char *const[]){ __VA_ARGS__ })))

/* The list has just these entries, in this order, and each of its samples has an index. */
static void expect(enum list_kind kind, const char *root, const char *const paths[], size_t count)
{
	struct list *l = NULL;
	uint32_t index = 0;

	cr_assert_eq(list_new(m, kind, node_at(root), &l), 0);
	cr_expect_eq(list_count(l), count, "%u, not %zu", list_count(l), count);
	for (uint32_t i = 0; i < list_count(l) && i < count; i++) {
		dl_cleanup(buf_free) struct buf path = BUF_EMPTY;

		cr_assert_eq(manifest_path(m, node_of_sample(list_at(l, i)), &path), 0);
		cr_expect_str_eq((char *)path.at, paths[i], "%u: %s, not %s", i, (char *)path.at,
				 paths[i]);
		cr_assert(list_index(l, list_at(l, i), &index), "%s has no index", paths[i]);
		cr_expect_eq(list_at(l, index), list_at(l, i));
	}
	list_unref(l);
}
#define EXPECT(kind, root, ...) \
	expect(kind, root, (const char *const[]){ __VA_ARGS__ }, \
	       DL_COUNT(((const char *const[]){ __VA_ARGS__ })))

static void scan(void)
{
	cr_assert_eq(manifest_scan(m, 2, NULL), 0);
}

Test(list, needs_a_scan_a_folder_and_files)
{
	struct list *l;

	MAKE("a/", "a/x.jpg", "b/", "b/x.txt");
	cr_expect_eq(list_new(m, LIST_ALL, NODE_ROOT, &l), -EAGAIN);
	scan();
	cr_expect_eq(list_new(m, LIST_ALL, 0, &l), -ENOENT);
	cr_expect_eq(list_new(m, LIST_ALL, 1000, &l), -ENOENT);
	cr_expect_eq(list_new(m, LIST_ALL, node_at("b/x.txt"), &l), -ENOTDIR);
	cr_expect_eq(list_new(m, LIST_PATHS, node_at("b"), &l), -ENOENT);
	cr_expect_eq(list_new(m, LIST_IMAGE_FOLDER, node_at("a"), &l), -ENOENT, "no class");
	EXPECT(LIST_ALL, "b", "b/x.txt");
}

Test(list, orders_folders_by_their_whole_path_in_an_image_folder)
{
	MAKE("a/", "a/b/", "a/b/1.jpg", "a/b/c/", "a/b/c/3.PNG", "a/b-c/", "a/b-c/2.jpg",
	     "a/z.jpeg", "a-a/", "a-a/0.webp", "top.jpg", "B/", "B/1.tiff", "B/no.gif");
	scan();
	EXPECT(LIST_IMAGE_FOLDER, "", "B/1.tiff", "a/z.jpeg", "a/b/1.jpg", "a/b-c/2.jpg",
	       "a/b/c/3.PNG", "a-a/0.webp");
	EXPECT(LIST_IMAGE_FOLDER, "a", "a/b/1.jpg", "a/b/c/3.PNG", "a/b-c/2.jpg");
	EXPECT(LIST_PATHS, "", "B/1.tiff", "a-a/0.webp", "a/b-c/2.jpg", "a/b/1.jpg", "a/b/c/3.PNG",
	       "a/z.jpeg", "top.jpg");
	EXPECT(LIST_ALL, "B", "B/1.tiff", "B/no.gif");
}

Test(list, orders_numbers_as_numbers_for_timm)
{
	MAKE("a/", "a/10.jpg", "a/9.jpg", "a/09.jpg", "a/009.jpg", "a/x2.jpg", "a/X10.jpg",
	     "a/x1.jpg");
	scan();
	EXPECT(LIST_NATURAL, "", "a/009.jpg", "a/09.jpg", "a/9.jpg", "a/10.jpg", "a/x1.jpg",
	       "a/x2.jpg", "a/X10.jpg");
}

Test(list, equal_natural_keys_are_ordered_by_path_however_many)
{
	struct list *l = NULL;
	char name[128];

	tree_folder(&tree, "a");
	for (unsigned i = 1; i <= 60; i++) {
		snprintf(name, sizeof(name), "a/%0*u.jpg", (int)i, 7u);
		tree_file(&tree, name, 1);
	}
	scan();
	cr_assert_eq(list_new(m, LIST_NATURAL, NODE_ROOT, &l), 0);
	for (uint32_t i = 0; i < 60; i++) {
		const char *at = manifest_name(m, node_of_sample(list_at(l, i)));

		cr_expect_eq(strlen(at), 60 - i + 4, "%u: %s", i, at);
	}
	list_unref(l);
}

/* Each name with the extension takes up an index, whatever it is, except a folder. */
Test(list, numbers_what_no_program_can_read)
{
	MAKE("a/", "a/1.jpg", "a/5.jpg", "a/7.jpg/", "a/7.jpg/x.jpg", "b/", "b/1.jpg");
	tree_link(&tree, "a/2.jpg", "broken");
	tree_link(&tree, "a/3.jpg", "../../outside.jpg");
	tree_link(&tree, "a/4.jpg", "/etc/hostname");
	tree_link(&tree, "a/6.jpg", "6.jpg");
	tree_link(&tree, "a/8.jpg", "../b");
	cr_assert_eq(mkfifo(tree_path(&tree, "a/9.jpg"), 0600), 0);
	scan();
	EXPECT(LIST_IMAGE_FOLDER, "", "a/1.jpg", "a/2.jpg", "a/3.jpg", "a/4.jpg", "a/5.jpg",
	       "a/6.jpg", "a/9.jpg", "a/7.jpg/x.jpg", "b/1.jpg", "b/1.jpg");
	EXPECT(LIST_ALL, "", "a/1.jpg", "a/5.jpg", "a/7.jpg/x.jpg", "b/1.jpg");
}

Test(list, follows_links_through_links)
{
	MAKE("data/", "data/1.jpg", "data/2.jpg", "data/3.jpg", "set/", "set/c/");
	tree_link(&tree, "set/c/a.jpg", "../../other/2.jpg");
	tree_link(&tree, "other", "data/.");
	tree_link(&tree, "set/d", "../other");
	tree_link(&tree, "set/c/b.jpg", "a.jpg");
	scan();
	EXPECT(LIST_IMAGE_FOLDER, "set", "data/2.jpg", "data/2.jpg", "data/1.jpg", "data/2.jpg",
	       "data/3.jpg");
}

/* The run 1 … 9 is longer than the one in it, and begins earlier. */
Test(list, has_an_index_for_what_lies_around_a_linked_file)
{
	MAKE("b/", "b/1.jpg", "b/2.jpg", "b/3.jpg", "b/4.jpg", "b/5.jpg", "b/6.jpg", "a/");
	tree_link(&tree, "a/x.jpg", "../b/3.jpg");
	scan();
	EXPECT(LIST_IMAGE_FOLDER, "", "b/3.jpg", "b/1.jpg", "b/2.jpg", "b/3.jpg", "b/4.jpg",
	       "b/5.jpg", "b/6.jpg");
}

Test(list, ends_on_circles_of_links)
{
	MAKE("a/", "a/1.jpg", "b/", "b/2.jpg");
	tree_link(&tree, "a/b", "../b");
	tree_link(&tree, "b/a", "../a");
	tree_link(&tree, "a/up", "..");
	scan();
	EXPECT(LIST_IMAGE_FOLDER, "", "a/1.jpg", "b/2.jpg", "b/2.jpg", "a/1.jpg");
}

/* Each of 12 folders links to each: 12! ways. */
Test(list, gives_up_where_links_multiply_the_tree)
{
	char name[32], text[32];
	struct list *l = NULL;

	for (int i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "%d", i);
		tree_folder(&tree, name);
		for (int k = 0; k < 12; k++) {
			snprintf(name, sizeof(name), "%d/%d", i, k);
			snprintf(text, sizeof(text), "../%d", k);
			tree_link(&tree, name, text);
		}
	}
	tree_file(&tree, "0/x.jpg", 1);
	scan();
	cr_expect_eq(list_new(m, LIST_IMAGE_FOLDER, NODE_ROOT, &l), -ELOOP);
	EXPECT(LIST_ALL, "", "0/x.jpg");
}

Test(list, finds_where_an_image_folder_may_be)
{
	node_id at[4];

	MAKE("info/", "sets/", "sets/val/", "sets/val/x/", "sets/val/x/1.jpg", "sets/train/",
	     "sets/train/x/", "sets/train/x/1.jpg");
	scan();
	cr_assert_eq(list_roots(m, at, 4), 2);
	cr_expect_eq(at[0], node_at("sets/train"));
	cr_expect_eq(at[1], node_at("sets/val"));
	cr_expect_eq(list_roots(m, at, 1), 1);
}

/* --- Against a plain ImageFolder on the real tree ----------------------------------------- */

#define MOST 4096

struct above { ino_t ino; const struct above *above; };

static char *folders[MOST], *files[MOST];
static size_t folder_count, file_count;

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool folder_at(const char *path, ino_t *ret)
{
	struct stat st;

	if (stat(tree_path(&tree, path), &st) < 0 || !S_ISDIR(st.st_mode))
		return false;
	*ret = st.st_ino;
	return true;
}

static char *join(const char *folder, const char *name)
{
	char *path = NULL;

	cr_assert_geq(asprintf(&path, "%s%s%s", folder, *folder ? "/" : "", name), 0);
	return path;
}

/* os.walk(followlinks=True), but once round a circle. */
static void walk(char *folder, const struct above *above)
{
	DIR *dir = opendir(tree_path(&tree, folder));
	struct dirent *e;

	cr_assert(dir && folder_count < MOST);
	folders[folder_count++] = folder;
	while ((e = readdir(dir))) {
		struct above here = { 0, above };
		const struct above *a = above;
		char *path = join(folder, e->d_name);

		if (e->d_name[0] != '.' && folder_at(path, &here.ino)) {
			while (a && a->ino != here.ino)
				a = a->above;
			if (!a) {
				walk(path, &here);
				continue;
			}
		}
		free(path);
	}
	closedir(dir);
}

static void add_files_of(const char *folder)
{
	struct dirent **found;
	int n = scandir(tree_path(&tree, folder), &found, NULL, NULL);
	size_t first = file_count;
	ino_t ino;

	cr_assert_geq(n, 0);
	for (int i = 0; i < n; i++) {
		char *path = join(folder, found[i]->d_name);
		const char *dot = strrchr(found[i]->d_name, '.');

		cr_assert_lt(file_count, MOST);
		if (dot && strcmp(dot, ".jpg") == 0 && !folder_at(path, &ino))
			files[file_count++] = path;
		else
			free(path);
		free(found[i]);
	}
	free(found);
	qsort(files + first, file_count - first, sizeof(*files), by_text);
}

/* torchvision's make_dataset(), from the classes on. */
static void number_files(void)
{
	struct dirent **found;
	int n = scandir(tree.root, &found, NULL, alphasort);
	struct stat root;

	file_count = 0;
	cr_assert(n >= 0 && stat(tree.root, &root) == 0);
	for (int i = 0; i < n; i++) {
		struct above way[2] = { { root.st_ino, NULL }, { 0, way } };
		char *class = strdup(found[i]->d_name);

		folder_count = 0;
		if (class[0] != '.' && folder_at(class, &way[1].ino) &&
		    way[1].ino != root.st_ino)
			walk(class, &way[1]);
		else
			free(class);
		qsort(folders, folder_count, sizeof(*folders), by_text);
		for (size_t k = 0; k < folder_count; k++) {
			add_files_of(folders[k]);
			free(folders[k]);
		}
		free(found[i]);
	}
	free(found);
}

/* The sample that a program reads there: the target's, or the link's own if it has none. */
static sample_id sample_at(const char *path)
{
	size_t len = strlen(tree.root);
	char real[PATH_MAX], at[2 * PATH_MAX];
	dl_cleanup(dl_freep) char *folder = NULL;
	struct stat st;

	if (stat(tree_path(&tree, path), &st) == 0 && S_ISREG(st.st_mode) &&
	    realpath(tree_path(&tree, path), real) && strncmp(real, tree.root, len) == 0)
		return node_sample(node_at(real + len + 1));
	folder = strndup(path, (size_t)(strrchr(path, '/') - path));
	cr_assert(realpath(tree_path(&tree, folder), real));
	snprintf(at, sizeof(at), "%s/%s", real + len, strrchr(path, '/') + 1);
	return node_sample(node_at(at));
}

static void compare(unsigned seed)
{
	struct list *l = NULL;
	uint32_t index;
	int r = list_new(m, LIST_IMAGE_FOLDER, NODE_ROOT, &l);

	number_files();
	cr_assert_eq(r, file_count > 0 ? 0 : -ENOENT, "seed %u", seed);
	cr_assert_eq(l ? list_count(l) : 0, file_count, "seed %u", seed);
	for (uint32_t i = 0; i < file_count; i++) {
		cr_expect_eq(list_at(l, i), sample_at(files[i]), "seed %u: %u is %s", seed, i,
			     files[i]);
		cr_assert(list_index(l, list_at(l, i), &index));
		cr_expect_eq(list_at(l, index), list_at(l, i), "seed %u: %u", seed, i);
		free(files[i]);
	}
	list_unref(l);
}

static const char *const parts[] = { "a", "b", "a-b", "B", "a.jpg", "1.jpg", "10.jpg", "x.txt",
				     "c c.jpg", "~.jpg", "\xc3\xa4.jpg" };

/* A name below one of the folders made so far. */
static void make_one(char folder[][64], size_t *folder_total)
{
	const char *in = folder[(size_t)rand() % *folder_total];
	char path[64], text[64];
	int kind = rand() % 16;
	struct stat st;

	if (snprintf(path, sizeof(path), "%s%s%s", in, *in ? "/" : "",
		     parts[(size_t)rand() % DL_COUNT(parts)]) >= 50 ||
	    lstat(tree_path(&tree, path), &st) == 0)
		return;
	snprintf(text, sizeof(text), "%s%s", *in && rand() % 2 ? "../" : "",
		 parts[(size_t)rand() % DL_COUNT(parts)]);
	if (kind < 5 && *folder_total < 16) {
		tree_folder(&tree, path);
		strcpy(folder[(*folder_total)++], path);
	} else if (kind < 12) {
		tree_file(&tree, path, 1);
	} else {
		tree_link(&tree, path, text);
	}
}

/* Links that lead out of the tree may find anything in /tmp, so none does. */
Test(list, numbers_random_trees_as_an_image_folder_does, .timeout = 100)
{
	for (unsigned seed = 1; seed <= 60; seed++) {
		char folder[16][64] = { "" };
		size_t folder_total = 1;

		srand(seed);
		for (int i = 0; i < 60; i++)
			make_one(folder, &folder_total);
		scan();
		compare(seed);
		dataset_drop();
		set_up();
	}
}

/* --- Over a dataset that has changed ------------------------------------------------------- */

static void replace_file(const char *name)
{
	tree_file(&tree, "new", 2);
	tree_move(&tree, "new", name);
}

Test(list, is_renewed_with_the_same_files_at_the_same_indices)
{
	static const char *const paths[] = {
		"a/1.jpg", "a/2.jpg", "a/3.jpg", "b/1.jpg", "b/2.jpg", "c/1.jpg", "c/d/1.jpg",
	};
	struct list *before, *now, *after;
	uint32_t index;

	MAKE("a/", "a/1.jpg", "a/2.jpg", "a/3.jpg", "b/", "b/1.jpg", "b/2.jpg", "c/", "c/1.jpg",
	     "c/d/", "c/d/1.jpg");
	scan();
	cr_assert_eq(list_new(m, LIST_IMAGE_FOLDER, NODE_ROOT, &before), 0);
	cr_assert_eq(list_renew(before, m, &now), 0);
	cr_assert(list_same(before, now));
	cr_assert_null(list_lost(now));
	list_unref(now);

	replace_file("a/2.jpg");
	tree_drop(&tree, "a/3.jpg");
	tree_drop(&tree, "b/1.jpg");
	tree_move(&tree, "c", "was-c");        /* and another folder of its name */
	MAKE("a/0.jpg", "b/1.jpg/", "c/", "c/1.jpg", "c/d/", "c/d/1.jpg");
	cr_assert_geq(manifest_refresh(m, 1, true, NULL, NULL), 1);
	cr_assert_eq(list_renew(before, m, &now), 0);
	cr_assert(list_kind(now) == LIST_IMAGE_FOLDER && list_root(now) == NODE_ROOT);
	cr_assert_eq(list_count(now), DL_COUNT(paths));
	for (uint32_t i = 0; i < list_count(now); i++) {
		sample_id id = list_at(now, i);
		bool gone = strcmp(paths[i], "a/3.jpg") == 0 || strcmp(paths[i], "b/1.jpg") == 0;

		cr_expect(list_index(now, id, &index) && index == i);
		cr_expect_eq(list_lost_at(now, i), gone, "%s", paths[i]);
		if (gone)
			cr_expect_eq(id, list_at(before, i), "%s is gone", paths[i]);
		else
			cr_expect_eq(node_of_sample(id), node_at(paths[i]), "%s", paths[i]);
	}
	cr_assert_eq(list_new(m, LIST_IMAGE_FOLDER, NODE_ROOT, &after), 0);
	cr_assert(!list_same(now, after));
	list_unref(after);
	list_unref(now);
	list_unref(before);
}
