#include <signal.h>
#include <sys/wait.h>

#include "tests/lib/disk_suite.h"

TestSuite(disk, .init = set_up, .fini = tear_down);

/* --- Samples ------------------------------------------------------------------------------- */

Test(disk, gives_back_what_was_put_over_a_restart_as_well)
{
	struct disk_report r;

	for (uint64_t n = 0; n < 300; n++)
		put(d, SOURCE, n, 1, n * 7);
	writer_drain(d);
	for (int i = 0; i < 2; i++) {
		for (uint64_t n = 0; n < 300; n++)
			cr_expect_eq(get(d, SOURCE, n, 1, n * 7), 0, "%ju", (uintmax_t)n);
		cr_expect(!has(d, SOURCE, 300, 1) && get(d, SOURCE, 300, 1, 0) == -ENOENT);
		r = disk_report(d);
		cr_expect_eq(r.records, 300);
		cr_expect_eq(r.bytes, 300 * RECORD_HEAD + 7 * 300 * 299 / 2);
		cr_expect(r.hits == 300 && r.misses == 1 && r.bad == 0);
		reopen();
	}
}

Test(disk, another_version_is_a_miss_and_the_old_one_is_forgotten)
{
	for (unsigned field = 0; field < 5; field++) {
		struct disk_key key = key_at(SOURCE, field);
		struct disk_identity id = version_of(field, 1);
		uint64_t *fields[] = { &id.size, &id.ino, &id.dev, (uint64_t *)&id.mtime_ns,
				       (uint64_t *)&id.ctime_ns };
		struct buf bytes = BUF_EMPTY;

		put(d, SOURCE, field, 1, 10);
		writer_drain(d);
		++*fields[field];
		cr_expect(has(d, SOURCE, field, 1) && !disk_has(d, &key, &id));
		cr_expect_eq(disk_get(d, &key, &id, &bytes), -ENOENT);
		cr_expect(!has(d, SOURCE, field, 1), "field %u", field);
	}
	cr_expect_eq(disk_report(d).records, 0);
}

Test(disk, a_new_version_takes_the_place_of_the_old)
{
	for (uint64_t version = 1; version < 4; version++)
		put(d, SOURCE, 0, version, 100);
	writer_drain(d);
	cr_expect_eq(get(d, SOURCE, 0, 3, 100), 0);
	cr_expect_eq(disk_report(d).records, 1);
	cr_expect_eq(disk_report(d).bytes, RECORD_HEAD + 100);
}

Test(disk, what_the_queue_has_no_room_for_is_dropped)
{
	disk_close(d);
	d = NULL;
	options.queue = RECORD_HEAD + 100;
	cr_assert_eq(disk_open(&options, &d, &(int){ 0 }), 0);
	put(d, SOURCE, 0, 1, 101);
	put(d, SOURCE, 1, 1, 100);
	writer_drain(d);
	cr_expect(!has(d, SOURCE, 0, 1) && has(d, SOURCE, 1, 1));
	cr_expect_eq(disk_report(d).dropped, 1);
}

static uint64_t dropped(const struct disk_key *key)
{
	uint64_t bytes;

	cr_assert_eq(disk_drop(d, key, &bytes), 0);
	return bytes;
}

Test(disk, a_drop_takes_all_parts)
{
	struct disk_key key = key_at(SOURCE, 0);
	struct disk_identity id = version_of(0, 1);
	uint8_t bytes[100] = "x";

	for (key.part = 0; key.part < 5; key.part++)
		disk_put(d, &key, &id, (struct bytes){ bytes, sizeof(bytes) });
	put(d, SOURCE, 1, 1, 100);
	writer_drain(d);
	cr_expect_eq(disk_report(d).records, 6);
	cr_expect_eq(dropped(&key), 5 * (RECORD_HEAD + sizeof(bytes)));
	cr_expect_eq(dropped(&key), 0);
	cr_expect(disk_report(d).records == 1 && has(d, SOURCE, 1, 1));
}

Test(disk, all_of_a_source_can_be_dropped_one_by_one)
{
	struct disk_key key = key_at(SOURCE, 0);
	struct disk_identity id = version_of(0, 1);
	uint64_t bytes = 0, more, samples = 0;

	for (uint64_t source = SOURCE - 1; source <= SOURCE + 1; source++)
		for (uint64_t n = 1; n < 10; n++)
			put(d, source, n, 1, 100);
	for (key.part = 0; key.part < 5; key.part++)
		disk_put(d, &key, &id, (struct bytes){ (const uint8_t[100]){ 0 }, 100 });
	writer_drain(d);
	for (; disk_drop_any(d, SOURCE, &more) == 0 && more > 0; samples++)
		bytes += more;
	cr_expect_eq(samples, 10);
	cr_expect_eq(bytes, 14 * (RECORD_HEAD + 100));
	cr_expect_eq(disk_report(d).records, 18);
	cr_expect(has(d, SOURCE - 1, 9, 1) && has(d, SOURCE + 1, 1, 1));
}

/* --- One owner ----------------------------------------------------------------------------- */

Test(disk, a_second_open_is_told_who_has_it)
{
	struct disk *second = NULL;
	int pid = -1;

	cr_expect_eq(disk_open(&options, &second, &pid), -EWOULDBLOCK);
	cr_expect_eq(pid, getpid());
	cr_expect(!second);
}

Test(disk, a_lock_of_a_killed_process_does_not_block)
{
	int ready[2], pid = -1;
	pid_t child;
	char c;

	disk_close(d);
	d = NULL;
	cr_assert_eq(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		open_disk(options.size);
		cr_assert_eq(write(ready[1], "r", 1), 1);
		pause();
	}
	cr_assert_eq(read(ready[0], &c, 1), 1);
	cr_expect_eq(disk_open(&options, &d, &pid), -EWOULDBLOCK);
	cr_expect_eq(pid, child);
	kill(child, SIGKILL);
	cr_assert_eq(waitpid(child, NULL, 0), child);
	open_disk(options.size);
}
