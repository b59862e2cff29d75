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
	uint32_t next, known;          /* folders below `known` may be worked on */
	unsigned busy;
	int error;
};

/* Folders whose listing above is there as well: the counter itself rises earlier. */
static uint32_t published(struct manifest *m)
{
	DL_HOLD(&m->writer);
	return m->head->folders;
}

static bool has_next(struct walk *w)
{
	if (w->next >= w->known)
		w->known = published(w->m);
	return w->next < w->known;
}

/* The next folder, waiting while others may still find some; NONE: all is done. */
static uint32_t walk_next(struct walk *w)
{
	DL_HOLD(&w->lock);
	for (;;) {
		if (w->error == 0 && w->stop && *w->stop)
			w->error = -ECANCELED;
		if (w->error < 0)
			return NONE;
		if (has_next(w)) {
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

/* Run work(context, folder) once for every folder, also those that are found meanwhile, on
 * `threads` threads.  The first error ends it. */
static int each_folder(struct manifest *m, unsigned threads, const _Atomic bool *stop,
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

/* A folder that cannot be read now stays unread: the next lookup in it tries again.  Without the
 * root nothing is known, and what this process lacks it lacks for all folders. */
static int pass_over(uint32_t folder, int r)
{
	bool ours = r == -ENOMEM || r == -EMFILE || r == -ENFILE || r == -ENOSPC;

	return r < 0 && (folder == 0 || ours) ? r : 0;
}

static int scan_folder(void *context, uint32_t folder)
{
	struct manifest *m = context;

	if (m->folders[folder].detached)
		return 0;
	return pass_over(folder, (int)DL_MIN(listing_ensure(m, folder), INT64_C(0)));
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
	const _Atomic bool *stop;
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

/* 1: it has changed; 0: it has not; -EAGAIN: another thread was first, with what it had read. */
static int refresh_once(struct refresh *r, uint32_t folder)
{
	dl_cleanup(draft_free) struct draft d = { 0 };
	uint32_t old = current_listing(r->m, folder);
	int64_t now;
	int result;

	if (r->m->folders[folder].detached || (old != NONE && surely_unchanged(r, folder, old)))
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
	if (old == NONE)
		return 1;
	if (r->change && r->change->replaced)
		r->change->replaced(r->change->context, r->m, (node_id)folder + 1, old,
				    (uint32_t)now);
	else
		manifest_release(r->m, old, (uint32_t)now);
	return 1;
}

static int refresh_folder(struct refresh *r, uint32_t folder)
{
	int changed = refresh_once(r, folder);

	while (changed == -EAGAIN && !(r->stop && *r->stop))
		changed = refresh_once(r, folder);
	return changed;
}

static int refresh_each(void *context, uint32_t folder)
{
	struct refresh *r = context;
	int changed = refresh_folder(r, folder);

	if (changed > 0)
		r->changed++;
	return pass_over(folder, changed);
}

int manifest_refresh(struct manifest *m, unsigned threads, bool files,
		     const struct manifest_change *change, const _Atomic bool *stop)
{
	struct refresh r = { .m = m, .files = files, .change = change, .stop = stop };
	int error = each_folder(m, threads, stop, refresh_each, &r);

	if (error < 0)
		return error;
	m->head->scanned = true;
	return r.changed;
}

int manifest_refresh_folder(struct manifest *m, node_id folder,
			    const struct manifest_change *change)
{
	struct refresh r = { .m = m, .files = true, .change = change };

	if (!node_is_folder(folder) || folder == 0 || folder > m->head->folders)
		return -ENOENT;
	return refresh_folder(&r, (uint32_t)folder - 1);
}
