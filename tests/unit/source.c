#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/mman.h>

#include "tests/lib/ask.h"

#define SIZE 5000u

static const char *const kinds[] = { "uring", "threads" };

/* A folder with files, its manifest, and fetches that are waited for. */
struct place {
	char folder[64];
	struct manifest *m;
	struct source *s;
};

static void write_file(const struct place *p, const char *name, char fill, size_t size)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", p->folder, name);
	f = fopen(path, "w");
	cr_assert(f);
	for (size_t i = 0; i < size; i++)
		fputc(fill + (char)(i % 26), f);
	cr_assert(fclose(f) == 0);
}

static int open_source(const struct manifest *m, const char *layers, struct source **ret)
{
	return source_open(&(struct source_options){ .manifest = m, .layers = layers }, ret);
}

/* Files f0 ... f(count-1), 'a', 'b' ... as their first bytes. */
static struct place place_new(unsigned count, const char *layers)
{
	struct place p = { .folder = "/tmp/dlfs-source-XXXXXX" };
	char name[16];

	asks_begin();
	cr_assert(mkdtemp(p.folder));
	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		write_file(&p, name, (char)('a' + i % 20), SIZE + i);
	}
	cr_assert(manifest_open(&(struct manifest_options){ .source = p.folder }, &p.m) == 0);
	cr_assert(open_source(p.m, layers, &p.s) == 0, "%s", layers);
	return p;
}

static void place_free(struct place *p)
{
	char command[128];

	source_close(p->s);
	manifest_close(p->m);
	snprintf(command, sizeof(command), "rm -rf %s", p->folder);
	cr_assert(system(command) == 0);
}

static sample_id id_of(struct place *p, const char *name)
{
	node_id node;

	cr_assert(manifest_resolve(p->m, name, &node) == 0, "%s", name);
	return node_sample(node);
}

static struct ask ask_for(struct place *p, const char *name)
{
	sample_id id = id_of(p, name);
	uint64_t size;

	cr_assert(manifest_sample(p->m, id, &size));
	return (struct ask){ .fetch = { .id = id, .len = size, .done = on_done } };
}

static int fetch_now(struct place *p, struct ask *a)
{
	cr_assert(source_submit(p->s, &a->fetch) == 0);
	wait_done(a);
	return a->fetch.result;
}

static int fetch_result(struct place *p, const char *name)
{
	struct ask a = ask_for(p, name);
	int r = fetch_now(p, &a);

	cr_expect(r == 0 || !a.fetch.bytes.at, "a failed fetch has no bytes");
	buf_free(&a.fetch.bytes);
	return r;
}

static void expect_bytes(const struct buf *b, char fill, size_t offset, size_t len)
{
	cr_assert_eq(b->len, len);
	for (size_t i = 0; i < len; i++)
		cr_assert_eq(b->at[i], fill + (char)((offset + i) % 26), "byte %zu", i);
}

static void shell(const struct place *p, const char *command)
{
	char text[512];

	snprintf(text, sizeof(text), "cd %s && %s", p->folder, command);
	cr_assert(system(text) == 0, "%s", text);
}

Test(source, reads_whole_files_and_ranges)
{
	for (size_t k = 0; k < DL_COUNT(kinds); k++) {
		struct place p = place_new(3, kinds[k]);
		struct ask whole = ask_for(&p, "f2"), part = ask_for(&p, "f1"), none = part;

		cr_assert(fetch_now(&p, &whole) == 0);
		expect_bytes(&whole.fetch.bytes, 'c', 0, SIZE + 2);
		part.fetch.offset = 4097;
		part.fetch.len = 17;
		cr_assert(fetch_now(&p, &part) == 0);
		expect_bytes(&part.fetch.bytes, 'b', 4097, 17);
		none.fetch.offset = SIZE + 1;
		none.fetch.len = 0;
		cr_assert(fetch_now(&p, &none) == 0);
		cr_assert_eq(none.fetch.bytes.len, 0);
		buf_free(&whole.fetch.bytes);
		buf_free(&part.fetch.bytes);
		place_free(&p);
	}
}

Test(source, without_layers_something_works)
{
	struct place p = place_new(1, NULL);

	cr_assert(fetch_result(&p, "f0") == 0);
	cr_assert(source_depth(p.s) >= 16);
	place_free(&p);
}

Test(source, refuses_what_is_no_range_of_a_file)
{
	struct place p = place_new(1, "threads");
	struct ask beyond = ask_for(&p, "f0"), nobody = beyond, overflow = beyond;

	beyond.fetch.len++;
	cr_assert(source_submit(p.s, &beyond.fetch) == -EINVAL);
	nobody.fetch.id = 12345;
	cr_assert(source_submit(p.s, &nobody.fetch) == -EINVAL);
	overflow.fetch.offset = 1;
	overflow.fetch.len = SIZE_MAX;
	cr_assert(source_submit(p.s, &overflow.fetch) == -EINVAL);
	place_free(&p);
}

static const struct {
	const char *why, *command;
	int result;
} changes[] = {
	{ "replaced, same size", "cp -p f0 new && mv new f0", -ESTALE },
	{ "rewritten in place, same size and mtime", "touch -r f0 t && sleep 0.05 && "
	  "head -c 5000 f1 > x && cat x > f0 && touch -r t f0", -ESTALE },
	{ "cut", "truncate -s 100 f0", -ESTALE },
	{ "longer", "echo >> f0", -ESTALE },
	{ "a symlink to itself under another name", "mv f0 g && ln -s g f0", -ESTALE },
	{ "a symlink that leads out", "ln -sf /etc/passwd f0", -ESTALE },
	{ "a FIFO nobody writes to", "rm f0 && mkfifo f0", -ESTALE },
	{ "a socket", "rm f0 && python3 -c 'import socket; "
	  "socket.socket(socket.AF_UNIX).bind(\"f0\")'", -ESTALE },
	{ "a folder", "rm f0 && mkdir f0", -ESTALE },
	{ "gone", "rm f0", -ENOENT },
};

Test(source, tells_another_version_from_the_manifests)
{
	for (size_t k = 0; k < DL_COUNT(kinds); k++) {
		for (size_t i = 0; i < DL_COUNT(changes); i++) {
			struct place p = place_new(2, kinds[k]);

			cr_assert(fetch_result(&p, "f0") == 0);
			shell(&p, changes[i].command);
			cr_expect_eq(fetch_result(&p, "f0"), changes[i].result, "%s, %s",
				     kinds[k], changes[i].why);
			cr_expect(fetch_result(&p, "f1") == 0, "%s: f1", changes[i].why);
			place_free(&p);
		}
	}
}

/* The folder above became a link to where the very same file is now. */
Test(source, follows_no_link_on_the_way)
{
	for (size_t k = 0; k < DL_COUNT(kinds); k++) {
		struct place p = place_new(1, kinds[k]);

		shell(&p, "mkdir d e && echo hello > d/x");
		cr_assert(fetch_result(&p, "d/x") == 0);
		shell(&p, "mv d d.away && ln -s d.away d");
		cr_expect_eq(fetch_result(&p, "d/x"), -ESTALE, "%s", kinds[k]);
		place_free(&p);
	}
}

/* "x…/x…/…/f", with the file at its end. */
static void make_deep(const struct place *p, struct buf *path)
{
	int at = open(p->folder, O_PATH | O_DIRECTORY), below;
	char name[201];

	memset(name, 'x', 200);
	name[200] = '\0';
	while (path->len < 9000) {
		cr_assert(mkdirat(at, name, 0700) == 0 && buf_printf(path, "%s/", name) == 0);
		below = openat(at, name, O_PATH | O_DIRECTORY);
		close(at);
		at = below;
	}
	below = openat(at, "f", O_WRONLY | O_CREAT, 0600);
	cr_assert(write(below, "deep", 4) == 4 && buf_append(path, "f", 2) == 0);
	close(below);
	close(at);
}

Test(source, paths_may_be_longer_than_one_call_takes)
{
	for (size_t k = 0; k < DL_COUNT(kinds); k++) {
		dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
		struct place p = place_new(1, kinds[k]);

		make_deep(&p, &path);
		cr_expect_eq(fetch_result(&p, (char *)path.at), 0, "%s", kinds[k]);
		place_free(&p);
	}
}

static size_t cached_pages(const struct place *p, const char *name)
{
	unsigned char pages[16];
	char path[128];
	struct stat st;
	size_t count = 0;
	void *at;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", p->folder, name);
	fd = open(path, O_RDONLY);
	cr_assert(fd >= 0 && fstat(fd, &st) == 0 && st.st_size <= 16 * 4096);
	at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	cr_assert(at != MAP_FAILED && mincore(at, (size_t)st.st_size, pages) == 0);
	for (size_t i = 0; i < ((size_t)st.st_size + 4095) / 4096; i++)
		count += pages[i] & 1;
	munmap(at, (size_t)st.st_size);
	close(fd);
	return count;
}

Test(source, keeps_pages_that_others_cached)
{
	for (size_t k = 0; k < DL_COUNT(kinds); k++) {
		struct place p = place_new(1, kinds[k]);

		shell(&p, "cat f0 > /dev/null");
		cr_assert_eq(cached_pages(&p, "f0"), 2);
		cr_assert(fetch_result(&p, "f0") == 0);
		cr_expect_eq(cached_pages(&p, "f0"), 2, "%s", kinds[k]);
		place_free(&p);
	}
}

/* Pages may stay for a while for reasons of the kernel's, so: of many files, most went. */
Test(source, leaves_no_second_copy)
{
	for (size_t k = 0; k < DL_COUNT(kinds); k++) {
		struct place p = place_new(40, kinds[k]);
		size_t before = 0, after = 0;
		char name[16];

		shell(&p, "sync . && for f in f*; do "
		      "dd if=$f iflag=nocache count=0 status=none; done");
		for (unsigned i = 0; i < 40; i++) {
			snprintf(name, sizeof(name), "f%u", i);
			before += cached_pages(&p, name);
			cr_assert(fetch_result(&p, name) == 0);
			after += cached_pages(&p, name);
		}
		if (before == 0)       /* else /tmp is memory and nothing can be dropped */
			cr_expect_lt(after, 40, "%s: %zu of 80 pages are left", kinds[k], after);
		place_free(&p);
	}
}

Test(source, makes_do_with_few_descriptors)
{
	for (size_t k = 0; k < DL_COUNT(kinds); k++) {
		struct place p = place_new(200, kinds[k]);
		struct ask asks[200];
		struct rlimit before, few;
		char name[16];
		int next = dup(0);

		for (unsigned i = 0; i < 200; i++) {
			snprintf(name, sizeof(name), "f%u", i);
			asks[i] = ask_for(&p, name);
			asks[i].fetch.due = 1 + i;
		}
		cr_assert(getrlimit(RLIMIT_NOFILE, &before) == 0);
		few = (struct rlimit){ (rlim_t)next + 2, before.rlim_max };
		close(next);
		cr_assert(setrlimit(RLIMIT_NOFILE, &few) == 0);
		for (unsigned i = 0; i < 200; i++)
			cr_assert(source_submit(p.s, &asks[i].fetch) == 0);
		for (unsigned i = 0; i < 200; i++)
			wait_done(&asks[i]);
		cr_assert(setrlimit(RLIMIT_NOFILE, &before) == 0);
		for (unsigned i = 0; i < 200; i++) {
			cr_expect_eq(asks[i].fetch.result, 0, "%s, f%u: %s", kinds[k], i,
				     strerror(-asks[i].fetch.result));
			buf_free(&asks[i].fetch.bytes);
		}
		place_free(&p);
	}
}

static bool gate_open, at_gate;

static void wait_at_gate(struct fetch *f)
{
	DL_HOLD(&lock);
	at_gate = true;
	pthread_cond_broadcast(&changed);
	while (!gate_open)
		dl_cond_wait(&changed, &lock);
	dl_container_of(f, struct ask, fetch)->turn = ++turns;
	pthread_cond_broadcast(&changed);
}

/* The slow layer has one thread: as long as it waits in a done(), all others queue up. */
Test(source, takes_the_most_urgent_first_and_equals_in_turn)
{
	struct place p = place_new(6, "slow:parallel=1");
	static const uint64_t dues[] = { 1, 9, 5, 5, 7, 8 };
	static const unsigned turns_wanted[] = { 1, 6, 3, 4, 5, 2 };    /* f5 was hurried */
	struct ask asks[6];
	char name[16];

	for (unsigned i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		asks[i] = ask_for(&p, name);
		asks[i].fetch.due = dues[i];
		if (i == 0)
			asks[i].fetch.done = wait_at_gate;
		cr_assert(source_submit(p.s, &asks[i].fetch) == 0);
		dl_lock_take(&lock);
		while (!at_gate)
			dl_cond_wait(&changed, &lock);
		dl_lock_drop(&lock);
	}
	source_hurry(p.s, asks[5].fetch.id, 4096);
	dl_lock_take(&lock);
	gate_open = true;
	pthread_cond_broadcast(&changed);
	dl_lock_drop(&lock);
	for (unsigned i = 0; i < 6; i++)
		wait_done(&asks[i]);
	for (unsigned i = 0; i < 6; i++) {
		cr_expect_eq(asks[i].turn, turns_wanted[i], "f%u came as number %u", i,
			     asks[i].turn);
		buf_free(&asks[i].fetch.bytes);
	}
	place_free(&p);
}

Test(source, close_ends_what_waits)
{
	static const char *const stacks[] = { "slow:latency=1h,parallel=2|threads",
					      "slow:latency=1h,parallel=2|uring" };

	for (size_t k = 0; k < DL_COUNT(stacks); k++) {
		struct place p = place_new(20, stacks[k]);
		unsigned refused = 0;
		struct ask asks[20];
		char name[16];

		for (unsigned i = 0; i < 20; i++) {
			snprintf(name, sizeof(name), "f%u", i);
			asks[i] = ask_for(&p, name);
			cr_assert(source_submit(p.s, &asks[i].fetch) == 0);
		}
		source_close(p.s);
		p.s = NULL;
		for (unsigned i = 0; i < 20; i++) {
			cr_assert(asks[i].turn > 0, "done() ran before close returned");
			cr_expect(asks[i].fetch.result == 0 ||
				  asks[i].fetch.result == -ESHUTDOWN);
			refused += asks[i].fetch.result == -ESHUTDOWN;
			buf_free(&asks[i].fetch.bytes);
		}
		cr_expect_geq(refused, 18);
		place_free(&p);
	}
}

Test(source, every_seventh_fails)
{
	struct place p = place_new(1, "fault:every=7,errno=EACCES|slow:latency=1us");

	for (unsigned i = 1; i <= 21; i++)
		cr_expect_eq(fetch_result(&p, "f0"), i % 7 == 0 ? -EACCES : 0, "fetch %u", i);
	place_free(&p);
}

/* 20 files of 5 kB over 100 kB/s take a second, however fast the machine is. */
Test(source, slow_is_slow)
{
	struct place p = place_new(20, "slow:latency=10ms,parallel=8,bandwidth=100KB/s");
	uint64_t begin = clock_now();
	struct ask asks[20];
	char name[16];

	cr_assert_eq(source_depth(p.s), 8);
	for (unsigned i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		asks[i] = ask_for(&p, name);
		cr_assert(source_submit(p.s, &asks[i].fetch) == 0);
	}
	for (unsigned i = 0; i < 20; i++) {
		wait_done(&asks[i]);
		buf_free(&asks[i].fetch.bytes);
	}
	cr_expect_geq(clock_now() - begin, CLOCK_S);
	place_free(&p);
}

Test(source, says_which_layers_there_are)
{
	static const char *const wrong[] = {
		"quick", "slow:latency", "slow:latency=", "slow:latency=fast", "slow:parallel=0",
		"slow:bandwidth=5MB", "fault:every=0", "fault:errno=EWHAT", "fault:=EIO",
		"slow||threads", "threads|slow", "threads:4", "|", "uring|threads",
	};
	static const char *const right[] = {
		"", "threads", "uring", "slow", "slow:", "fault|slow:latency=1ms|threads",
		"slow:latency=10ms,parallel=64,bandwidth=100MB/s,every=1,seek=8ms",
		"fault:errno=EIO,every=7",
	};
	struct place p = place_new(1, "threads");
	struct source *s = NULL;
	char why[160];

	for (size_t i = 0; i < DL_COUNT(wrong); i++) {
		cr_expect_eq(open_source(p.m, wrong[i], &s), -EINVAL, "%s", wrong[i]);
		cr_expect_eq(source_check_layers(wrong[i], why), -EINVAL, "%s", wrong[i]);
	}
	cr_expect(!s);
	for (size_t i = 0; i < DL_COUNT(right); i++)
		cr_expect_eq(source_check_layers(right[i], why), 0, "%s: %s", right[i], why);
	cr_expect_eq(source_check_layers("slow:latency=1", why), -EINVAL);
	cr_expect_str_eq(why, "\"latency=1\" is nothing for the layer slow; it takes latency=10ms,"
			 "parallel=64,bandwidth=100MB/s,every=1,seek=8ms");
	place_free(&p);
}
