/* Scans that are killed on the way and taken over; loads while others look up; then threads that
 * look up, list, scan and refresh while another changes the tree.  In the end the manifest holds
 * what the tree holds. */
#undef NDEBUG
#include <assert.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "prefetch/manifest/internal.h"
#include "tests/lib/tree.h"

#define KILLS 20
#define LOADS 20
#define FOLDERS 200u
#define FILES 15u
#define CHANGES 600
#define PATIENCE (120 * CLOCK_S)

static struct tree tree;

static struct manifest *open_manifest(void)
{
	struct manifest *m = NULL;
	int r = manifest_open(&(struct manifest_options){ .source = tree.root }, &m);

	assert(r == 0);
	return m;
}

/* --- What the manifest must hold --------------------------------------------------------- */

struct sums { uint64_t files, bytes, names; };

static void compare_folder(struct manifest *m, const char *path, struct sums *sums)
{
	DIR *dir = opendir(tree_path(&tree, path));
	uint64_t names = 0, listed = 0, cookie = 0;
	struct manifest_dirent d;
	struct dirent *e;
	node_id folder;

	assert(dir && manifest_resolve(m, path, &folder) == 0);
	assert(current_listing(m, (uint32_t)folder - 1) != NONE);
	assert(!m->folders[folder - 1].detached);
	while ((e = readdir(dir))) {
		char below[PATH_MAX];
		struct attr a;
		struct stat st;

		if (e->d_name[0] == '.')
			continue;
		names++;
		assert(snprintf(below, sizeof(below), "%s%s%s", path, *path ? "/" : "",
				e->d_name) < (int)sizeof(below));
		assert(fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0);
		assert(manifest_lookup(m, folder, e->d_name, &a) == 0);
		assert(a.mode == st.st_mode && a.ino == st.st_ino);
		if (S_ISDIR(st.st_mode)) {
			compare_folder(m, below, sums);
			continue;
		}
		assert(a.size == (uint64_t)st.st_size);
		sums->files++;
		sums->bytes += a.size;
	}
	closedir(dir);
	while (manifest_next(m, folder, cookie, &d) == 1) {
		cookie = d.cookie;
		listed++;
	}
	assert(listed == names);
	sums->names += names;
}

/* All is there, each folder is named by its own entry, and a saved copy is believed. */
static void expect_whole(struct manifest *m)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
	struct manifest *copy = open_manifest();
	struct manifest_usage u = manifest_usage(m), v;
	struct sums sums = { 0 };

	compare_folder(m, "", &sums);
	assert(u.files == sums.files && u.bytes == sums.bytes);
	for (uint32_t i = 1; i < u.folders; i++) {
		const struct record *e = &m->entries[m->folders[i].entry];

		assert(is_folder(e) && e->size == i && e->folder == m->folders[i].parent);
	}
	assert(buf_printf(&path, "%s.saved", tree.root) == 0);
	assert(manifest_save(m, (char *)path.at) == 0);
	assert(manifest_load(copy, (char *)path.at) == 0);
	v = manifest_usage(copy);
	assert(u.files == v.files && u.bytes == v.bytes && u.folders == v.folders);
	assert(v.record_bytes <= u.record_bytes && u.name_bytes == v.name_bytes);
	assert(unlink((char *)path.at) == 0);
	manifest_close(copy);
}

/* --- Killed ------------------------------------------------------------------------------ */

/* A child that does its work and ends well, or is killed. */
static pid_t in_child(struct manifest *m, void (*work)(struct manifest *m))
{
	pid_t child = fork();

	assert(child >= 0);
	if (child > 0)
		return child;
	work(m);
	_exit(0);
}

static void scan_all(struct manifest *m)
{
	assert(manifest_scan(m, 4, NULL) == 0);
}

static void take_over(struct manifest *m)
{
	manifest_take_over(m);
	scan_all(m);
	expect_whole(m);
}

static void wait_for_entries(const struct manifest *m, pid_t child, uint32_t entries)
{
	uint64_t deadline = clock_now() + PATIENCE;
	siginfo_t ended = { 0 };

	while (manifest_entries(m) < entries && ended.si_pid == 0) {
		assert(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) == 0);
		assert(clock_now() < deadline);
		usleep(20);
	}
}

/* Was it in the middle of a listing? */
static bool kill_and_take_over(uint32_t entries)
{
	struct manifest *m = open_manifest();
	pid_t child = in_child(m, scan_all);
	bool amid;
	int status;

	wait_for_entries(m, child, entries);
	kill(child, SIGKILL);
	assert(waitpid(child, &status, 0) == child);
	assert(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	amid = m->head->writing;
	child = in_child(m, take_over);
	assert(waitpid(child, &status, 0) == child);
	assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	manifest_close(m);
	return amid;
}

/* --- Loaded under readers ------------------------------------------------------------------ */

static void *look_up_all(void *manifest)
{
	char path[64];

	for (unsigned i = 0; i < FOLDERS; i++) {
		struct attr a;
		node_id node;

		snprintf(path, sizeof(path), "%03u/%02u", i, i % FILES);
		assert(manifest_resolve(manifest, path, &node) == 0);
		assert(manifest_attr(manifest, node, &a) == 0 && a.size == i % FILES);
	}
	return NULL;
}

/* The lookups either find what was loaded or are first; then nothing is loaded. */
static bool load_under_lookups(const char *file)
{
	struct manifest *m = open_manifest();
	pthread_t threads[2];
	int r;

	for (size_t i = 0; i < DL_COUNT(threads); i++)
		assert(pthread_create(&threads[i], NULL, look_up_all, m) == 0);
	r = manifest_load(m, file);
	assert(r == 0 || r == -ESTALE);
	assert(manifest_scanned(m) == (r == 0));
	for (size_t i = 0; i < DL_COUNT(threads); i++)
		assert(pthread_join(threads[i], NULL) == 0);
	if (r < 0)
		scan_all(m);
	expect_whole(m);
	manifest_close(m);
	return r == 0;
}

static void load_many_times(void)
{
	dl_cleanup(buf_free) struct buf file = BUF_EMPTY;
	struct manifest *m = open_manifest();
	unsigned loaded = 0;

	assert(buf_printf(&file, "%s.state", tree.root) == 0);
	scan_all(m);
	assert(manifest_save(m, (char *)file.at) == 0);
	manifest_close(m);
	for (int i = 0; i < LOADS; i++)
		loaded += load_under_lookups((char *)file.at);
	printf("%d loads, %u of them before the first lookup\n", LOADS, loaded);
	assert(unlink((char *)file.at) == 0);
}

/* --- Changed under many readers ----------------------------------------------------------- */

static struct manifest *shared;
static _Atomic bool changed_all;

static void *change(void *arg)
{
	char folder[32], name[64];
	unsigned seed = 1;

	for (int i = 0; i < CHANGES; i++) {
		snprintf(folder, sizeof(folder), "%03u/new", (unsigned)rand_r(&seed) % FOLDERS);
		snprintf(name, sizeof(name), "%s/x", folder);
		if (mkdir(tree_path(&tree, folder), 0755) == 0)
			tree_file(&tree, name, (size_t)i);
		else if (rand_r(&seed) % 2)
			tree_drop(&tree, folder);
		else
			tree_file(&tree, name, (size_t)i);
		snprintf(name, sizeof(name), "%03u/%02u", (unsigned)rand_r(&seed) % FOLDERS,
			 (unsigned)rand_r(&seed) % (FILES * 2));
		if (unlink(tree_path(&tree, name)) < 0)
			tree_file(&tree, name, (size_t)i);
	}
	changed_all = true;
	return arg;
}

static void list_one(node_id folder)
{
	uint64_t cookie = 0;
	struct manifest_dirent d;
	char before[256] = "";

	while (manifest_next(shared, folder, cookie, &d) == 1) {
		assert(strcmp(before, d.name) < 0);
		assert(manifest_parent(shared, d.attr.node) == folder);
		assert(strcmp(manifest_name(shared, d.attr.node), d.name) == 0);
		strcpy(before, d.name);
		cookie = d.cookie;
	}
}

static void *look_up(void *seed)
{
	char path[64];

	while (!changed_all) {
		unsigned n = (unsigned)rand_r(seed);
		struct attr a;
		node_id node;

		snprintf(path, sizeof(path), n % 3 ? "%03u/%02u" : "%03u/new/x", n % FOLDERS,
			 n % (FILES * 2));
		if (manifest_resolve(shared, path, &node) == 0)
			assert(manifest_attr(shared, node, &a) == 0 && a.node == node);
		snprintf(path, sizeof(path), "%03u", n % FOLDERS);
		if (manifest_resolve(shared, path, &node) == 0)
			list_one(node);
	}
	return NULL;
}

static void on_replaced(void *context, struct manifest *m, node_id folder, uint32_t old,
			uint32_t now)
{
	assert(m == shared && old < now && m->listings[now].folder == folder - 1);
	atomic_fetch_add((_Atomic unsigned *)context, 1);
}

static void *refresh(void *arg)
{
	struct manifest_change change = { on_replaced, arg };

	assert(manifest_scan(shared, 2, NULL) == 0);
	while (!changed_all)
		assert(manifest_refresh(shared, 2, true, &change, NULL) >= 0);
	return NULL;
}

static void change_under_readers(void)
{
	_Atomic unsigned replaced = 0;
	unsigned seeds[2] = { 1, 2 };
	pthread_t threads[5];

	shared = open_manifest();
	assert(pthread_create(&threads[0], NULL, change, NULL) == 0);
	assert(pthread_create(&threads[1], NULL, look_up, &seeds[0]) == 0);
	assert(pthread_create(&threads[2], NULL, look_up, &seeds[1]) == 0);
	assert(pthread_create(&threads[3], NULL, refresh, &replaced) == 0);
	assert(pthread_create(&threads[4], NULL, refresh, &replaced) == 0);
	for (size_t i = 0; i < DL_COUNT(threads); i++)
		assert(pthread_join(threads[i], NULL) == 0);
	assert(manifest_refresh(shared, 4, true, NULL, NULL) >= 0);
	expect_whole(shared);
	printf("%u folders changed, %u entries in all\n", replaced, manifest_entries(shared));
	manifest_close(shared);
}

int main(void)
{
	char name[64];
	unsigned seed = 7, amid = 0;

	tree = tree_new();
	for (unsigned i = 0; i < FOLDERS; i++) {
		snprintf(name, sizeof(name), "%03u", i);
		tree_folder(&tree, name);
		for (unsigned k = 0; k < FILES; k++) {
			snprintf(name, sizeof(name), "%03u/%02u", i, k);
			tree_file(&tree, name, k);
		}
	}
	for (int i = 0; i < KILLS; i++)
		amid += kill_and_take_over(1 + (uint32_t)rand_r(&seed) % (FOLDERS * FILES));
	printf("%d scans killed, %u of them in the middle of a listing\n", KILLS, amid);
	load_many_times();
	change_under_readers();
	tree_drop(&tree, "");
	return 0;
}
