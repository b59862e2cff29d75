/* The layer of samples that are kept on a disk, between a fake disk and a fake source. */
#include <stdio.h>

#include "prefetch/source/layer.h"
#include "prefetch/source/meter.h"
#include "tests/lib/ask.h"
#include "tests/lib/dataset.h"
#include "tests/lib/fake_disk.h"
#include "tests/lib/fake_source.h"

#define FILES 16u
#define SIZE 5000u
#define DISK_THREADS 4u                /* of the layer */

static struct dl_lock all_but_one;
static struct disk disk;
static struct fake_source below;
static struct source *s;
static struct meter meter;
static sample_id first;
static _Atomic bool current;
static uint64_t settle;

static void open_stack(void)
{
	struct source_options o = {
		.manifest = m, .disk = &disk, .current = &current, .settle = settle,
		.meter = &meter,
	};

	meter_init(&meter, NULL, NULL);
	fake_source_init(&below, 8);
	s = fake_source_under(&below, &source_kept, &o);
}

static void close_stack(void)
{
	source_close(s);
	fake_source_fini(&below);
}

static void set_up(void)
{
	char name[16];

	asks_begin();
	dl_lock_init(&all_but_one);
	current = true;
	tree = tree_new();
	for (unsigned i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "f%02u", i);
		tree_file(&tree, name, SIZE);
	}
	tree_file(&tree, "zero", 0);
	m = open_manifest(&tree);
	first = node_sample(node_at("f00"));
	fake_disk_init(&disk);
	open_stack();
}

static void tear_down(void)
{
	close_stack();
	fake_disk_fini(&disk);
	dataset_drop();
}

TestSuite(kept, .init = set_up, .fini = tear_down, .timeout = 60);

static bool is_done(struct ask *a)
{
	DL_HOLD(&lock);
	return a->turn > 0;
}

static void submit(struct ask *a, unsigned i, uint64_t offset, size_t len, uint64_t due)
{
	*a = (struct ask){
		.fetch = { .id = first + i, .offset = offset, .len = len, .due = due,
			   .done = on_done },
	};
	cr_assert_eq(source_submit(s, &a->fetch), 0);
}

/* It was asked for below as number n, and comes from there. */
static void come_from_below(struct ask *a, unsigned n)
{
	while (fake_source_count(&below) <= n && !is_done(a))
		usleep(500);
	cr_assert_eq(fake_source_count(&below), n + 1);
	fake_source_end(&below, n, 0);
	wait_done(a);
	cr_assert_eq(a->fetch.result, 0);
	cr_assert(!a->fetch.kept);
	cr_assert(fake_bytes_right((struct bytes){ a->fetch.bytes.at, a->fetch.bytes.len },
				   a->fetch.id, a->fetch.offset, a->fetch.len));
	buf_free(&a->fetch.bytes);
}

static void come_from_disk(struct ask *a)
{
	wait_done(a);
	cr_assert_eq(a->fetch.result, 0);
	cr_assert(a->fetch.kept);
	cr_assert(fake_bytes_right((struct bytes){ a->fetch.bytes.at, a->fetch.bytes.len },
				   a->fetch.id, 0, SIZE));
	buf_free(&a->fetch.bytes);
}

/* Files 0 to count - 1 are on the disk then. */
static void keep(unsigned count)
{
	struct ask a;

	for (unsigned i = 0; i < count; i++) {
		submit(&a, i, 0, SIZE, 1);
		come_from_below(&a, i);
	}
	cr_assert_eq(fake_disk_puts(&disk), count);
}

/* From now on all threads of the layer wait inside disk_get(), until the gate is opened. */
static void occupy(struct ask *asks, unsigned count)
{
	fake_disk_gate(&disk, true);
	for (unsigned i = 0; i < count; i++)
		submit(&asks[i], i, 0, SIZE, 1);
	fake_disk_await(&disk, count);
}

static void wait_for_the_one(struct fetch *f)
{
	on_done(f);
	DL_HOLD(&all_but_one);
}

Test(kept, a_sample_is_asked_for_below_once)
{
	struct ask a;

	keep(2);
	submit(&a, 1, 0, SIZE, 1);
	come_from_disk(&a);
	cr_assert_eq(fake_source_count(&below), 2);
	cr_assert_eq(fake_disk_puts(&disk), 2);
}

Test(kept, and_once_over_mounts)
{
	struct ask a;

	keep(1);
	close_stack();
	manifest_close(m);
	m = open_manifest(&tree);
	first = node_sample(node_at("f00"));
	open_stack();
	submit(&a, 0, 0, SIZE, 1);
	come_from_disk(&a);
	cr_assert_eq(fake_source_count(&below), 0);
}

static void change(const char *name)
{
	FILE *f = fopen(tree_path(&tree, name), "r+");

	cr_assert(f && fputc('x', f) == 'x' && fclose(f) == 0);
	cr_assert_eq(manifest_refresh(m, 1, true, NULL, NULL), 1);
}

Test(kept, another_version_is_asked_for_below)
{
	struct ask a;

	keep(1);
	change("f00");
	first = node_sample(node_at("f00"));
	submit(&a, 0, 0, SIZE, 1);
	come_from_below(&a, 1);
}

/* End the fetch below that asks only whether the version is the right one. */
static void answer(unsigned n, int result)
{
	cr_assert_eq(fake_source_count(&below), n + 1);
	cr_assert_eq(fake_source_at(&below, n).len, 0);
	fake_source_end(&below, n, result);
}

Test(kept, while_the_manifest_may_be_old_the_version_is_asked_for)
{
	struct ask a;

	keep(2);
	current = false;
	submit(&a, 0, 0, SIZE, 1);
	cr_assert(!is_done(&a));
	answer(2, 0);
	come_from_disk(&a);
	submit(&a, 1, 0, SIZE, 1);
	answer(3, -ESTALE);
	wait_done(&a);
	cr_assert_eq(a.fetch.result, -ESTALE);
	cr_assert_null(a.fetch.bytes.at);
	submit(&a, 2, 0, SIZE, 1);     /* is not on the disk */
	come_from_below(&a, 4);
	current = true;
	submit(&a, 1, 0, SIZE, 1);
	come_from_disk(&a);
}

Test(kept, an_old_version_that_is_still_open_does_not_come_from_the_disk)
{
	struct ask a;

	keep(2);
	change("f00");
	submit(&a, 0, 0, SIZE, 1);
	answer(2, -ESTALE);
	wait_done(&a);
	cr_assert_eq(a.fetch.result, -ESTALE);
	cr_assert_eq(unlink(tree_path(&tree, "f01")), 0);
	cr_assert_eq(manifest_refresh(m, 1, true, NULL, NULL), 1);
	submit(&a, 1, 0, SIZE, 1);
	answer(3, -ENOENT);
	wait_done(&a);
	cr_assert_eq(a.fetch.result, -ENOENT);
}

Test(kept, nor_does_one_in_a_folder_that_was_replaced)
{
	struct ask a;
	sample_id id;

	tree_folder(&tree, "d");
	tree_file(&tree, "d/a", SIZE);
	cr_assert_eq(manifest_refresh(m, 1, true, NULL, NULL), 2);
	id = node_sample(node_at("d/a"));
	submit(&a, id - first, 0, SIZE, 1);
	come_from_below(&a, 0);
	cr_assert_eq(rename(tree_path(&tree, "d"), tree_path(&tree, "gone")), 0);
	cr_assert_geq(manifest_refresh(m, 1, true, NULL, NULL), 1);
	submit(&a, id - first, 0, SIZE, 1);
	answer(1, -ENOENT);
	wait_done(&a);
	cr_assert_eq(a.fetch.result, -ENOENT);
}

Test(kept, a_file_that_has_just_changed_is_not_kept)
{
	struct ask a;

	close_stack();
	settle = 3600 * CLOCK_S;
	open_stack();
	submit(&a, 0, 0, SIZE, 1);
	come_from_below(&a, 0);
	cr_assert_eq(fake_disk_puts(&disk), 0);
	settle = 0;
}

/* As a queue below does with a fetch that is hurried there. */
Test(kept, who_waits_for_the_version_is_hurried_on_the_disk)
{
	struct ask first_ones[DISK_THREADS], slow, quick;

	keep(DISK_THREADS + 2);
	occupy(first_ones, DISK_THREADS);
	for (unsigned i = 1; i < DISK_THREADS; i++)
		first_ones[i].fetch.done = wait_for_the_one;
	submit(&slow, DISK_THREADS, 0, SIZE, 5);
	current = false;
	submit(&quick, DISK_THREADS + 1, 0, SIZE, 9);
	fake_source_at(&below, DISK_THREADS + 2).out->hurried_ = 1;
	answer(DISK_THREADS + 2, 0);
	dl_lock_take(&all_but_one);
	fake_disk_gate(&disk, false);
	wait_done(&slow);
	wait_done(&quick);
	dl_lock_drop(&all_but_one);
	cr_expect_lt(quick.turn, slow.turn);
	come_from_disk(&slow);
	come_from_disk(&quick);
	for (unsigned i = 0; i < DISK_THREADS; i++)
		come_from_disk(&first_ones[i]);
}

Test(kept, the_right_version_on_a_bad_disk_comes_from_below)
{
	struct ask a;

	keep(1);
	current = false;
	fake_disk_fail(&disk, -EIO);
	submit(&a, 0, 0, SIZE, 1);
	answer(1, 0);
	come_from_below(&a, 2);
}

Test(kept, each_part_is_kept_for_who_asks_for_the_same)
{
	static const size_t parts[][2] = { { 0, 3000 }, { 3000, 2000 }, { 0, 2000 }, { 1, 2000 } };
	struct ask a;

	for (unsigned i = 0; i < DL_COUNT(parts); i++) {
		submit(&a, 0, parts[i][0], parts[i][1], 1);
		come_from_below(&a, i);
	}
	for (unsigned i = 0; i < DL_COUNT(parts); i++) {
		submit(&a, 0, parts[i][0], parts[i][1], 1);
		wait_done(&a);
		cr_assert(a.fetch.result == 0 && a.fetch.kept);
		cr_assert(fake_bytes_right((struct bytes){ a.fetch.bytes.at, a.fetch.bytes.len },
					   a.fetch.id, parts[i][0], parts[i][1]));
		buf_free(&a.fetch.bytes);
	}
	submit(&a, 0, 0, SIZE, 1);
	come_from_below(&a, DL_COUNT(parts));
}

Test(kept, empty_files_pass)
{
	struct ask a;

	submit(&a, node_sample(node_at("zero")) - first, 0, 0, 1);
	come_from_below(&a, 0);
	cr_assert_eq(fake_disk_puts(&disk), 0);
}

Test(kept, what_failed_is_not_kept)
{
	struct ask a;

	submit(&a, 0, 0, SIZE, 1);
	fake_source_end(&below, 0, -ESTALE);
	wait_done(&a);
	cr_assert_eq(a.fetch.result, -ESTALE);
	cr_assert_null(a.fetch.bytes.at);
	cr_assert_eq(fake_disk_puts(&disk), 0);
}

Test(kept, a_fault_of_the_disk_is_not_seen)
{
	static const int faults[] = { -EIO, -ENOENT, -ENOMEM };
	struct ask a;

	keep(1);
	for (unsigned i = 0; i < DL_COUNT(faults); i++) {
		fake_disk_fail(&disk, faults[i]);
		submit(&a, 0, 0, SIZE, 1);
		come_from_below(&a, 1 + i);
	}
}

Test(kept, what_the_source_refuses_after_a_fault_ends)
{
	struct ask a;

	keep(1);
	fake_disk_fail(&disk, -EIO);
	fake_source_refuse(&below, -ENOMEM);
	submit(&a, 0, 0, SIZE, 1);
	wait_done(&a);
	cr_assert_eq(a.fetch.result, -ENOMEM);
	a = (struct ask){ .fetch = { .id = first + 1, .len = SIZE, .done = on_done } };
	cr_assert_eq(source_submit(s, &a.fetch), -ENOMEM);
	cr_assert(!is_done(&a));
}

Test(kept, who_waits_is_hurried_also_below)
{
	struct ask asks[DISK_THREADS];

	keep(DISK_THREADS);
	occupy(asks, DISK_THREADS);
	source_hurry(s, first + 2, 17);
	fake_disk_fail(&disk, -EIO);
	fake_disk_gate(&disk, false);
	while (fake_source_count(&below) < 2 * DISK_THREADS)
		usleep(500);
	/* The hurry follows the fetch. */
	for (unsigned i = DISK_THREADS; i < 2 * DISK_THREADS; i++) {
		while (fake_source_at(&below, i).id == first + 2 &&
		       !fake_source_at(&below, i).hurried)
			usleep(500);
		cr_expect_eq(fake_source_at(&below, i).hurried,
			     fake_source_at(&below, i).id == first + 2);
		fake_source_end(&below, i, 0);
	}
	for (unsigned i = 0; i < DISK_THREADS; i++) {
		wait_done(&asks[i]);
		buf_free(&asks[i].fetch.bytes);
	}
}

Test(kept, the_most_urgent_come_first)
{
	static const unsigned dues[] = { 9, 5, 7, 6, 8 };
	struct ask first_ones[DISK_THREADS], asks[DL_COUNT(dues)];

	keep(DISK_THREADS + DL_COUNT(dues));
	occupy(first_ones, DISK_THREADS);
	for (unsigned i = 1; i < DISK_THREADS; i++)
		first_ones[i].fetch.done = wait_for_the_one;
	for (unsigned i = 0; i < DL_COUNT(dues); i++)
		submit(&asks[i], DISK_THREADS + i, 0, SIZE, dues[i]);
	source_hurry(s, asks[0].fetch.id, 0);
	dl_lock_take(&all_but_one);
	fake_disk_gate(&disk, false);  /* one thread goes on; the others stay in their done() */
	for (unsigned i = 0; i < DL_COUNT(dues); i++)
		wait_done(&asks[i]);
	dl_lock_drop(&all_but_one);
	for (unsigned i = 0; i < DISK_THREADS; i++)
		come_from_disk(&first_ones[i]);
	cr_expect_lt(asks[0].turn, asks[1].turn);
	cr_expect_lt(asks[1].turn, asks[3].turn);
	cr_expect_lt(asks[3].turn, asks[2].turn);
	cr_expect_lt(asks[2].turn, asks[4].turn);
	for (unsigned i = 0; i < DL_COUNT(dues); i++)
		buf_free(&asks[i].fetch.bytes);
}

static void *open_gate(void *arg)
{
	(void)arg;
	while (!fake_source_stopped(&below))
		usleep(500);
	fake_disk_gate(&disk, false);
	return NULL;
}

Test(kept, close_ends_all_that_waits)
{
	struct ask asks[FILES];
	pthread_t thread;

	keep(FILES - 2);
	occupy(asks, DISK_THREADS);
	for (unsigned i = DISK_THREADS; i < FILES; i++)
		submit(&asks[i], i, 0, SIZE, i);
	cr_assert_eq(pthread_create(&thread, NULL, open_gate, NULL), 0);
	close_stack();
	pthread_join(thread, NULL);
	for (unsigned i = 0; i < FILES; i++) {
		cr_assert(is_done(&asks[i]), "%u", i);
		cr_expect(asks[i].fetch.result == 0 || asks[i].fetch.result == -ESHUTDOWN);
		cr_expect(i < FILES - 2 || asks[i].fetch.result == -ESHUTDOWN);
		buf_free(&asks[i].fetch.bytes);
	}
	open_stack();                  /* for tear_down() */
}

Test(kept, keeps_both_busy)
{
	cr_assert_eq(source_depth(s), 8 + DISK_THREADS);
}
