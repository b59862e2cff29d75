/* A store on a disk that fails: full, read-only, removed, somebody else's, damaged. */
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "tests/lib/disk_suite.h"

TestSuite(disk_faults, .init = set_up, .fini = tear_down);

/* The next put tries again. */
static void time_passes(void)
{
	atomic_store(&d->suspended_until, 1);
}

static void set_up_tmpfs(void)
{
	bool mounted;

	log_set_level(LOG_LEVEL_ERROR);
	tree = tree_new();
	mounted = mount("dlfs-test", tree.root, "tmpfs", 0, "size=4m") == 0;
	if (!mounted) {
		tree_drop(&tree, "");
		cr_skip_test("a tmpfs cannot be mounted");
	}
	snprintf(folder, sizeof(folder), "%s", tree_path(&tree, "s"));
	open_disk(64 * MiB);
}

static void tear_down_tmpfs(void)
{
	disk_close(d);
	d = NULL;
	cr_assert(umount2(tree.root, MNT_DETACH) == 0 && rmdir(tree.root) == 0);
}

TestSuite(disk_tmpfs, .init = set_up_tmpfs, .fini = tear_down_tmpfs);

/* The lines that are logged to standard error from now on. */
static int catch_log(void)
{
	int caught = memfd_create("log", MFD_CLOEXEC);

	log_set_level(LOG_LEVEL_INFO);
	cr_assert(caught >= 0 && dup2(caught, STDERR_FILENO) == STDERR_FILENO);
	return caught;
}

static unsigned lines_in(int caught)
{
	char text[4096];
	ssize_t n = pread(caught, text, sizeof(text), 0);
	unsigned lines = 0;

	cr_assert_geq(n, 0);
	while (n-- > 0)
		lines += text[n] == '\n';
	return lines;
}

static uint64_t put_until_suspended(void)
{
	uint64_t n = 0;

	for (; n < 1000 && !disk_report(d).suspended; n++) {
		put(d, SOURCE, n, 1, 30000);
		writer_drain(d);
	}
	return n - 1;
}

Test(disk_tmpfs, a_full_disk_is_left_alone_until_there_is_room)
{
	static uint8_t zeros[MiB];
	uint64_t kept, many;

	spill(tree_path(&tree, "filler"), &(struct buf){ zeros, MiB, MiB }, MiB);
	kept = put_until_suspended();
	cr_assert(kept > 50 && kept < 200, "%ju", (uintmax_t)kept);
	expect_all(kept, 30000);
	put(d, SOURCE, kept, 1, 30000);
	cr_expect_eq(disk_report(d).written, kept);
	reopen();
	expect_all(kept, 30000);
	cr_assert_lt(put_until_suspended(), kept + 3);
	cr_assert_eq(unlink(tree_path(&tree, "filler")), 0);
	time_passes();
	many = disk_report(d).records;
	put(d, SOURCE, 999, 1, 30000);
	writer_drain(d);
	cr_expect_eq(get(d, SOURCE, 999, 1, 30000), 0);
	cr_expect_eq(disk_report(d).records, many + 1);
	cr_expect(!disk_report(d).suspended);
	expect_all(kept, 30000);
}

Test(disk_tmpfs, one_warning_and_longer_pauses_until_it_is_over)
{
	static uint8_t zeros[4 * MiB];
	int caught = catch_log(), fd;
	uint64_t pause = PAUSE_FIRST;

	fd = open(tree_path(&tree, "filler"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_gt(write(fd, zeros, sizeof(zeros)), 0);
	for (uint64_t n = 0; n < 8; n++) {
		time_passes();
		put(d, SOURCE, n, 1, 30000);
		writer_drain(d);
		cr_expect(disk_report(d).suspended);
		pause = DL_MIN(pause * 2, PAUSE_MOST);
		cr_expect_eq(d->writer.pause, pause);
		cr_expect_eq(lines_in(caught), 1);
	}
	cr_assert_eq(ftruncate(fd, 0), 0);
	close(fd);
	time_passes();
	put(d, SOURCE, 0, 1, 30000);
	writer_drain(d);
	cr_expect(!disk_report(d).suspended && d->writer.pause == PAUSE_FIRST);
	cr_expect_eq(lines_in(caught), 2);
}

Test(disk_tmpfs, it_opens_on_a_full_disk)
{
	static uint8_t zeros[4 * MiB];
	int fd;

	for (uint64_t n = 0; n < 30; n++)
		put(d, SOURCE, n, 1, 30000);
	disk_close(d);
	d = NULL;
	fd = open(tree_path(&tree, "filler"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_gt(write(fd, zeros, sizeof(zeros)), 0);
	close(fd);
	open_disk(options.size);
	expect_all(30, 30000);
	disk_close(d);
	no_index();
	d = NULL;
	if (disk_open(&options, &d, &(int){ 0 }) == 0)
		for (uint64_t n = 0; n < 30; n++)
			get(d, SOURCE, n, 1, 30000);
}

Test(disk_tmpfs, so_much_of_the_file_system_stays_free)
{
	uint64_t kept;

	disk_close(d);
	d = NULL;
	options.keep_free = 2 * MiB;
	cr_assert_eq(disk_open(&options, &d, &(int){ 0 }), 0);
	kept = put_until_suspended();
	cr_expect(kept > 30 && kept * 30000 < 2 * MiB, "%ju", (uintmax_t)kept);
	expect_all(kept, 30000);
}

static bool has_files_of(uint64_t bytes)
{
	for (unsigned i = 0; i < 30000 && disk_report(d).file_bytes > bytes; i++)
		usleep(1000);
	return disk_report(d).file_bytes <= bytes;
}

Test(disk_tmpfs, what_is_dropped_for_want_of_room_makes_room)
{
	uint64_t empty = disk_report(d).file_bytes, kept = put_until_suspended();

	cr_assert_gt(disk_report(d).file_bytes, empty + MiB);
	for (uint64_t n = 0; n < kept; n++) {
		struct disk_key key = key_at(SOURCE, n);
		uint64_t bytes;

		cr_expect(disk_drop(d, &key, &bytes) == 0 && bytes > 0);
	}
	cr_assert(disk_report(d).suspended, "nothing is shown by this");
	disk_trim(d);
	cr_expect(has_files_of(empty + 200 * KiB), "%ju bytes",
		  (uintmax_t)disk_report(d).file_bytes);
}

Test(disk_faults, a_record_that_cannot_be_opened_now_is_not_a_bad_one)
{
	struct rlimit before, none;

	put(d, SOURCE, 0, 1, 100);
	writer_drain(d);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ 0, before.rlim_max };
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	cr_expect_eq(get(d, SOURCE, 0, 1, 100), -EIO);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	cr_expect(disk_report(d).bad == 0 && disk_report(d).misses == 1);
	cr_expect_eq(get(d, SOURCE, 0, 1, 100), 0);
}

static _Atomic int commits;            /* how they end; 0: as ever */

/* LMDB's. */
int mdb_txn_commit(void *txn);
int mdb_txn_commit(void *txn)
{
	int error = commits;
	const char *name = error ? "mdb_txn_abort" : __func__;
	int (*next)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, name);
	int r = next(txn);

	return error ? error : r;
}

Test(disk_faults, what_cannot_be_forgotten_is_said)
{
	struct disk_key key = key_at(SOURCE, 0);
	uint64_t bytes;

	put(d, SOURCE, 0, 1, 100);
	writer_drain(d);
	commits = EROFS;
	cr_expect(disk_drop(d, &key, &bytes) == -EROFS && bytes == 0);
	cr_expect(disk_drop_any(d, SOURCE, &bytes) == -EROFS && bytes == 0);
	cr_expect_eq(disk_report(d).error, -EROFS);
	commits = 0;
	cr_expect(has(d, SOURCE, 0, 1));
	put(d, SOURCE, 1, 1, 100);
	writer_drain(d);
	cr_expect_eq(disk_report(d).error, 0);
	cr_expect(disk_drop(d, &key, &bytes) == 0 && bytes == RECORD_HEAD + 100);
}

#define NOBODY 65534

Test(disk_faults, a_folder_that_becomes_read_only_is_read_on)
{
	disk_close(d);
	d = NULL;
	if (geteuid() == 0) {
		/* Root may write everywhere. */
		cr_assert(chown(folder, NOBODY, NOBODY) == 0 && chmod(tree.root, 0777) == 0);
		no_index();
		cr_assert_eq(unlink(in_store("lock")), 0);
		cr_assert_eq(seteuid(NOBODY), 0);
	}
	open_disk(options.size);
	put(d, SOURCE, 0, 1, 30000);
	writer_drain(d);
	cr_assert_eq(chmod(folder, 0500), 0);
	d->segment_most = 1;
	put(d, SOURCE, 1, 1, 300);
	writer_drain(d);
	cr_expect(disk_report(d).suspended);
	cr_expect_eq(get(d, SOURCE, 0, 1, 30000), 0);
	cr_assert_eq(chmod(folder, 0700), 0);
	time_passes();
	put(d, SOURCE, 1, 1, 300);
	writer_drain(d);
	cr_expect(!disk_report(d).suspended);
	cr_expect_eq(get(d, SOURCE, 1, 1, 300), 0);
	cr_assert_eq(seteuid(getuid()), 0);
}

Test(disk_faults, half_a_record_is_cut_off)
{
	struct rlimit before, limit;
	struct stat st;

	cr_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR && getrlimit(RLIMIT_FSIZE, &before) == 0);
	limit = (struct rlimit){ 200000, before.rlim_max };
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_assert_eq(put_until_suspended(), 6);
	expect_all(6, 30000);
	cr_assert_eq(stat(in_store("00000001.seg"), &st), 0);
	cr_expect_eq(st.st_size, 6 * (RECORD_HEAD + 30000));
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	time_passes();
	put(d, SOURCE, 6, 1, 30000);
	reopen();
	expect_all(7, 30000);
}

Test(disk_faults, a_folder_that_cannot_be_written_is_refused)
{
	int pid;

	disk_close(d);
	d = NULL;
	options.folder = "/proc/self/store";
	cr_expect_lt(disk_open(&options, &d, &pid), 0);
	options.folder = "/dev/null";
	cr_expect_eq(disk_open(&options, &d, &pid), -ENOTDIR);
}

static void remove_store(void)
{
	cr_assert_eq(unlink(in_store("00000001.seg")), 0);
	no_index();
	cr_assert(unlink(in_store("lock")) == 0 && rmdir(folder) == 0);
}

static void await_online(void)
{
	for (unsigned i = 0; i < 60000 && !disk_report(d).online; i++)
		usleep(1000);
	cr_assert(disk_report(d).online);
}

Test(disk_faults, a_folder_that_is_removed_is_made_again)
{
	put(d, SOURCE, 0, 1, 100);
	writer_drain(d);
	remove_store();
	cr_expect_eq(get(d, SOURCE, 0, 1, 100), -EIO);
	cr_expect_eq(get(d, SOURCE, 0, 1, 100), -ENOENT);
	put(d, SOURCE, 1, 1, 100);
	writer_drain(d);
	cr_expect(disk_report(d).suspended && !disk_report(d).online);
	cr_expect_eq(get(d, SOURCE, 1, 1, 100), -ENOENT);
	writer_retry(d);
	await_online();
	put(d, SOURCE, 1, 1, 100);
	writer_drain(d);
	cr_expect_eq(get(d, SOURCE, 1, 1, 100), 0);
	reopen();
	cr_expect_eq(get(d, SOURCE, 1, 1, 100), 0);
}

Test(disk_faults, a_folder_that_somebody_else_made_there_is_left_alone)
{
	struct disk *other = NULL, *mine = d;
	uint8_t one = 1;

	put(d, SOURCE, 0, 1, 100);
	writer_drain(d);
	remove_store();
	open_disk(options.size);
	other = d;
	d = mine;
	put(d, SOURCE, 1, 1, 100);
	writer_drain(d);
	cr_expect(!disk_report(d).online);
	writer_retry(d);
	usleep(100000);
	cr_expect(!disk_report(d).online);
	d = other;
	put(d, SOURCE, 2, 1, one);
	writer_drain(d);
	cr_expect_eq(get(d, SOURCE, 2, 1, one), 0);
	disk_close(d);
	d = mine;
	writer_retry(d);
	await_online();
	cr_expect_eq(get(d, SOURCE, 2, 1, one), 0);
}

/* A bit of its entry in the index, wherever a page has it. */
static void damage_entry(uint64_t n)
{
	struct disk_key key = key_at(SOURCE, n);
	int fd = open(in_store("index/data.mdb"), O_RDWR | O_CLOEXEC);
	struct stat st;
	uint8_t *at;

	cr_assert(fd >= 0 && fstat(fd, &st) == 0);
	at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(at, MAP_FAILED);
	for (off_t i = 0; i + 32 < st.st_size; i++)
		if (memcmp(at + i, &key, sizeof(key)) == 0)
			at[i + 28] ^= 4;
	munmap(at, (size_t)st.st_size);
	close(fd);
}

Test(disk_faults, an_index_that_is_broken_is_made_anew_by_the_running_store)
{
	for (uint64_t n = 0; n < 50; n++)
		put(d, SOURCE, n, 1, 100);
	writer_drain(d);
	damage_entry(7);
	cr_expect_eq(get(d, SOURCE, 7, 1, 100), -ENOENT);
	put(d, SOURCE, 99, 1, 100);
	writer_drain(d);
	cr_expect(!disk_report(d).online);
	writer_retry(d);
	await_online();
	expect_all(50, 100);
	put(d, SOURCE, 50, 1, 100);
	writer_drain(d);
	expect_all(51, 100);
}

Test(disk_faults, a_close_does_not_wait_for_an_index_that_is_being_made)
{
	for (uint64_t n = 0; n < 3000; n++)
		put(d, SOURCE, n, 1, 10);
	disk_close(d);
	no_index();
	options.patient = true;
	cr_assert_eq(disk_open(&options, &d, &(int){ 0 }), 0);
	disk_close(d);
	open_disk(options.size);
	expect_all(3000, 10);
}

/* --- Patience ------------------------------------------------------------------------------ */

Test(disk_faults, who_is_patient_gets_a_store_that_opens_later)
{
	int pid, caught;

	put(d, SOURCE, 0, 1, 100);
	disk_close(d);
	d = NULL;
	cr_assert_eq(rename(folder, tree_path(&tree, "away")), 0);
	spill(folder, &BUF_EMPTY, 0);
	options.patient = true;
	caught = catch_log();
	cr_assert_eq(disk_open(&options, &d, &pid), 0);
	cr_expect_eq(writer_await_open(d, UINT64_MAX), -ENOTDIR);
	put(d, SOURCE, 1, 1, 100);
	cr_expect(!has(d, SOURCE, 0, 1) && get(d, SOURCE, 0, 1, 100) == -ENOENT);
	cr_expect(!disk_report(d).online && disk_report(d).dropped == 1);
	writer_retry(d);
	usleep(50000);
	cr_expect_eq(lines_in(caught), 1);
	cr_assert(unlink(folder) == 0 && rename(tree_path(&tree, "away"), folder) == 0);
	writer_retry(d);
	await_online();
	cr_expect_eq(get(d, SOURCE, 0, 1, 100), 0);
}

Test(disk_faults, who_is_patient_is_told_of_another_owner_at_once)
{
	struct disk *second = NULL;
	int pid = -1;

	options.patient = true;
	cr_expect_eq(disk_open(&options, &second, &pid), -EWOULDBLOCK);
	cr_expect_eq(pid, getpid());
}
