/* Orders that cannot be followed: a sentence says why, and the one before stays. */
#include "tests/lib/engine_stage.h"

/* Each of 12 folders links to each: 12! ways. */
static void multiply(const char *at)
{
	char name[64], text[16];

	tree_folder(&tree, at);
	for (int i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "%s/%d", at, i);
		tree_folder(&tree, name);
		for (int k = 0; k < 12; k++) {
			snprintf(name, sizeof(name), "%s/%d/%d", at, i, k);
			snprintf(text, sizeof(text), "../%d", k);
			tree_link(&tree, name, text);
		}
	}
}

static void expect_refusal(const char *spec, int error, const char *words)
{
	char why[160] = "";
	int r = engine_order(engine, spec, "/nowhere", why);

	cr_assert_eq(r, error, "%s: %d \"%s\"", spec, r, why);
	cr_assert_not_null(strstr(why, words), "%s: \"%s\" does not say %s", spec, why, words);
	cr_assert_str_eq(settle().spec, "none");
}

static void expect_list_refusal(const char *file, int error, const char *words)
{
	char spec[128];

	snprintf(spec, sizeof(spec), "list:%s", tree_path(&tree, file));
	expect_refusal(spec, error, words);
}

Test(orders, are_refused_with_a_reason)
{
	begin_tree();
	tree_folder(&tree, "empty");
	tree_file(&tree, "big", 64 * MiB + 1);
	multiply("links");
	begin_engine(MEMORY, 2);
	cr_assert_eq(engine_order(engine, "none", "/nowhere", (char[160]){ "" }), 0);

	expect_refusal("sequential:root=none", -EINVAL, "no such folder");
	expect_refusal("sequential:root=f00", -EINVAL, "no such folder");
	expect_refusal("sequential:root=empty", -EINVAL, "no files in it");
	expect_refusal("sequential:root=links", -ELOOP, "links make it");
	expect_list_refusal("none", -ENOENT, "No such file");
	expect_list_refusal("empty", -EINVAL, "not a file");
	expect_list_refusal("big", -EFBIG, "larger than 64MiB");
	expect_list_refusal("f00", -ELOOP, "links make it");
	end();
}

/* What auto has found so far would be lost, and nothing won. */
Test(orders, epochs_are_refused_where_there_is_none_to_be_told)
{
	static const char *const refused[][2] = {
		{ "none", "no order is followed" }, { "auto", "by itself" }, { "drawn", "readers" },
	};
	char why[160];

	begin(MEMORY, 2);
	for (size_t i = 0; i < DL_COUNT(refused); i++) {
		cr_assert_eq(engine_order(engine, refused[i][0], "/nowhere", why), 0, "%s", why);
		cr_assert_eq(engine_epoch(engine, 3, why), -EINVAL, "%s", refused[i][0]);
		cr_assert_not_null(strstr(why, refused[i][1]), "%s: %s", refused[i][0], why);
	}
	cr_assert_eq(engine_order(engine, "torch:seed=7", "/nowhere", why), 0, "%s", why);
	cr_assert_eq(engine_epoch(engine, 3, why), 0);
	cr_assert_str_empty(why);
	end();
}

static void tell_again(const char *spec)
{
	char why[160];

	cr_assert_geq(manifest_refresh(m, 1, true, NULL, NULL), 1);
	engine_scanned(engine);
	cr_assert_eq(engine_order_again(engine, spec, "/nowhere", why), 0, "%s: %s", spec, why);
	settle();
}

static bool is_asked_for(sample_id id)
{
	for (unsigned i = 0; i < fake_source_count(&source); i++)
		if (fake_source_at(&source, i).id == id)
			return true;
	return false;
}

/* In the midst of an epoch; a list that names what is gone is what was read of it before. */
Test(orders, go_on_without_what_is_gone)
{
	struct engine_report report;
	unsigned in_order[SMALL];
	char spec[128];

	for (unsigned i = 0; i < SMALL; i++)
		in_order[i] = i;
	begin_little(true);
	follow(in_order, SMALL);
	snprintf(spec, sizeof(spec), "list:%s", tree_path(&tree, "order"));
	tree_drop(&tree, "f13");
	tree_drop(&tree, "f14");
	tell_again(spec);
	for (unsigned i = 0; i < SMALL; i++) {
		if (i == 13 || i == 14)
			continue;
		wait_until((fetch_all(), fake_sink_end_all(&sink),
			    engine_where(engine, f + i) == WHERE_PAGE_CACHE));
		engine_opened(engine, f + i, 1);
	}
	report = settle();
	cr_assert_str_eq(report.spec, spec);
	cr_assert_eq(report.position, SMALL - 2);
	cr_assert_eq(report.length, SMALL - 2);
	cr_assert(!is_asked_for(f + 13) && !is_asked_for(f + 14));
	end();
}
