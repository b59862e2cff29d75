#include <signal.h>
#include <sys/wait.h>

#include "tests/lib/disk_suite.h"

TestSuite(disk_damage, .init = set_up, .fini = tear_down);

static struct buf slurp(const char *path)
{
	struct buf b = BUF_EMPTY;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	cr_assert(fd >= 0 && fstat(fd, &st) == 0, "%s", path);
	cr_assert_eq(buf_reserve(&b, (size_t)st.st_size), 0);
	b.len = (size_t)st.st_size;
	cr_assert_eq(read(fd, b.at, b.len), (ssize_t)b.len);
	close(fd);
	return b;
}

static void flip(const char *path, off_t at)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	uint8_t byte;

	cr_assert(fd >= 0 && pread(fd, &byte, 1, at) == 1);
	byte ^= 1u << (at % 8);
	cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

/* A process that opens the store, puts samples 0 … count - 1 of so many bytes, and is gone. */
static void killed_after(uint64_t count, size_t len)
{
	pid_t child;
	int status;

	disk_close(d);
	d = NULL;
	child = fork();
	cr_assert_geq(child, 0);
	if (child == 0) {
		open_disk(options.size);
		for (uint64_t n = 0; n < count; n++)
			put(d, SOURCE, n, 1, len);
		writer_drain(d);
		kill(getpid(), SIGKILL);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status));
}

/* --- Damage -------------------------------------------------------------------------------- */

Test(disk_damage, a_bit_that_flips_anywhere_in_a_record_is_noticed)
{
	enum { LEN = 40, ALL = RECORD_HEAD + LEN };
	struct disk_report r;

	for (uint64_t n = 0; n < ALL; n++)
		put(d, SOURCE, n, 1, LEN);
	writer_drain(d);
	for (uint64_t n = 0; n < ALL; n++)
		flip(in_store("00000001.seg"), (off_t)(n * ALL + n));
	for (uint64_t n = 0; n < ALL; n++) {
		cr_expect_eq(get(d, SOURCE, n, 1, LEN), -EIO, "byte %ju", (uintmax_t)n);
		cr_expect_eq(get(d, SOURCE, n, 1, LEN), -ENOENT, "byte %ju", (uintmax_t)n);
	}
	r = disk_report(d);
	cr_expect(r.bad == ALL && r.records == 0 && r.bytes == 0);
}

static void damage_index(const char *name, size_t step)
{
	dl_cleanup(buf_free) struct buf good = BUF_EMPTY;

	for (uint64_t n = 0; n < 60; n++)
		put(d, SOURCE, n, 1, 50);
	reopen();
	for (size_t at = 0, size = 1; at < size; at += step) {
		disk_close(d);
		d = NULL;
		good = slurp(in_store(name));
		size = good.len;
		buf_free(&good);
		flip(in_store(name), (off_t)at);
		open_disk(options.size);
		cr_expect_eq(disk_report(d).records, 60, "%s, byte %zu", name, at);
		expect_all(60, 50);
	}
}

Test(disk_damage, an_index_with_a_flipped_bit_is_made_anew)
{
	damage_index("index/data.mdb", 131);
}

Test(disk_damage, so_it_is_when_what_is_told_of_it_is_damaged)
{
	damage_index("index/state", 3);
	damage_index("index/lock.mdb", 4099);
}

Test(disk_damage, an_index_that_is_cut_anywhere_is_made_anew)
{
	dl_cleanup(buf_free) struct buf index = BUF_EMPTY, state = BUF_EMPTY;

	killed_after(200, 30);
	index = slurp(in_store("index/data.mdb"));
	state = slurp(in_store("index/state"));
	for (size_t len = 0; len <= index.len; len += 512) {
		spill(in_store("index/data.mdb"), &index, len);
		spill(in_store("index/state"), &state, state.len);
		open_disk(options.size);
		cr_expect_eq(disk_report(d).records, 200, "%zu bytes", len);
		expect_all(200, 30);
		disk_close(d);
		d = NULL;
	}
}

Test(disk_damage, an_index_that_is_missing_or_garbage_is_made_anew)
{
	static uint8_t garbage[20000];
	struct buf b = { garbage, sizeof(garbage), 0 };

	killed_after(100, 1000);
	no_index();
	open_disk(options.size);
	expect_all(100, 1000);
	disk_close(d);
	fill_bytes(garbage, sizeof(garbage), 1, 1);
	spill(in_store("index/data.mdb"), &b, b.len);
	open_disk(options.size);
	expect_all(100, 1000);
	disk_close(d);
	no_index();
	spill(in_store("index"), &b, b.len);
	open_disk(options.size);
	expect_all(100, 1000);
}

static void cut_last_record(bool indexed)
{
	enum { LEN = 60, ALL = RECORD_HEAD + LEN };
	dl_cleanup(buf_free) struct buf segment = BUF_EMPTY, index = BUF_EMPTY, state = BUF_EMPTY;

	killed_after(3, LEN);
	segment = slurp(in_store("00000001.seg"));
	index = slurp(in_store("index/data.mdb"));
	state = slurp(in_store("index/state"));
	cr_assert_eq(segment.len, 3 * ALL);
	for (size_t len = 2 * ALL; len <= 3 * ALL; len++) {
		bool there = len == 3 * ALL;

		spill(in_store("00000001.seg"), &segment, len);
		spill(in_store("index/data.mdb"), &index, index.len);
		spill(in_store("index/state"), &state, state.len);
		if (!indexed)
			no_index();
		open_disk(options.size);
		expect_all(2, LEN);
		cr_expect_eq(get(d, SOURCE, 2, 1, LEN), there ? 0 : -ENOENT, "%zu bytes", len);
		put(d, SOURCE, 2, 1, LEN);
		reopen();
		expect_all(3, LEN);
		disk_close(d);
		d = NULL;
		unlink(in_store("00000002.seg"));
	}
}

Test(disk_damage, a_torn_record_ends_its_segment)
{
	cut_last_record(false);
}

Test(disk_damage, an_index_that_knows_more_than_the_segment_has_is_put_right)
{
	cut_last_record(true);
}

Test(disk_damage, what_the_index_has_not_yet_is_found_in_the_segments)
{
	dl_cleanup(buf_free) struct buf index = BUF_EMPTY, state = BUF_EMPTY;

	killed_after(40, 100);
	index = slurp(in_store("index/data.mdb"));
	state = slurp(in_store("index/state"));
	killed_after(90, 100);
	spill(in_store("index/data.mdb"), &index, index.len);
	spill(in_store("index/state"), &state, state.len);
	open_disk(options.size);
	cr_expect_eq(disk_report(d).records, 90);
	expect_all(90, 100);
}

Test(disk_damage, segments_that_changed_places_give_nothing_wrong)
{
	enum { LEN = 3000, COUNT = 500 };  /* more than one segment has */
	struct buf end = BUF_EMPTY;
	unsigned there = 0;
	int r;

	killed_after(COUNT, LEN);
	cr_assert_eq(rename(in_store("00000001.seg"), in_store("x")), 0);
	cr_assert_eq(rename(in_store("00000002.seg"), in_store("00000001.seg")), 0);
	cr_assert_eq(rename(in_store("x"), in_store("00000002.seg")), 0);
	end = slurp(in_store("00000001.seg"));
	cr_assert_gt(end.len, 4096);
	memset(end.at + end.len - 4096, 0, 4096);
	spill(in_store("00000001.seg"), &end, end.len);
	buf_free(&end);
	open_disk(options.size);
	for (uint64_t n = 0; n < COUNT; n++) {
		r = get(d, SOURCE, n, 1, LEN);
		cr_expect(r == 0 || r == -EIO || r == -ENOENT);
	}
	disk_close(d);
	no_index();
	open_disk(options.size);
	for (uint64_t n = 0; n < COUNT; n++)
		there += get(d, SOURCE, n, 1, LEN) == 0;
	cr_expect(there >= COUNT - 3 && there < COUNT, "%u", there);
}

/* Of an old store, whose segments have numbers with letters in them. */
Test(disk_damage, segments_without_index_and_lock_are_a_store)
{
	killed_after(10, 3000);
	cr_assert_eq(rename(in_store("00000001.seg"), in_store("000000c2.seg")), 0);
	no_index();
	cr_assert_eq(unlink(in_store("lock")), 0);
	open_disk(options.size);
	expect_all(10, 3000);
}

Test(disk_damage, verify_finds_and_forgets_what_is_bad)
{
	uint64_t bad = 0;

	for (uint64_t n = 0; n < 50; n++)
		put(d, SOURCE, n, 1, 100);
	writer_drain(d);
	cr_expect(disk_verify(d, false, NULL, NULL, &bad) == 0 && bad == 0);
	for (unsigned i = 0; i < 5; i++)
		flip(in_store("00000001.seg"), (off_t)(i * 10 * (RECORD_HEAD + 100) + 99));
	cr_expect(disk_verify(d, false, NULL, NULL, &bad) == 0 && bad == 5);
	cr_expect(disk_verify(d, true, NULL, NULL, &bad) == 0 && bad == 5);
	cr_expect(disk_verify(d, true, NULL, NULL, &bad) == 0 && bad == 0);
	cr_expect_eq(disk_report(d).records, 45);
}
