#include "fs/watch_folders.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/log.h"

#define PAUSE_NS (2 * CLOCK_MS)
#define MANY 4                          /* opens in a pause */

struct folders {
	struct watch *watch;
	const struct folders_ops *ops;
	void *own;
	int fd, news;                  /* news: an eventfd; folders to add, or the end */
	pthread_t thread;
	node_id next;                  /* folders below have a mark; the thread's alone */
	bool complained;
	_Atomic bool stopping;
	_Atomic node_id known;         /* the highest folder there is */
};

/* A folder that is gone meanwhile, or that we may not enter, needs no mark. */
static int mark(struct folders *f, node_id folder)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
	struct serve *s = f->watch->serve;
	int r = buf_printf(&path, "%s/", s->options->mountpoint);

	if (r == 0)
		r = manifest_path(s->manifest, folder, &path);
	if (r == 0)
		r = buf_append(&path, "", 1);
	if (r == 0)
		r = f->ops->mark(f->own, (char *)path.at, folder);
	return r == -ENOENT || r == -ENOTDIR || r == -EACCES ? 0 : r;
}

static void add_news(struct folders *f)
{
	while (f->next <= f->known && !f->stopping) {
		int r = mark(f, f->next++);

		if (r == -ENOSPC && !f->complained) {
			log_warning("no %s watch is left: opens in some folders are not seen; "
				    "raise sysctl fs.inotify.max_user_watches",
				    f->watch->ops->name);
			f->complained = true;
		}
	}
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
	f->known = f->next = NODE_ROOT;
	f->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = f->news < 0 ? -errno : mark(f, f->next++);
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
