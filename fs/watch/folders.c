#include "fs/watch/folders.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "base/log.h"

#define PAUSE_NS (2 * CLOCK_MS)
#define MANY 4                          /* opens in a pause */
#define COPY_FOLDERS 256               /* marked through one copy of the mount */

struct folders {
	struct watch *watch;
	const struct folders_ops *ops;
	void *own;
	int fd, news;                  /* news: an eventfd; folders to add, or the end */
	pthread_t thread;
	dev_t device;                  /* of the mount */
	int copy;                      /* of the mount, or -1; the thread's alone, as is next */
	node_id next;                  /* folders below have a mark */
	bool complained;
	_Atomic bool stopping;
	_Atomic node_id known;         /* the highest folder there is */
};

static int device_of(int at, const char *path, dev_t *ret)
{
	int flags = AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	struct statx st;

	if (statx(at, path, flags, STATX_TYPE, &st) < 0)
		return -errno;
	*ret = makedev(st.stx_dev_major, st.stx_dev_minor);
	return 0;
}

static void close_copy(struct folders *f)
{
	if (f->copy >= 0)
		close(f->copy);
	f->copy = -1;
}

/* Each walk to a folder keeps the mount busy that it goes through, and many folders take a while.
 * So they are walked to in a copy that nobody else sees, where we may make one.  It keeps the
 * connection, so it does not live long.  False: something else lies at that place by now. */
static bool renew_copy(struct folders *f)
{
	dev_t device;

	close_copy(f);
	f->copy = open_tree(AT_FDCWD, f->watch->serve->options->mountpoint,
			    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	return f->copy < 0 || (device_of(f->copy, "", &device) == 0 && device == f->device);
}

/* The mount, or its copy, with a slash behind. */
static int add_root(const struct folders *f, struct buf *path)
{
	return f->copy < 0 ? buf_printf(path, "%s/", f->watch->serve->options->mountpoint)
			   : buf_printf(path, "/proc/self/fd/%d/", f->copy);
}

/* A folder that is gone meanwhile, or that we may not enter, needs no mark. */
static int mark(struct folders *f, node_id folder)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
	struct serve *s = f->watch->serve;
	int r = add_root(f, &path);

	if (r == 0)
		r = manifest_path(s->manifest, folder, &path);
	if (r == 0)
		r = f->ops->mark(f->own, (char *)path.at, folder);
	return r == -ENOENT || r == -ENOTDIR || r == -EACCES ? 0 : r;
}

static void add_news(struct folders *f)
{
	for (unsigned i = 0; f->next <= f->known && !f->stopping; i++) {
		int r;

		if (i % COPY_FOLDERS == 0 && !renew_copy(f))
			break;
		r = mark(f, f->next++);
		if (r == -ENOSPC && !f->complained) {
			log_warning("no %s watch is left: opens in some folders are not seen; "
				    "raise sysctl fs.inotify.max_user_watches",
				    f->watch->ops->name);
			f->complained = true;
		}
	}
	close_copy(f);
}

/* The first open wakes us; then we come back every so often while there are many, so that opens
 * wake nobody, and what is behind us takes many at once. */
static void *folders_main(void *arg)
{
	struct folders *f = arg;
	struct pollfd waits[] = {
		{ .fd = f->news, .events = POLLIN },
		{ .fd = f->fd, .events = POLLIN },
	};
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	bool flowing = false;
	eventfd_t count;

	while (!f->stopping) {
		int r = ppoll(waits, flowing ? 1 : 2, flowing ? &pause : NULL, NULL);

		if (r < 0 && errno != EINTR)
			break;
		if (r > 0 && waits[0].revents && eventfd_read(f->news, &count) == 0)
			add_news(f);
		if (flowing)
			flowing = f->ops->take_all(f->own) >= MANY;
		else
			flowing = r > 0 && waits[1].revents;
	}
	return NULL;
}

void folders_free(struct folders *f)
{
	if (f && f->news >= 0)
		close(f->news);
	free(f);
}

int folders_start(struct watch *w, const struct folders_ops *ops, void *own, int fd,
		  struct folders **ret)
{
	struct folders *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	f->watch = w;
	f->ops = ops;
	f->own = own;
	f->fd = fd;
	f->copy = -1;
	f->known = f->next = NODE_ROOT;
	f->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = f->news < 0 ? -errno : mark(f, f->next++);
	if (r == 0)
		r = device_of(AT_FDCWD, w->serve->options->mountpoint, &f->device);
	if (r == 0)
		r = -pthread_create(&f->thread, NULL, folders_main, f);
	if (r < 0) {
		folders_free(f);
		return r;
	}
	*ret = f;
	return 0;
}

void folders_known(struct folders *f, node_id node)
{
	node_id known = f->known;

	while (node > known)
		if (atomic_compare_exchange_weak(&f->known, &known, node)) {
			eventfd_write(f->news, 1);
			return;
		}
}

void folders_stop(struct folders *f)
{
	f->stopping = true;
	eventfd_write(f->news, 1);
	pthread_join(f->thread, NULL);
}
