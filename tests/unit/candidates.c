/* Which lists a program may go through that has opened these files. */
#include <criterion/criterion.h>

#include "prefetch/manifest/list.h"
#include "prefetch/manifest/name.h"
#include "tests/lib/tree.h"

#define MAX 12

static struct tree tree;
static struct manifest *m;

static void set_up(void)
{
	tree = tree_new();
	cr_assert_eq(manifest_open(&(struct manifest_options){ .source = tree.root }, &m), 0);
}

static void tear_down(void)
{
	manifest_close(m);
	tree_drop(&tree, "");
}

TestSuite(candidates, .init = set_up, .fini = tear_down);

/* Names separated by spaces; folders end in a slash. */
static void make(const char *names)
{
	dl_cleanup(dl_freep) char *copy = strdup(names);
	char *rest = copy, *name;

	while ((name = strsep(&rest, " "))) {
		size_t len = strlen(name);

		if (len > 0 && name[len - 1] == '/')
			tree_folder(&tree, name);
		else if (len > 0)
			tree_file(&tree, name, 1);
	}
	cr_assert_eq(manifest_scan(m, 2, NULL), 0);
}

static node_id node_at(const char *path)
{
	node_id node = 0;

	cr_assert_eq(manifest_resolve(m, path, &node), 0, "%s", path);
	return node;
}

/* The list's samples by their paths, with spaces between. */
static void expect_list(const struct list *l, const char *want, const char *why)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;

	for (uint32_t i = 0; i < list_count(l); i++) {
		uint32_t index;

		if (i > 0)
			cr_assert_eq(buf_append(&text, " ", 1), 0);
		cr_assert_eq(manifest_path(m, node_of_sample(list_at(l, i)), &text), 0);
		cr_assert(list_index(l, list_at(l, i), &index) && index == i, "%s: %u", why, i);
	}
	cr_expect_str_eq((char *)text.at, want, "%s: %s", why, (char *)text.at);
}

static void expect_kind(enum list_kind kind, const char *root, const char *want)
{
	dl_cleanup(list_unrefp) struct list *l = NULL;

	cr_assert_eq(list_new(m, kind, node_at(root), &l), 0);
	expect_list(l, want, root);
}

static void drop(struct list **lists, size_t count)
{
	while (count > 0)
		list_unref(lists[--count]);
}

Test(candidates, each_kind_is_what_python_makes_of_the_tree)
{
	make("b/ b/2.jpg b/10.jpg b/x/ b/x/1.jpg b/a.npy b-c/ b-c/3.jpg B/ B/1.tif 7.jpg z.npy"
	     " y.npy w.npy v.npy u.npy");
	expect_kind(LIST_IMAGE_FOLDER, "",
		    "B/1.tif b/10.jpg b/2.jpg b/x/1.jpg b-c/3.jpg");
	expect_kind(LIST_PATHS, "",
		    "7.jpg B/1.tif b-c/3.jpg b/10.jpg b/2.jpg b/x/1.jpg");
	expect_kind(LIST_NATURAL, "",
		    "7.jpg b-c/3.jpg b/2.jpg b/10.jpg b/x/1.jpg");
	expect_kind(LIST_PARTS, "",
		    "7.jpg B/1.tif b/10.jpg b/2.jpg b/x/1.jpg b-c/3.jpg");
	expect_kind(LIST_COMMON, "", "b/a.npy u.npy v.npy w.npy y.npy z.npy");
	expect_kind(LIST_ALL, "b", "b/10.jpg b/2.jpg b/a.npy b/x/1.jpg");
}

Test(candidates, a_walk_has_the_files_of_a_folder_first)
{
	make("a/ a/1.jpg z.jpg b.jpg c/ c/c/ c/c/1.jpg c/d.jpg");
	expect_kind(LIST_WALK, "", "b.jpg z.jpg a/1.jpg c/d.jpg c/c/1.jpg");
}

/* "img1" and "IMG01" are the same to timm, so what is in them is sorted together. */
Test(candidates, folders_that_timm_takes_for_the_same_are_one)
{
	make("img1/ img1/2.jpg img1/30.jpg IMG01/ IMG01/4.jpg IMG01/x/ IMG01/x/5.jpg img1/X/"
	     " img1/X/6.jpg");
	expect_kind(LIST_NATURAL, "",
		    "img1/2.jpg IMG01/4.jpg img1/30.jpg IMG01/x/5.jpg img1/X/6.jpg");
}

/* Python sorts a byte that is no UTF-8 as U+DC80 and on: before U+E000, whose bytes are less. */
Test(candidates, names_that_are_no_utf8_are_sorted_as_python_does)
{
	make("a/ a/\xff.jpg a/\xee\x80\x80.jpg a/\xc3\xa4.jpg \xff/ \xff/1.jpg \xee\x80\x80/"
	     " \xee\x80\x80/1.jpg");
	expect_kind(LIST_IMAGE_FOLDER, "",
		    "a/\xc3\xa4.jpg a/\xff.jpg a/\xee\x80\x80.jpg \xff/1.jpg \xee\x80\x80/1.jpg");
	expect_kind(LIST_PATHS, "a", "a/\xc3\xa4.jpg a/\xff.jpg a/\xee\x80\x80.jpg");
	expect_kind(LIST_NATURAL, "a", "a/\xc3\xa4.jpg a/\xff.jpg a/\xee\x80\x80.jpg");
	expect_kind(LIST_WALK, "a", "a/\xc3\xa4.jpg a/\xee\x80\x80.jpg a/\xff.jpg");
}

static const struct { const char *name; uint32_t codes[4]; } names[] = {
	{ "a\xc3\xa4", { 'a', 0xe4 } },
	{ "\xf0\x9f\x98\x80", { 0x1f600 } },
	{ "\xff" "a", { 0xdcff, 'a' } },
	{ "\xe2\x82", { 0xdce2, 0xdc82 } },                     /* cut */
	{ "\xc0\xaf", { 0xdcc0, 0xdcaf } },                     /* longer than needed */
	{ "\xed\xa0\x80", { 0xdced, 0xdca0, 0xdc80 } },         /* a surrogate */
	{ "\xf5\x80\x80\x80", { 0xdcf5, 0xdc80, 0xdc80, 0xdc80 } },    /* too large */
};

Test(candidates, codes_are_those_of_surrogateescape)
{
	for (size_t i = 0; i < DL_COUNT(names); i++) {
		const char *at = names[i].name;

		for (unsigned k = 0; k < 4; k++)
			cr_expect_eq(name_code(&at), names[i].codes[k], "name %zu, code %u", i, k);
		cr_expect_eq(*at, 0, "name %zu", i);
	}
}

/* Padded numbers below class folders: every order is the same one. */
Test(candidates, a_clean_folder_has_one_list)
{
	struct list *lists[MAX];
	size_t count;

	make("a/ a/01.jpg a/02.jpg b/ b/03.jpg b/10.jpg");
	count = list_candidates(m, NODE_ROOT, lists, MAX);
	cr_assert_eq(count, 1, "%zu lists", count);
	cr_expect_eq(list_kind(lists[0]), LIST_IMAGE_FOLDER);
	drop(lists, count);
}

Test(candidates, the_folder_of_the_opens_comes_before_those_above)
{
	static const struct { enum list_kind kind; const char *root; } want[] = {
		{ LIST_IMAGE_FOLDER, "train" }, { LIST_NATURAL, "train" }, { LIST_ALL, "train" },
		{ LIST_IMAGE_FOLDER, "" }, { LIST_NATURAL, "" }, { LIST_ALL, "" },
	};
	struct list *lists[MAX];
	size_t count;

	make("train/ train/a/ train/a/9.jpg train/a/10.jpg train/b/ train/b/1.jpg train/b/x.txt"
	     " val/ val/a/ val/a/5.jpg");
	count = list_candidates(m, node_at("train"), lists, MAX);
	cr_assert_eq(count, DL_COUNT(want), "%zu lists", count);
	for (size_t i = 0; i < count; i++) {
		cr_expect_eq(list_kind(lists[i]), want[i].kind, "%zu", i);
		cr_expect_eq(list_root(lists[i]), node_at(want[i].root), "%zu", i);
	}
	drop(lists, count);
	count = list_candidates(m, node_at("train"), lists, 2);
	cr_assert_eq(count, 2);
	drop(lists, count);
}

/* A flat folder of photos, as of COCO: no class, and yet a list. */
Test(candidates, files_need_no_class)
{
	struct list *lists[MAX];
	size_t count;

	make("images/ images/train/ images/train/1.jpg images/train/2.jpg images/val/"
	     " images/val/3.jpg labels/ labels/1.txt");
	count = list_candidates(m, node_at("images/train"), lists, MAX);
	cr_assert_eq(list_kind(lists[0]), LIST_PATHS);
	expect_list(lists[0], "images/train/1.jpg images/train/2.jpg", "the flat folder");
	expect_list(lists[1], "images/train/1.jpg images/train/2.jpg images/val/3.jpg", "above");
	drop(lists, count);
}

Test(candidates, most_opens_say_which_folder)
{
	sample_id opened[8];

	make("x/ x/train/ x/train/a/ x/train/a/1.jpg x/train/b/ x/train/b/1.jpg x/val/"
	     " x/val/1.jpg");
	for (unsigned i = 0; i < 8; i++)
		opened[i] = node_sample(node_at(i % 2 ? "x/train/a/1.jpg" : "x/train/b/1.jpg"));
	cr_expect_eq(list_root_of(m, opened, 0), NODE_ROOT, "nothing is known");
	cr_expect_eq(list_root_of(m, opened, 8), node_at("x/train"));
	opened[0] = opened[1] = node_sample(node_at("x/val/1.jpg"));
	cr_expect_eq(list_root_of(m, opened, 8), node_at("x/train"), "a few are somebody else's");
	opened[2] = opened[3] = opened[0];
	cr_expect_eq(list_root_of(m, opened, 8), node_at("x"));
}

/* Numbers without zeros before them tear the runs of ids apart. */
Test(candidates, an_order_that_is_not_the_listings_costs_eight_bytes_a_file)
{
	dl_cleanup(list_unrefp) struct list *paths = NULL, *natural = NULL, *again = NULL;
	uint32_t index;
	char name[32];

	tree_folder(&tree, "a");
	for (unsigned i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "a/%u.jpg", i * 7919 % 100003);
		tree_file(&tree, name, 1);
	}
	make("a/x.txt");
	cr_assert_eq(list_new(m, LIST_PATHS, NODE_ROOT, &paths), 0);
	cr_assert_eq(list_new(m, LIST_NATURAL, NODE_ROOT, &natural), 0);
	cr_assert_eq(list_new(m, LIST_NATURAL, node_at("a"), &again), 0);
	cr_expect_lt(list_bytes(paths), 200, "%zu", list_bytes(paths));
	cr_expect_leq(list_bytes(natural), 2000 * 8 + 200, "%zu", list_bytes(natural));
	cr_expect(list_same(natural, again));
	cr_expect(!list_same(natural, paths));
	for (uint32_t i = 0; i < 2000; i++)
		cr_assert(list_index(natural, list_at(natural, i), &index) && index == i, "%u", i);
	cr_expect(!list_index(natural, node_sample(node_at("a/x.txt")), &index));
	cr_expect(!list_index(natural, SAMPLE_NONE, &index));
}
