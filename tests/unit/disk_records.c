/* The bound on records. */
#include "tests/lib/disk_suite.h"

#define SIZE (16 * MiB)
#define MOST 50u
#define LEN 3000u

static void set_up_bounded(void)
{
	set_up();
	disk_close(d);
	d = NULL;
	open_bounded(SIZE, MOST);
}

TestSuite(disk_records, .init = set_up_bounded, .fini = tear_down);

static void put_all(uint64_t source, uint64_t first, uint64_t count, uint64_t version)
{
	for (uint64_t n = first; n < first + count; n++) {
		put(d, source, n, version, LEN);
		if (n % 16 == 0) {
			writer_drain(d);
			cr_assert_leq(disk_report(d).records, d->records_most);
		}
	}
	writer_drain(d);
	cr_assert_leq(disk_report(d).records, d->records_most);
}

static uint64_t count_there(uint64_t source, uint64_t count, uint64_t version)
{
	uint64_t there = 0;

	for (uint64_t n = 0; n < count; n++)
		there += get(d, source, n, version, LEN) == 0;
	return there;
}

/* One sample in twenty is worth more than all others. */
static void want_few(void)
{
	struct keep_rule *rule = calloc(1, sizeof(*rule));

	cr_assert(rule);
	rule->firm = true;
	for (unsigned i = 0; i < KEEP_CLASSES; i++)
		rule->share[i] = UINT64_MAX / 20;
	disk_rule(d, SOURCE, rule);
}

static bool is_wanted(uint64_t n)
{
	struct disk_key key = key_at(SOURCE, n);

	return keep_wants(d->rule, key.hash[1], LEN);
}

Test(disk_records, first_come_when_nothing_is_known)
{
	put_all(SOURCE, 0, 4 * MOST, 1);
	cr_expect_eq(disk_report(d).records, MOST);
	cr_expect_eq(count_there(SOURCE, MOST, 1), MOST);
	cr_expect(d->full && !disk_report(d).suspended);
	reopen();
	cr_expect_eq(count_there(SOURCE, MOST, 1), MOST);
}

Test(disk_records, what_is_wanted_takes_the_place_of_what_is_not)
{
	enum { FILES = 1000 };
	uint64_t wanted = 0, there = 0;

	put_all(SOURCE, 0, MOST, 1);
	want_few();
	put_all(SOURCE, 0, FILES, 1);
	for (uint64_t n = 0; n < FILES; n++) {
		bool has_it = has(d, SOURCE, n, 1);

		wanted += is_wanted(n);
		there += is_wanted(n) && has_it;
	}
	cr_expect(wanted > MOST * 3 / 4 && wanted < MOST * 5 / 4, "%ju", (uintmax_t)wanted);
	cr_expect_eq(there, DL_MIN(wanted, (uint64_t)MOST), "%ju of %ju", (uintmax_t)there,
		     (uintmax_t)wanted);
}

Test(disk_records, nothing_that_is_wanted_is_traded)
{
	enum { FILES = 1000 };
	bool before[FILES];

	want_few();
	put_all(SOURCE, 0, FILES, 1);
	for (uint64_t n = 0; n < FILES; n++)
		before[n] = has(d, SOURCE, n, 1);
	put_all(SOURCE, 0, FILES, 1);
	for (uint64_t n = 0; n < FILES; n++)
		cr_expect_eq(before[n], has(d, SOURCE, n, 1), "%ju", (uintmax_t)n);
}

/* All of it lies in the newest segment. */
Test(disk_records, another_dataset_makes_place)
{
	put_all(SOURCE, 0, MOST, 1);
	want_part(d, SOURCE + 1, MOST, LEN);
	put_all(SOURCE + 1, 0, MOST, 1);
	cr_expect_eq(count_there(SOURCE + 1, MOST, 1), MOST);
	cr_expect_eq(count_there(SOURCE, MOST, 1), 0);
	reopen();
	cr_expect_eq(count_there(SOURCE + 1, MOST, 1), MOST);
}

Test(disk_records, a_lower_bound_than_before_is_kept_too)
{
	const bool lost[] = { false, true, false };

	disk_close(d);
	open_bounded(SIZE, 0);
	put_all(SOURCE, 0, 1000, 1);
	cr_assert_eq(disk_report(d).records, 1000);
	for (size_t i = 0; i < DL_COUNT(lost); i++) {
		uint64_t most = 900 - 400 * i, there = 0;

		disk_close(d);
		d = NULL;
		if (lost[i])
			no_index();
		open_bounded(SIZE, most);
		cr_expect_eq(disk_report(d).records, most);
		for (uint64_t n = 0; n < 1000; n++)
			there += get(d, SOURCE, n, 1, LEN) == 0;
		cr_expect_eq(there, most, "%ju", (uintmax_t)there);
		cr_expect_eq(get(d, SOURCE, 999, 1, LEN), 0, "the newest is gone");
	}
}

/* Of each page of the index some go, and there is no room for all of them anew. */
Test(disk_records, a_lower_bound_is_kept_by_an_index_that_is_full)
{
	enum { TINY = 40 };
	uint64_t before, most, there = 0;

	disk_close(d);
	open_bounded(SIZE, 0);
	for (uint64_t n = 0; n < SIZE / TINY / 8 && !d->full; n++) {
		put(d, SOURCE, n, 1, TINY);
		if (n % 256 == 0)
			writer_drain(d);
	}
	writer_drain(d);
	cr_assert(d->full, "%ju records", (uintmax_t)disk_report(d).records);
	before = disk_report(d).records;
	most = before * 6 / 10;
	disk_close(d);
	d = NULL;
	open_bounded(SIZE, most);
	cr_expect_eq(disk_report(d).records, most, "%ju, not %ju of %ju",
		     (uintmax_t)disk_report(d).records, (uintmax_t)most, (uintmax_t)before);
	for (uint64_t n = 0; n < before; n++)
		there += get(d, SOURCE, n, 1, TINY) == 0;
	cr_expect_eq(there, most, "%ju", (uintmax_t)there);
}

Test(disk_records, what_the_dataset_has_no_more_goes_when_place_lacks)
{
	struct span all = { 0, MOST };

	reopen_over(&all);
	want_part(d, SOURCE, MOST, LEN);
	put_all(SOURCE, 0, MOST - 10, 1);
	all.first = 20;
	disk_dataset_changed(d);
	put_all(SOURCE, MOST - 10, 10, 1);
	cr_expect_eq(count_there(SOURCE, MOST, 1), MOST, "some are gone, although there was room");
	put_all(SOURCE, MOST, 10, 1);
	cr_expect_eq(count_there(SOURCE, MOST + 10, 1), MOST);
	put_all(SOURCE, MOST + 10, 20, 1);
	for (uint64_t n = all.first; n < all.first + all.count; n++)
		cr_expect_eq(get(d, SOURCE, n, 1, LEN), 0, "%ju", (uintmax_t)n);
	put_all(SOURCE, MOST + 30, 10, 1);
	cr_expect(d->full, "what the dataset has makes no place");
}

/* All files have changed: what is there is of no use, but full. */
Test(disk_records, new_versions_find_place)
{
	put_all(SOURCE, 0, MOST, 1);
	put_all(SOURCE, MOST, 10, 1);
	cr_assert(d->full);
	put_all(SOURCE, 0, MOST, 2);
	cr_expect_eq(count_there(SOURCE, MOST, 2), MOST);
}
