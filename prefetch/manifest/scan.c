/* Going through all folders, with several threads: the first scan, and looking for changes.
 *
 * Folders are numbered as they are found, so "the next one to read" is a counter: whoever
 * reads a folder appends its sub-folders to the table that the counter runs through.
 */
#include <pthread.h>
#include <string.h>

#include "prefetch/manifest/internal.h"

#define THREADS_MAX 64
/* A file system's clock may tick this slowly: what was read so soon after a change may have
 * changed again within the same tick. */
#define UNSURE_NS INT64_C(2000000000)

struct walk {
	struct manifest *m;
	const _Atomic bool *stop;
	int (*work)(void *context, uint32_t folder);
	void *context;
	struct dl_lock lock;           /* guards the rest */
	pthread_cond_t changed;
	uint32_t next;
	unsigned busy;
	int error;
};

/* The next folder, waiting while others may still find some; NONE: all is done. */
static uint32_t walk_next(struct walk *w)
{
	DL_HOLD(&w->lock);
	for (;;) {
		if (w->error == 0 && w->stop && *w->stop)
			w->error = -ECANCELED;
		if (w->error < 0)
			return NONE;
		if (w->next < w->m->head->folders) {
			w->busy++;
			return w->next++;
		}
		if (w->busy == 0)
			return NONE;
		dl_cond_wait(&w->changed, &w->lock);
	}
}

static void walk_done(struct walk *w, int result)
{
	DL_HOLD(&w->lock);
	w->busy--;
	if (result < 0 && w->error == 0)
		w->error = result;
	pthread_cond_broadcast(&w->changed);
}

static void *walker(void *arg)
{
	struct walk *w = arg;
	uint32_t folder;

	while ((folder = walk_next(w)) != NONE)
		walk_done(w, w->work(w->context, folder));
	return NULL;
}

int each_folder(struct manifest *m, unsigned threads, const _Atomic bool *stop,
		int (*work)(void *context, uint32_t folder), void *context)
{
	struct walk w = { .m = m, .stop = stop, .work = work, .context = context };
	pthread_t others[THREADS_MAX];
	unsigned started = 0;

	dl_lock_init(&w.lock);
	dl_cond_init(&w.changed);
	while (started + 1 < DL_MIN(threads, (unsigned)THREADS_MAX) &&
	       pthread_create(&others[started], NULL, walker, &w) == 0)
		started++;
	walker(&w);
	while (started > 0)
		pthread_join(others[--started], NULL);
	pthread_cond_destroy(&w.changed);
	dl_lock_fini(&w.lock);
	return w.error;
}

static int scan_folder(void *context, uint32_t folder)
{
	int64_t r = listing_ensure(context, folder);

	return r < 0 ? (int)r : 0;
}

int manifest_scan(struct manifest *m, unsigned threads, const _Atomic bool *stop)
{
	int r = each_folder(m, threads, stop, scan_folder, m);

	if (r == 0)
		m->head->scanned = true;
	return r;
}

bool manifest_scanned(const struct manifest *m)
{
	return m->head->scanned;
}

struct refresh {
	struct manifest *m;
	bool files;
	const struct manifest_change *change;
	_Atomic int changed;
};

static bool surely_unchanged(struct refresh *r, uint32_t folder, uint32_t listing)
{
	const struct listing *l = &r->m->listings[listing];
	struct stamp now;

	if (r->files || l->error < 0 || draft_stamp(r->m, folder, &now) < 0)
		return false;
	return memcmp(&now, &l->stamp, sizeof(now)) == 0 &&
		l->read_at - DL_MAX(now.mtime_ns, now.ctime_ns) > UNSURE_NS;
}

/* Is the folder still named by its parent's listing? */
static bool reachable(const struct manifest *m, uint32_t folder)
{
	const struct folder *f = &m->folders[folder];
	const struct record *named;
	uint32_t listing, entry;

	if (f->entry == NONE)
		return true;
	listing = current_listing(m, f->parent);
	named = &m->entries[f->entry];
	if (listing == NONE)
		return true;
	entry = listing_find(m, listing, name_of(m, named), named->name_len);
	return entry != NONE && is_folder(&m->entries[entry]) && m->entries[entry].size == folder;
}

static int refresh_folder(void *context, uint32_t folder)
{
	struct refresh *r = context;
	dl_cleanup(draft_free) struct draft d = { 0 };
	uint32_t old = current_listing(r->m, folder);
	int64_t now;
	int result;

	if (!reachable(r->m, folder))
		return 0;
	if (old != NONE && surely_unchanged(r, folder, old))
		return 0;
	result = draft_read(r->m, folder, &d);
	if (result < 0)
		return result;
	if (old != NONE && draft_equals(r->m, &d, old)) {
		r->m->listings[old].read_at = d.read_at;
		return 0;
	}
	now = draft_publish(r->m, folder, &d, old + 1);
	if (now < 0)
		return (int)now;
	r->changed++;
	if (old != NONE && r->change && r->change->replaced)
		r->change->replaced(r->change->context, r->m, (node_id)folder + 1, old,
				    (uint32_t)now);
	return 0;
}

int manifest_refresh(struct manifest *m, unsigned threads, bool files,
		     const struct manifest_change *change, const _Atomic bool *stop)
{
	struct refresh r = { .m = m, .files = files, .change = change };
	int error = each_folder(m, threads, stop, refresh_folder, &r);

	if (error < 0)
		return error;
	m->head->scanned = true;
	return r.changed;
}

int manifest_refresh_folder(struct manifest *m, node_id folder,
			    const struct manifest_change *change)
{
	struct refresh r = { .m = m, .files = true, .change = change };
	int error;

	if (!node_is_folder(folder) || folder == 0 || folder > m->head->folders)
		return -ENOENT;
	error = refresh_folder(&r, (uint32_t)folder - 1);
	return error < 0 ? error : r.changed;
}
