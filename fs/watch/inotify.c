/* inotify: a watch on each folder of the mount reports the name that was opened; no privilege, no
 * pid.  Our own opens look like any other, so they are announced before and left out. */
#include <string.h>
#include <sys/inotify.h>

#include "base/clock.h"
#include "base/lock.h"
#include "fs/watch/folders.h"

#define OWN_OPENS 256                  /* of us that may not have been reported yet */
#define OWN_PATIENCE (3 * CLOCK_S)     /* with the thread that hears of them */

struct ino {
	struct watch *watch;
	struct folders *folders;
	int fd;
	/* the thread's alone: */
	node_id *folder_of;            /* by watch descriptor */
	size_t folder_count;
	/* shared: */
	struct dl_lock lock;           /* guards what follows */
	pthread_cond_t reported;       /* one of own[] was */
	sample_id own[OWN_OPENS];
	size_t own_count;
	bool is_heard;                 /* they are reported, for all that is known */
};

static int remember(struct ino *n, int wd, node_id folder)
{
	size_t want = (size_t)wd + 1;
	node_id *more;

	if (want > n->folder_count) {
		want = DL_MAX(want, n->folder_count * 2);
		more = realloc(n->folder_of, want * sizeof(*more));
		if (!more)
			return -ENOMEM;
		memset(more + n->folder_count, 0, (want - n->folder_count) * sizeof(*more));
		n->folder_of = more;
		n->folder_count = want;
	}
	n->folder_of[wd] = folder;
	return 0;
}

static int mark(void *own, const char *path, node_id folder)
{
	struct ino *n = own;
	int wd = inotify_add_watch(n->fd, path, IN_OPEN | IN_ONLYDIR | IN_DONT_FOLLOW);

	return wd < 0 ? -errno : remember(n, wd, folder);
}

/* The others stay in their order, oldest first. */
static void drop_own(struct ino *n, size_t at)
{
	memmove(n->own + at, n->own + at + 1, (--n->own_count - at) * sizeof(n->own[0]));
}

static bool is_own(struct ino *n, sample_id id)
{
	DL_HOLD(&n->lock);
	for (size_t i = 0; i < n->own_count; i++) {
		if (n->own[i] == id) {
			drop_own(n, i);
			n->is_heard = true;
			pthread_cond_signal(&n->reported);
			return true;
		}
	}
	return false;
}

static void take(struct ino *n, const struct inotify_event *e, struct watch_batch *batch)
{
	struct serve *s = n->watch->serve;
	struct attr a;

	if (e->mask & IN_Q_OVERFLOW) {
		engine_overflow(s->engine);
		return;
	}
	if (e->len == 0 || e->mask & IN_ISDIR || e->wd < 0 || (size_t)e->wd >= n->folder_count ||
	    n->folder_of[e->wd] == 0)
		return;
	if (manifest_lookup(s->manifest, n->folder_of[e->wd], e->name, &a) == 0 &&
	    !node_is_folder(a.node) && !is_own(n, node_sample(a.node)))
		watch_add(batch, a.node, 0);
}

static size_t take_all(void *own)
{
	_Alignas(struct inotify_event) char events[65536];
	struct ino *n = own;
	struct watch_batch batch = { .serve = n->watch->serve, .count = 0 };
	size_t count = 0;
	ssize_t len;

	while ((len = read(n->fd, events, sizeof(events))) > 0) {
		for (ssize_t at = 0; at < len; count++) {
			const struct inotify_event *e = (const void *)(events + at);

			take(n, e, &batch);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	}
	watch_tell(&batch);
	return count;
}

static const struct folders_ops by_folder = { .mark = mark, .take_all = take_all };

static void ino_free(struct ino *n)
{
	folders_free(n->folders);
	if (n->fd >= 0)
		close(n->fd);
	pthread_cond_destroy(&n->reported);
	dl_lock_fini(&n->lock);
	free(n->folder_of);
	free(n);
}

static int start(struct watch *w)
{
	struct ino *n = calloc(1, sizeof(*n));
	int r;

	if (!n)
		return -ENOMEM;
	dl_lock_init(&n->lock);
	dl_cond_init(&n->reported);
	n->is_heard = true;
	n->watch = w;
	n->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	r = n->fd < 0 ? -errno : folders_start(w, &by_folder, n, n->fd, &n->folders);
	if (r < 0) {
		ino_free(n);
		return r;
	}
	w->own = n;
	return 0;
}

static void folder(struct watch *w, node_id node)
{
	struct ino *n = w->own;

	folders_known(n->folders, node);
}

/* Many are forgotten at once, and the thread gets a processor now and then.  Of a folder without a
 * watch nothing is reported: that is waited for once. */
static void await_report(struct ino *n)
{
	uint64_t deadline = clock_now() + OWN_PATIENCE;

	dl_assert_held(&n->lock);
	while (n->is_heard && n->own_count == OWN_OPENS)
		if (!dl_cond_wait_until(&n->reported, &n->lock, deadline))
			n->is_heard = false;
}

static void own_open(struct watch *w, sample_id id)
{
	struct ino *n = w->own;

	DL_HOLD(&n->lock);
	await_report(n);
	if (n->own_count == OWN_OPENS)         /* it never will be */
		drop_own(n, 0);
	n->own[n->own_count++] = id;
}

static void stop(struct watch *w)
{
	struct ino *n = w->own;

	folders_stop(n->folders);
	DL_HOLD(&n->lock);
	n->is_heard = false;
	pthread_cond_broadcast(&n->reported);
}

static void free_own(struct watch *w)
{
	ino_free(w->own);
}

const struct watch_ops watch_inotify = {
	.name = "inotify", .start = start, .folder = folder, .own_open = own_open, .stop = stop,
	.free = free_own,
};
