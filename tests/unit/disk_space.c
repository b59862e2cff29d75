#include <dirent.h>
#include <dlfcn.h>

#include "tests/lib/disk_suite.h"

#define SMALL (4 * MiB)

TestSuite(disk_space, .init = set_up, .fini = tear_down);

static uint64_t bytes_in(const char *path)
{
	uint64_t sum = 0;
	struct dirent *e;
	DIR *dir = opendir(path);

	cr_assert(dir);
	while ((e = readdir(dir))) {
		struct stat st;

		if (e->d_name[0] == '.' || fstatat(dirfd(dir), e->d_name, &st, 0) < 0)
			continue;
		if (S_ISREG(st.st_mode))
			sum += (uint64_t)st.st_size;
	}
	closedir(dir);
	return sum;
}

static void expect_bound(void)
{
	uint64_t bytes = bytes_in(folder) + bytes_in(in_store("index"));

	cr_assert_leq(bytes, options.size, "%ju bytes", (uintmax_t)bytes);
}

Test(disk_space, space_of_old_versions_is_taken_back_and_live_records_are_moved)
{
	enum { STAY = 100, CHANGE = 100, LEN = 10000 };

	disk_close(d);
	open_disk(SMALL);
	for (uint64_t version = 1; version < 20; version++) {
		for (uint64_t n = 0; n < CHANGE; n++) {
			if (version == 1)
				put(d, SOURCE, CHANGE + n, 1, LEN);
			put(d, SOURCE, n, version, LEN);
			writer_drain(d);
			expect_bound();
		}
	}
	for (uint64_t n = 0; n < CHANGE; n++)
		cr_expect_eq(get(d, SOURCE, n, 19, LEN), 0, "%ju", (uintmax_t)n);
	for (uint64_t n = 0; n < STAY; n++)
		cr_expect_eq(get(d, SOURCE, CHANGE + n, 1, LEN), 0, "%ju", (uintmax_t)n);
	cr_expect_eq(disk_report(d).records, STAY + CHANGE);
	cr_expect_eq(disk_report(d).dropped, 0);
	reopen();
	cr_expect_eq(disk_report(d).records, STAY + CHANGE);
}

/* All files have changed: what is there is of no use, but full. */
Test(disk_space, new_versions_find_room)
{
	enum { FILES = 2000, LARGE = 20000 };
	uint64_t before, there = 0;

	disk_close(d);
	open_disk(4 * SMALL);
	for (uint64_t version = 1; version < 3; version++) {
		for (int epoch = 0; epoch < 2; epoch++) {
			for (uint64_t n = 0; n < FILES; n++) {
				put(d, SOURCE, n, version, LARGE);
				if (n % 100 == 0)
					writer_drain(d);
			}
			writer_drain(d);
		}
		if (version == 1)
			before = disk_report(d).records;
	}
	cr_assert_lt(before, FILES);
	for (uint64_t n = 0; n < FILES; n++)
		there += has(d, SOURCE, n, 2);
	cr_expect_geq(there, before * 9 / 10, "%ju of %ju", (uintmax_t)there, (uintmax_t)before);
}

static uint32_t victim_of(struct disk *of, uint32_t newest)
{
	struct segment s;

	return space_victim(of, newest, &s) ? s.number : SEGMENT_NONE;
}

/* Moving records costs writes: the fewest are moved, and none where hardly any room comes of it. */
Test(disk_space, the_segment_with_the_least_that_is_wanted_goes_first)
{
	static const uint64_t live[] = { 750, 500, 300, 600 };
	struct disk alone = { 0 };

	for (uint32_t n = 1; n <= DL_COUNT(live); n++) {
		cr_assert_eq(space_add(&alone, n, 800), 0);
		space_find(&alone, n)->live_bytes = live[n - 1];
		space_find(&alone, n)->records = 1;
	}
	cr_expect_eq(victim_of(&alone, SEGMENT_NONE), 3);
	cr_expect_eq(victim_of(&alone, 3), 2, "the newest is written to");
	space_find(&alone, 1)->unwanted = 500;
	cr_expect_eq(victim_of(&alone, SEGMENT_NONE), 1);
	space_find(&alone, 1)->unwanted = 0;
	for (uint32_t n = 1; n <= DL_COUNT(live); n++)
		space_find(&alone, n)->live_bytes = 750;
	cr_expect_eq(victim_of(&alone, SEGMENT_NONE), SEGMENT_NONE);
	space_find(&alone, 4)->records = 0;
	cr_expect_eq(victim_of(&alone, SEGMENT_NONE), 4, "nothing is moved");
	free(alone.segments);
}

Test(disk_space, what_waits_for_the_index_is_not_taken_for_free_space)
{
	enum { SAMPLES = 300, LEN = 30000 };  /* twice the room; a batch is several segments */
	static uint8_t bytes[LEN];
	uint64_t bad = 1;

	disk_close(d);
	open_disk(SMALL);
	for (uint64_t n = 0; n < SAMPLES; n++) {
		struct disk_key key = key_at(SOURCE, n);
		struct disk_identity id = version_of(n, 1);

		disk_put(d, &key, &id, (struct bytes){ bytes, LEN });
	}
	writer_drain(d);
	cr_expect(disk_verify(d, false, NULL, NULL, &bad) == 0 && bad == 0, "%ju bad",
		  (uintmax_t)bad);
	cr_expect_gt(disk_report(d).records, SAMPLES / 4);
	expect_bound();
}

Test(disk_space, of_the_same_dataset_nothing_is_evicted_of_another_all)
{
	enum { LEN = 20000 };
	uint64_t kept, others = 0;

	disk_close(d);
	open_disk(SMALL);
	for (uint64_t n = 0; n < 1000; n++) {
		put(d, SOURCE, n, 1, LEN);
		writer_drain(d);
		expect_bound();
	}
	kept = disk_report(d).records;
	cr_expect_gt(kept * LEN, SMALL * 3 / 4);
	for (uint64_t n = 0; n < kept; n++)
		cr_expect(has(d, SOURCE, n, 1));
	want_part(d, SOURCE + 1, kept / 2, LEN);
	for (uint64_t n = 0; n < kept / 2; n++)
		put(d, SOURCE + 1, n, 1, LEN);
	writer_drain(d);
	expect_bound();
	for (uint64_t n = 0; n < kept / 2; n++)
		cr_expect_eq(get(d, SOURCE + 1, n, 1, LEN), 0);
	for (uint64_t n = 0; n < kept; n++)
		others += has(d, SOURCE, n, 1);
	cr_expect(others > 0 && others < kept, "%ju", (uintmax_t)others);
}

Test(disk_space, a_uniform_share_is_kept)
{
	enum { FILES = 8000, LEN = 4000 };
	uint64_t kept[4] = { 0 }, all = 0;
	double share;

	disk_close(d);
	open_disk(2 * SMALL);
	want_part(d, SOURCE, FILES, LEN);
	for (uint64_t n = 0; n < FILES; n++) {
		put(d, SOURCE, n, 1, LEN);
		if (n % 1000 == 0)
			writer_drain(d);
	}
	writer_drain(d);
	expect_bound();
	cr_expect(!d->full);
	for (uint64_t n = 0; n < FILES; n++) {
		struct disk_key key = key_at(SOURCE, n);

		cr_assert_eq(has(d, SOURCE, n, 1), disk_wants(d, &key, LEN));
		kept[n / (FILES / 4)] += has(d, SOURCE, n, 1);
	}
	for (int i = 0; i < 4; i++)
		all += kept[i];
	share = (double)all / FILES;
	cr_expect(share > 0.17 && share < 0.25, "%f", share);
	for (int i = 0; i < 4; i++)
		cr_expect_float_eq((double)kept[i] / (FILES / 4), share, 0.03, "%d", i);
}

Test(disk_space, many_tiny_samples_stay_within_the_size_too)
{
	enum { COUNT = 60000 };

	disk_close(d);
	open_disk(SMALL);
	for (uint64_t n = 0; n < COUNT; n++) {
		put(d, SOURCE, n, 1, 0);
		if (n % 500 == 0) {
			writer_drain(d);
			expect_bound();
		}
	}
	writer_drain(d);
	expect_bound();
	cr_expect(d->full && !disk_report(d).suspended);
	cr_expect_gt(disk_report(d).records, COUNT / 30);
	reopen();
	expect_bound();
	for (uint64_t n = 0; n < 1000; n++)
		cr_expect_eq(get(d, SOURCE, n, 1, 0), 0);
}

Test(disk_space, a_smaller_size_than_before_is_kept_too)
{
	for (uint64_t n = 0; n < 500; n++)
		put(d, SOURCE, n, 1, 20000);
	disk_close(d);
	open_disk(SMALL);
	expect_bound();
	cr_expect_gt(disk_report(d).records, 50);
	disk_close(d);
	d = NULL;
	open_disk(SMALL);
	expect_bound();
}

/* One that is made anew is larger, which may cost no record, neither now nor when it is opened. */
Test(disk_space, a_full_store_has_room_for_a_new_index, .timeout = 100)
{
	uint64_t records, n = 0;

	disk_close(d);
	open_disk(192 * MiB);
	while (!d->full) {
		put(d, SOURCE, n, 1, 1100);
		if (n++ % 1000 == 0)
			writer_drain(d);
	}
	writer_drain(d);
	records = disk_report(d).records;
	cr_assert_gt(records, 65536);
	disk_close(d);
	d = NULL;
	no_index();
	for (int i = 0; i < 2; i++) {
		open_disk(192 * MiB);
		cr_expect_eq(disk_report(d).records, records);
		expect_bound();
		disk_close(d);
		d = NULL;
	}
}

/* --- What waits to be written ----------------------------------------------------------------- */

static void *keep_putting(void *stop)
{
	for (uint64_t n = 1000; !*(_Atomic bool *)stop; n++)
		put(d, SOURCE, 1000 + n % 50, n, 100);
	return NULL;
}

Test(disk_space, what_was_queued_settles_though_more_comes)
{
	_Atomic bool stop = false;
	pthread_t others;
	uint64_t last;

	disk_close(d);
	d = NULL;
	options.queue = 64 * KiB;      /* it would take long to write as much as has room */
	cr_assert_eq(disk_open(&options, &d, &(int){ 0 }), 0);
	cr_assert_eq(pthread_create(&others, NULL, keep_putting, &stop), 0);
	for (uint64_t round = 0; round < 5; round++) {
		struct disk_key key = { { SOURCE, round }, 1 };
		struct disk_identity id = { .size = 1 };

		while (!disk_put(d, &key, &id, (struct bytes){ "", 1 }))
			usleep(1000);          /* the queue is full */
		last = disk_queued(d);
		cr_assert(disk_settle(d, last, clock_now() + 60 * CLOCK_S));
		cr_expect(disk_has(d, &key, &id));
	}
	stop = true;
	pthread_join(others, NULL);
	cr_expect(!disk_settle(d, disk_queued(d) + 1, clock_now() + CLOCK_MS));
	writer_drain(d);
}

enum { HELD = 100, HELD_LEN = 10000 };

/* A dataset for which there is room, of which in each round some files go and others come. */
Test(disk_space, room_of_what_the_dataset_has_no_more_is_taken_back)
{
	struct span all = { 0, HELD };

	options.size = SMALL;
	reopen_over(&all);
	want_part(d, SOURCE, HELD, HELD_LEN);
	for (; all.first < 6 * HELD; all.first += HELD / 2) {
		disk_dataset_changed(d);
		for (uint64_t n = all.first; n < all.first + HELD; n++) {
			put(d, SOURCE, n, 1, HELD_LEN);
			writer_drain(d);
			expect_bound();
		}
		for (uint64_t n = all.first; n < all.first + HELD; n++)
			cr_assert_eq(get(d, SOURCE, n, 1, HELD_LEN), 0, "%ju", (uintmax_t)n);
	}
}

/* --- What is never to be kept --------------------------------------------------------------- */

/* The first `files` samples, of which those below `never` are not to be kept. */
static void want_from(uint64_t never, uint64_t files)
{
	dl_cleanup(keep_census_freep) struct keep_census *census = NULL;
	struct keep_rule *rule;

	cr_assert_eq(keep_census_new(&census), 0);
	for (uint64_t n = 0; n < files; n++)
		cr_assert_eq(keep_census_add(census, key_at(SOURCE, n).hash[1], 100,
					     (struct keep_room){ 100, 1 },
					     n < never ? KEEP_NEVER : KEEP_IF_ROOM), 0);
	cr_assert_eq(keep_choose(census, disk_room(d), (struct keep_cost){ 0, 0 }, &rule), 0);
	disk_rule(d, SOURCE, rule);
}

static void expect_records(uint64_t count)
{
	uint64_t deadline = clock_now() + 60 * CLOCK_S;

	while (disk_report(d).records != count && clock_now() < deadline)
		usleep(1000);
	cr_expect_eq(disk_report(d).records, count);
}

Test(disk_space, what_is_never_to_be_kept_is_forgotten)
{
	for (uint64_t n = 0; n < 100; n++)
		put(d, SOURCE, n, 1, 100);
	writer_drain(d);
	want_from(10, 100);
	expect_records(90);
	cr_expect(!has(d, SOURCE, 9, 1) && has(d, SOURCE, 10, 1));
	put(d, SOURCE, 9, 1, 100);
	writer_drain(d);
	cr_expect(!has(d, SOURCE, 9, 1));
	want_from(20, 100);            /* others now */
	expect_records(80);
	want_from(20, 200);
	put(d, SOURCE, 150, 1, 100);
	expect_records(81);
	want_from(200, 200);
	expect_records(0);
}

Test(disk_space, what_is_never_to_be_kept_is_forgotten_once_it_is_read_in)
{
	for (uint64_t n = 0; n < 100; n++)
		put(d, SOURCE, n, 1, 100);
	reopen();
	want_from(10, 100);
	expect_records(90);
}

static struct index_change moving;
static _Atomic bool moves;             /* the writer, once somebody is about to change the index */

/* LMDB's. */
int mdb_txn_begin(void *env, void *parent, unsigned flags, void **ret);
int mdb_txn_begin(void *env, void *parent, unsigned flags, void **ret)
{
	int (*next)(void *, void *, unsigned, void **) =
		(int (*)(void *, void *, unsigned, void **))dlsym(RTLD_NEXT, __func__);

	if (flags == 0 && atomic_exchange(&moves, false))
		cr_assert_eq(index_apply(d->index, &moving, 1, index_mark(d->index)), 0);
	return next(env, parent, flags, ret);
}

Test(disk_space, what_is_moved_meanwhile_is_dropped_all_the_same)
{
	struct disk_key key = key_at(SOURCE, 0);
	uint64_t bytes;

	put(d, SOURCE, 0, 1, 1000);
	writer_drain(d);
	cr_assert_eq(index_get(d->index, &key, &moving.record, &moving.from), 0);
	moving.place = (struct place){ moving.from.segment, moving.from.offset + 1 };
	moves = true;
	cr_expect(disk_drop(d, &key, &bytes) == 0 && bytes == RECORD_HEAD + 1000);
	cr_expect(!moves && moving.done && !has(d, SOURCE, 0, 1));
}
