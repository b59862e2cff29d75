/* inotify: a watch on each folder of the mount reports the name that was opened; no privilege, no
 * pid.  Our own opens look like any other, so they are announced before and left out. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

#include "base/lock.h"
#include "base/log.h"
#include "fs/watch.h"

#define OWN_OPENS 256                  /* of us that may not have been reported yet */

struct ino {
	struct watch *watch;
	int fd, news;                  /* news: an eventfd; folders to add, or the end */
	pthread_t thread;
	/* the thread's alone: */
	node_id *folder_of;            /* by watch descriptor */
	size_t folder_count;
	node_id next;                  /* folders below have a watch */
	bool complained;
	/* shared: */
	_Atomic bool stopping;
	_Atomic node_id known;         /* the highest folder there is */
	struct dl_lock lock;
	sample_id own[OWN_OPENS];
	size_t own_count;
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

/* The path leads through the mount; a folder that is gone meanwhile needs no watch. */
static int add_watch(struct ino *n, node_id folder)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
	struct serve *s = n->watch->serve;
	int r = buf_printf(&path, "%s/", s->options->mountpoint), wd;

	if (r == 0)
		r = manifest_path(s->manifest, folder, &path);
	if (r == 0)
		r = buf_append(&path, "", 1);
	if (r < 0)
		return r;
	wd = inotify_add_watch(n->fd, (char *)path.at, IN_OPEN | IN_ONLYDIR | IN_DONT_FOLLOW);
	if (wd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : -errno;
	return remember(n, wd, folder);
}

static void add_news(struct ino *n)
{
	while (n->next <= n->known && !n->stopping) {
		int r = add_watch(n, n->next++);

		if (r == -ENOSPC && !n->complained) {
			log_warning("no inotify watch is left: opens in some folders are not seen; "
				    "raise sysctl fs.inotify.max_user_watches");
			n->complained = true;
		}
	}
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
			return true;
		}
	}
	return false;
}

static void take(struct ino *n, const struct inotify_event *e)
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
		watch_opened(s, a.node, 0);
}

static void take_all(struct ino *n)
{
	_Alignas(struct inotify_event) char events[65536];
	ssize_t len;

	while ((len = read(n->fd, events, sizeof(events))) > 0) {
		for (ssize_t at = 0; at < len;) {
			const struct inotify_event *e = (const void *)(events + at);

			take(n, e);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	}
}

static void *ino_main(void *arg)
{
	struct ino *n = arg;
	struct pollfd waits[] = {
		{ .fd = n->fd, .events = POLLIN },
		{ .fd = n->news, .events = POLLIN },
	};
	eventfd_t count;

	while (!n->stopping && (poll(waits, 2, -1) >= 0 || errno == EINTR)) {
		if (waits[1].revents && eventfd_read(n->news, &count) == 0)
			add_news(n);
		if (waits[0].revents) {
			watch_gather();
			take_all(n);
		}
	}
	return NULL;
}

static void ino_free(struct ino *n)
{
	if (n->fd >= 0)
		close(n->fd);
	if (n->news >= 0)
		close(n->news);
	dl_lock_fini(&n->lock);
	free(n->folder_of);
	free(n);
}

/* The root's watch tells at once whether any can be had. */
static int start(struct watch *w)
{
	struct ino *n = calloc(1, sizeof(*n));
	int r;

	if (!n)
		return -ENOMEM;
	dl_lock_init(&n->lock);
	n->watch = w;
	n->next = n->known = NODE_ROOT;
	n->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	n->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = n->fd < 0 || n->news < 0 ? -errno : add_watch(n, n->next++);
	if (r == 0)
		r = -pthread_create(&n->thread, NULL, ino_main, n);
	if (r < 0) {
		ino_free(n);
		return r;
	}
	w->own = n;
	return 0;
}

/* Folders are numbered as they are found: the highest number says it all. */
static void folder(struct watch *w, node_id node)
{
	struct ino *n = w->own;
	node_id known = n->known;

	while (node > known)
		if (atomic_compare_exchange_weak(&n->known, &known, node)) {
			eventfd_write(n->news, 1);
			return;
		}
}

static void own_open(struct watch *w, sample_id id)
{
	struct ino *n = w->own;

	DL_HOLD(&n->lock);
	if (n->own_count == OWN_OPENS)         /* the oldest was reported, or never will be */
		drop_own(n, 0);
	n->own[n->own_count++] = id;
}

static void stop(struct watch *w)
{
	struct ino *n = w->own;

	n->stopping = true;
	eventfd_write(n->news, 1);
	pthread_join(n->thread, NULL);
}

static void free_own(struct watch *w)
{
	ino_free(w->own);
}

const struct watch_ops watch_inotify = {
	.name = "inotify", .start = start, .folder = folder, .own_open = own_open, .stop = stop,
	.free = free_own,
};
