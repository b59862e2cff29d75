#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/path.h"
#include "fs/host/internal.h"

/* --- A machine made of files ---------------------------------------------------------- */

static char root[64];

static void make_root(void)
{
	snprintf(root, sizeof(root), "/tmp/dlfs-host.XXXXXX");
	cr_assert_not_null(mkdtemp(root));
}

static void remove_root(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	cr_assert_eq(system(command), 0);
}

static void write_file(const char *path, const char *text)
{
	char whole[512];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *slash = strchr(whole + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(whole, 0755);
		*slash = '/';
	}
	f = fopen(whole, "w");
	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
}

TestSuite(memory, .init = make_root, .fini = remove_root);

#define V2 "/sys/fs/cgroup"
#define V1 "/sys/fs/cgroup/memory"

Test(memory, the_machine_when_there_is_no_limit)
{
	char what[64];

	write_file("/proc/meminfo", "MemTotal: 2000000 kB\nMemAvailable:    1048576 kB\n");
	write_file("/proc/self/cgroup", "0::/user.slice\n");
	write_file(V2 "/user.slice/memory.max", "max\n");
	cr_assert_eq(memory_default(root, what), (1024 - 16) * MiB / 2);
	cr_assert(strstr(what, "machine"));
	cr_assert_eq(memory_cgroup_limit(root), UINT64_MAX);
}

Test(memory, the_tightest_level_of_version_2)
{
	char what[64];

	write_file("/proc/meminfo", "MemAvailable: 67108864 kB\n");
	write_file("/proc/self/cgroup", "0::/a/b/c\n");
	write_file(V2 "/a/b/c/memory.max", "max\n");
	write_file(V2 "/a/b/memory.max", "536870912\n");
	write_file(V2 "/a/b/memory.current", "134217728\n");
	write_file(V2 "/a/b/memory.stat", "anon 1\ninactive_file 67108864\nactive_file 2\n");
	write_file(V2 "/a/memory.max", "8589934592\n");
	write_file(V2 "/a/memory.current", "0\n");
	cr_assert_eq(memory_cgroup_limit(root), 512 * MiB);
	cr_assert_eq(memory_default(root, what), (512 - 64 - 16) * MiB / 2);
	cr_assert(strstr(what, "cgroup"));
}

Test(memory, a_throttle_counts_as_a_limit)
{
	write_file("/proc/self/cgroup", "0::/\n");
	write_file(V2 "/memory.max", "max\n");
	write_file(V2 "/memory.high", "268435456\n");
	cr_assert_eq(memory_cgroup_limit(root), 256 * MiB);
}

Test(memory, version_1_beside_others)
{
	char what[64];

	write_file("/proc/meminfo", "MemAvailable: 67108864 kB\n");
	write_file("/proc/self/cgroup", "9:name=systemd:/\n4:memory:/box/1\n1:cpu:/\n0::/\n");
	write_file(V1 "/box/1/memory.limit_in_bytes", "104857600\n");
	write_file(V1 "/box/1/memory.usage_in_bytes", "20971520\n");
	write_file(V1 "/box/1/memory.stat", "inactive_file 1\ntotal_inactive_file 10485760\n");
	write_file(V1 "/memory.limit_in_bytes", "9223372036854771712\n");
	cr_assert_eq(memory_cgroup_limit(root), 100 * MiB);
	cr_assert_eq(memory_default(root, what), (90 - 16) * MiB / 2);
}

Test(memory, a_container_that_sees_only_the_top)
{
	write_file("/proc/self/cgroup", "4:memory:/docker/0123456789\n");
	write_file(V1 "/memory.limit_in_bytes", "536870912\n");
	cr_assert_eq(memory_cgroup_limit(root), 512 * MiB);
}

Test(memory, never_less_than_the_setting_takes)
{
	char what[64];

	write_file("/proc/meminfo", "MemAvailable: 67108864 kB\n");
	write_file("/proc/self/cgroup", "0::/\n");
	write_file(V2 "/memory.max", "8388608\n");
	write_file(V2 "/memory.current", "9388608\n");
	cr_assert_eq(memory_default(root, what), 4 * MiB);
}

/* Limit 512, used 400: of it 100 page cache, 60 of that old. */
static void a_group(const char *limit)
{
	write_file("/proc/meminfo", "MemTotal: 67108864 kB\nMemAvailable: 33554432 kB\n");
	write_file("/proc/self/cgroup", "0::/a/b\n");
	write_file(V2 "/a/b/memory.max", limit);
	write_file(V2 "/a/b/memory.current", "419430400\n");
	write_file(V2 "/a/b/memory.stat", "inactive_file 62914560\nactive_file 41943040\n");
	write_file(V2 "/a/memory.max", "max\n");
}

Test(memory, what_fits_beside_others)
{
	a_group("536870912\n");
	cr_assert_eq(memory_fits(root, 0, 0), (512 - 32 - 400 + 60) * MiB, "old page cache goes");
	cr_assert_eq(memory_fits(root, 200 * MiB, 0), (200 + 140) * MiB, "what waits is ours");
	cr_assert_eq(memory_fits(root, 0, 30 * MiB), 140 * MiB, "of the old, perhaps");
	cr_assert_eq(memory_fits(root, 0, 80 * MiB), 160 * MiB, "ours may have been read twice");
	cr_assert_eq(memory_fits(root, 0, 300 * MiB), 180 * MiB, "the kernel has dropped some");
}

Test(memory, what_fits_after_a_limit_was_lowered)
{
	a_group("419430400\n");
	cr_assert_eq(memory_fits(root, 10 * MiB, 50 * MiB), (10 + 400 - 25 - 340) * MiB);
	write_file(V2 "/a/b/memory.high", "104857600\n");
	cr_assert_eq(memory_fits(root, 10 * MiB, 50 * MiB), 10 * MiB, "there is less than nothing");
	write_file(V2 "/a/b/memory.high", "max\n");
	write_file(V2 "/a/memory.max", "209715200\n");
	write_file(V2 "/a/memory.current", "199229440\n");
	cr_assert_eq(memory_fits(root, 0, 0), 0, "the group above is tighter");
}

Test(memory, what_fits_on_the_machine)
{
	a_group("max\n");
	cr_assert_eq(memory_fits(root, 5 * MiB, MiB), 31 * GiB + 5 * MiB, "1 GiB stays free");
	write_file("/proc/meminfo", "MemTotal: 1048576 kB\nMemAvailable: 131072 kB\n");
	cr_assert_eq(memory_fits(root, 5 * MiB, MiB), (128 - 64 + 5) * MiB);
}

Test(memory, nothing_can_be_read)
{
	char what[64];

	cr_assert_eq(memory_fits(root, MiB, MiB), UINT64_MAX);

	cr_assert_eq(memory_default(root, what), 4 * MiB);
	cr_assert_eq(memory_cgroup_limit(root), UINT64_MAX);
}

/* --- What is mounted ------------------------------------------------------------------ */

#define MOUNTS \
	"27 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n" \
	"30 27 0:40 / /mnt/fast ro,nosuid master:3 - fuse.dlfs /data/set rw,user_id=0\n" \
	"31 27 254:0 /data/part /mnt/part rw - ext4 /dev/vda rw\n" \
	"32 27 0:41 / /mnt/two\\040words rw - tmpfs a\\134b rw\n" \
	"34 27 0:43 / /mnt/odd\\1 rw - tmpfs x rw\n" \
	"33 30 0:42 / /mnt/fast ro - fuse.sshfs host: rw\n" \
	"broken line\n"

static int find(const char *path, bool prefix, struct host_mount *ret)
{
	char text[] = MOUNTS;

	return mounts_find(text, path, prefix, ret);
}

Test(mounts, the_topmost_at_a_path)
{
	struct host_mount m = { 0 };

	cr_assert_eq(find("/mnt/fast", false, &m), 1);
	cr_assert_str_eq(m.type, "fuse.sshfs");
	cr_assert_str_eq(m.source, "host:");
	cr_assert_eq(m.minor, 42);
	cr_assert_not(m.shared);
	cr_assert_not(host_mount_is_dlfs(&m));
	host_mount_fini(&m);
}

Test(mounts, only_mount_points_themselves)
{
	struct host_mount m = { 0 };

	cr_assert_eq(find("/mnt", false, &m), 0);
	cr_assert_eq(find("/mnt/fast/a", false, &m), 0);
	cr_assert_eq(find("/mnt/fas", false, &m), 0);
}

Test(mounts, escaped_names)
{
	struct host_mount m = { 0 };

	cr_assert_eq(find("/mnt/two words", false, &m), 1);
	cr_assert_str_eq(m.mountpoint, "/mnt/two words");
	cr_assert_str_eq(m.source, "a\\b");
	host_mount_fini(&m);
	cr_assert_eq(find("/mnt/odd\\1", false, &m), 1, "no escape, but taken for one");
	host_mount_fini(&m);
}

Test(mounts, the_one_that_covers_a_path)
{
	struct host_mount m = { 0 };

	cr_assert_eq(find("/mnt/faster", true, &m), 1);
	cr_assert_str_eq(m.mountpoint, "/");
	cr_assert(m.shared);
	host_mount_fini(&m);
	cr_assert_eq(find("/mnt/part/x/y", true, &m), 1);
	cr_assert_str_eq(m.mountpoint, "/mnt/part");
	host_mount_fini(&m);
}

Test(mounts, where_a_path_lies_in_its_file_system)
{
	static const struct { const char *path, *inside; } rows[] = {
		{ "/mnt/part/x", "/data/part/x" }, { "/mnt/part", "/data/part" },
		{ "/data/part/x", "/data/part/x" }, { "/", "/" }, { "/mnt/fast", "/" },
	};

	for (size_t i = 0; i < DL_COUNT(rows); i++) {
		struct host_mount m = { 0 };
		struct buf b = BUF_EMPTY;

		cr_assert_eq(find(rows[i].path, true, &m), 1);
		cr_assert_eq(path_in_filesystem(&m, rows[i].path, &b), 0);
		cr_assert_str_eq((char *)b.at, rows[i].inside);
		buf_free(&b);
		host_mount_fini(&m);
	}
}

Test(mounts, below_means_whole_folders)
{
	cr_assert(path_is_below("/a/b", "/a"));
	cr_assert(path_is_below("/a", "/a"));
	cr_assert(path_is_below("/a", "/"));
	cr_assert(path_is_below("/a/b", "/a/"));
	cr_assert_not(path_is_below("/ab", "/a"));
	cr_assert_not(path_is_below("socket:[1]", "/"));
	cr_assert_not(path_is_below("/", "/a"));
}

/* --- Places --------------------------------------------------------------------------- */

static void expect_refusal(const char *source, const char *at, bool nonempty, const char *word)
{
	char from[128], to[128], text[256] = "";
	int lock;

	snprintf(from, sizeof(from), "%s%s", root, source);
	snprintf(to, sizeof(to), "%s%s", root, at);
	cr_assert_lt(host_check_mountpoint(from, to, nonempty, &lock, text), 0);
	cr_assert(strstr(text, word), "\"%s\" does not say %s", text, word);
}

TestSuite(places, .init = make_root, .fini = remove_root);

Test(places, what_is_refused)
{
	char from[128], to[128], text[256];
	int lock = -1;

	write_file("/src/sub/file", "");
	write_file("/full/file", "");
	write_file("/empty/x", "");
	snprintf(to, sizeof(to), "%s/empty/x", root);
	cr_assert_eq(unlink(to), 0);
	expect_refusal("/src", "/src", true, "itself");
	expect_refusal("/src", "/src/sub", true, "inside the source");
	expect_refusal("/src/sub", "/src", true, "hide it");
	expect_refusal("/src", "/none", true, "mkdir -p");
	expect_refusal("/src", "/full/file", true, "not a folder");
	expect_refusal("/src", "/full", false, "nonempty");
	snprintf(from, sizeof(from), "%s/src", root);
	snprintf(to, sizeof(to), "%s/full", root);
	cr_assert_eq(host_check_mountpoint(from, to, true, &lock, text), 0, "%s", text);
	close(lock);
	snprintf(to, sizeof(to), "%s/empty", root);
	cr_assert_eq(host_check_mountpoint(from, to, false, &lock, text), 0, "%s", text);
	close(lock);
}

Test(places, a_state_file_for_each_source)
{
	struct buf a = BUF_EMPTY, b = BUF_EMPTY;
	char one[128], two[128];
	struct stat st;

	write_file("/one/f", "");
	write_file("/two/f", "");
	snprintf(one, sizeof(one), "%s/state", root);
	setenv("XDG_STATE_HOME", one, 1);
	snprintf(one, sizeof(one), "%s/one", root);
	snprintf(two, sizeof(two), "%s/two/../one/.", root);
	cr_assert_eq(host_state_file(one, "manifest", &a), 0);
	cr_assert_eq(host_state_file(two, "manifest", &b), 0);
	cr_assert_str_eq((char *)a.at, (char *)b.at);
	buf_free(&b);
	snprintf(two, sizeof(two), "%s/two", root);
	cr_assert_eq(host_state_file(two, "manifest", &b), 0);
	cr_assert_str_neq((char *)a.at, (char *)b.at);
	*strrchr((char *)a.at, '/') = '\0';
	cr_assert_eq(stat((char *)a.at, &st), 0);
	cr_assert(S_ISDIR(st.st_mode));
	buf_free(&a);
	buf_free(&b);
}

/* --- Calls that may hang -------------------------------------------------------------- */

static int say_busy(const void *context)
{
	(void)context;
	return -EBUSY;
}

/* Never returns, and nor does what it runs; both hold the pipe open. */
static int hang(const void *context)
{
	(void)context;
	if (fork() >= 0)
		for (;;)
			pause();
	return -errno;
}

Test(child, gives_what_the_call_returns)
{
	cr_assert_eq(child_call(say_busy, NULL, 30000), -EBUSY);
}

Test(child, is_waited_for_without_a_descriptor_too)
{
	struct rlimit files, none;
	int r;

	getrlimit(RLIMIT_NOFILE, &files);
	none = (struct rlimit){ 0, files.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	r = child_call(say_busy, NULL, 30000);
	setrlimit(RLIMIT_NOFILE, &files);
	cr_assert_eq(r, -EBUSY);
}

Test(child, is_given_up_with_all_that_it_started, .timeout = 60)
{
	int ends[2];
	char byte;

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(child_call(hang, NULL, 50), -ETIMEDOUT);
	close(ends[1]);
	cr_assert_eq(read(ends[0], &byte, 1), 0, "somebody still holds the pipe");
	cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1, "it is not reaped");
}
