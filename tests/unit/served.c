/* The table of what is served: what is told stays, is saved, and is believed of one version. */
#include "prefetch/source/served.h"
#include "tests/lib/dataset.h"

static struct served *s;
static const struct recoded half = { .size = 500, .ssim = 0.96, .quality = 70 };

static void open_table(double ratio, const char *match)
{
	struct served_options o = {
		.manifest = m, .want = { .quality_ratio = ratio, .png_fast = true },
		.match = match,
	};

	served_close(s);
	cr_assert_eq(served_open(&o, &s), 0);
	served_limit(s, 4000);
}

static void scan(void)
{
	cr_assert_eq(manifest_scan(m, 1, NULL), 0);
}

static void set_up(void)
{
	tree = tree_new();
	tree_folder(&tree, "val");
	tree_file(&tree, "a.jpg", 1000);
	tree_file(&tree, "b.JPEG", 1000);
	tree_file(&tree, "c.png", 1000);
	tree_file(&tree, "large.jpg", 5000);
	tree_file(&tree, "empty.jpg", 0);
	tree_file(&tree, "text.txt", 1000);
	tree_file(&tree, "val/d.jpg", 1000);
	m = open_manifest(&tree);
	scan();
	open_table(0.95, "");
}

static void tear_down(void)
{
	served_close(s);
	s = NULL;
	dataset_drop();
}

TestSuite(served, .init = set_up, .fini = tear_down);

static sample_id id_of(const char *name)
{
	return node_sample(node_at(name));
}

static struct served_file ask(const char *name)
{
	struct served_file f;

	cr_assert_eq(served_ask(s, id_of(name), &f), 0);
	return f;
}

Test(served, all_is_as_it_is_if_nothing_is_asked_for)
{
	struct served_options o = { .manifest = m, .want.quality_ratio = 1, .match = "" };
	struct served *none = s;

	cr_assert_eq(served_open(&o, &none), 0);
	cr_assert_null(none);
	cr_assert_eq(served_size(NULL, m, id_of("a.jpg")), 1000);
	cr_assert(!served_wants(NULL, id_of("a.jpg")));
}

Test(served, an_image_is_one_by_its_name_and_size)
{
	cr_assert(served_wants(s, id_of("a.jpg")));
	cr_assert(served_wants(s, id_of("b.JPEG")));
	cr_assert(served_wants(s, id_of("c.png")));
	cr_assert(!served_wants(s, id_of("large.jpg")));
	cr_assert(!served_wants(s, id_of("empty.jpg")));
	cr_assert(!served_wants(s, id_of("text.txt")));
	cr_assert_eq(ask("text.txt").state, SERVED_AS_IT_IS);
	cr_assert_eq(ask("text.txt").size, 1000);
}

Test(served, a_pattern_chooses)
{
	open_table(0.95, "val/**\n");
	cr_assert(served_wants(s, id_of("val/d.jpg")));
	cr_assert(!served_wants(s, id_of("a.jpg")));
}

Test(served, jpegs_stay_if_only_pngs_are_wanted)
{
	open_table(1, "");
	cr_assert(!served_wants(s, id_of("a.jpg")));
	cr_assert(served_wants(s, id_of("c.png")));
}

Test(served, what_is_told_stays)
{
	sample_id a = id_of("a.jpg");

	cr_assert_eq(ask("a.jpg").state, SERVED_UNKNOWN);
	cr_assert_eq(ask("a.jpg").size, 1000, "not more than that");
	cr_assert_eq(ask("c.png").size, 1200, "a PNG may become larger");
	cr_assert_eq(served_tell(s, a, RECODE_DONE, &half), 0);
	cr_assert_eq(served_tell(s, a, RECODE_DONE, &half), 0);
	cr_assert(ask("a.jpg").state == SERVED_CODED && ask("a.jpg").size == 500);
	cr_assert_float_eq(ask("a.jpg").ssim, 0.96, 1e-6);
	cr_assert_eq(ask("a.jpg").quality, 70);
	cr_assert_eq(served_tell(s, a, RECODE_DONE, &(struct recoded){ .size = 501 }), -ESTALE);
	cr_assert_eq(served_tell(s, a, RECODE_DAMAGED, NULL), -ESTALE);
	cr_assert_eq(ask("a.jpg").size, 500);
	cr_assert_eq(served_tell(s, id_of("c.png"), RECODE_DAMAGED, NULL), 0);
	cr_assert(ask("c.png").state == SERVED_AS_IT_IS && ask("c.png").size == 1000);
	cr_assert_eq(ask("c.png").reason, RECODE_DAMAGED);
}

Test(served, what_was_wrong_is_not_told_anew_before_the_kernel_was)
{
	sample_id a = id_of("a.jpg");

	served_renew(s, a);            /* it is not broken */
	cr_assert_eq(served_tell(s, a, RECODE_DONE, &half), 0);
	served_renew(s, a);
	cr_assert_eq(ask("a.jpg").state, SERVED_CODED);
	served_forget(s, a);
	served_forget(s, a);
	cr_assert_eq(ask("a.jpg").state, SERVED_UNKNOWN);
	cr_assert_eq(served_tell(s, a, RECODE_NO_GAIN, NULL), -ESTALE);
	served_renew(s, a);
	cr_assert_eq(served_tell(s, a, RECODE_NO_GAIN, NULL), 0);
	cr_assert_eq(ask("a.jpg").reason, RECODE_NO_GAIN);
}

Test(served, the_sums_are_of_what_is_known_now)
{
	struct served_report r;

	cr_assert_eq(served_tell(s, id_of("a.jpg"), RECODE_DONE, &half), 0);
	cr_assert_eq(served_tell(s, id_of("b.JPEG"), RECODE_DONE, &half), 0);
	cr_assert_eq(served_tell(s, id_of("c.png"), RECODE_DAMAGED, NULL), 0);
	served_forget(s, id_of("b.JPEG"));
	r = served_report(s);
	cr_assert(r.coded == 1 && r.coded_bytes == 500 && r.source_bytes == 1000);
	cr_assert_eq(r.as_it_is[RECODE_DAMAGED], 1);
}

Test(served, one_in_16_is_timed_and_stands_for_all)
{
	sample_id a = id_of("a.jpg"), b = id_of("b.JPEG");
	struct served_report r = served_report(s);

	cr_assert(served_wants_time(s, a), "the first");
	cr_assert_eq(r.source_decode_ns, 0);
	served_timed(s, &(struct served_time){ 1, 1000, 4000000, 1000000 });
	cr_assert_eq(served_tell(s, a, RECODE_DONE, &half), 0);
	cr_assert(!served_wants_time(s, a), "it is known already");
	cr_assert(!served_wants_time(s, b), "the second");
	cr_assert_eq(served_tell(s, b, RECODE_DONE, &half), 0);
	r = served_report(s);
	cr_assert_eq(r.source_decode_ns, 8000000, "of two files");
	cr_assert_eq(r.decode_ns, 2000000);
}

/* --- Saving -------------------------------------------------------------------------------- */

static const char *file_of(void)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s.served", tree.root);
	return path;
}

static void save_three(void)
{
	cr_assert_eq(served_tell(s, id_of("a.jpg"), RECODE_DONE, &half), 0);
	cr_assert_eq(served_tell(s, id_of("b.JPEG"), RECODE_DONE, &half), 0);
	cr_assert_eq(served_tell(s, id_of("c.png"), RECODE_DAMAGED, NULL), 0);
	cr_assert_eq(served_tell(s, id_of("val/d.jpg"), RECODE_NO_MEMORY, NULL), 0);
	served_timed(s, &(struct served_time){ 1, 1000, 4000000, 1000000 });
	cr_assert_eq(served_save(s, file_of()), 0);
}

static void read_source_again(void)
{
	manifest_close(m);
	m = open_manifest(&tree);
	scan();
}

Test(served, it_is_saved_for_the_same_settings)
{
	save_three();
	open_table(0.95, "");
	cr_assert_eq(served_load(s, file_of()), 0);
	cr_assert(ask("a.jpg").size == 500 && ask("a.jpg").quality == 70);
	cr_assert_eq(ask("c.png").reason, RECODE_DAMAGED);
	cr_assert_eq(ask("val/d.jpg").state, SERVED_UNKNOWN, "there may be memory now");
	cr_assert_eq(served_report(s).coded, 2);
	cr_assert_eq(served_report(s).source_decode_ns, 8000000);
	open_table(0.9, "");
	cr_assert_eq(served_load(s, file_of()), -ESTALE);
	open_table(0.95, "*.jpg\n");
	cr_assert_eq(served_load(s, file_of()), -ESTALE);
	unlink(file_of());
}

Test(served, it_is_believed_of_the_same_version_only)
{
	save_three();
	tree_file(&tree, "a.jpg", 1001);
	read_source_again();
	open_table(0.95, "");
	cr_assert_eq(served_load(s, file_of()), 0);
	cr_assert_eq(ask("a.jpg").state, SERVED_UNKNOWN);
	cr_assert_eq(ask("b.JPEG").state, SERVED_CODED);
	unlink(file_of());
}

Test(served, a_damaged_file_is_not_believed)
{
	dl_cleanup(buf_free) struct buf bytes = BUF_EMPTY;
	FILE *f;

	save_three();
	f = fopen(file_of(), "rb");
	cr_assert(f && buf_reserve(&bytes, 4096) == 0);
	bytes.len = fread(bytes.at, 1, 4096, f);
	fclose(f);
	for (size_t i = 0; i <= bytes.len; i += 3) {
		bool cut = i % 2;

		bytes.at[i] ^= 4;
		f = fopen(file_of(), "wb");
		cr_assert_eq(fwrite(bytes.at, 1, cut ? i : bytes.len, f), cut ? i : bytes.len);
		fclose(f);
		bytes.at[i] ^= 4;
		open_table(0.95, "");
		cr_assert(i == bytes.len || served_load(s, file_of()) == -ESTALE, "%zu", i);
		cr_assert(i == bytes.len || served_report(s).coded == 0);
	}
	unlink(file_of());
}
