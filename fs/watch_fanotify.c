/* fanotify: one mark on the mount's file system reports every open, wherever it is seen from,
 * with the pid of the opener. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>

#include "fs/watch.h"

/* A FUSE file handle: the node's high and low half, and its generation (fs/fuse/inode.c). */
#define HANDLE_TYPE 0x81
#define HANDLE_WORDS 3

struct fan {
	struct watch *watch;
	int fd, stop;
	pid_t self, parent;
	pthread_t thread;
};

/* Asks nobody: the handle is made from the inode in memory. */
static bool node_of(int fd, node_id *ret)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} h = { .handle.handle_bytes = MAX_HANDLE_SZ };
	uint32_t words[HANDLE_WORDS];
	int mount_id;

	if (name_to_handle_at(fd, "", &h.handle, &mount_id, AT_EMPTY_PATH) < 0 ||
	    h.handle.handle_type != HANDLE_TYPE || h.handle.handle_bytes < sizeof(words))
		return false;
	memcpy(words, h.handle.f_handle, sizeof(words));
	*ret = (uint64_t)words[0] << 32 | words[1];
	return true;
}

static void take(struct fan *f, const struct fanotify_event_metadata *event)
{
	node_id node;

	if (event->mask & FAN_Q_OVERFLOW) {
		engine_overflow(f->watch->serve->engine);
		return;
	}
	if (event->fd < 0)
		return;
	if (event->pid != f->self && event->pid != f->parent && node_of(event->fd, &node))
		watch_opened(f->watch->serve, node, (uint32_t)event->pid);
	close(event->fd);
}

static void *fan_main(void *arg)
{
	struct fan *f = arg;
	struct pollfd waits[] = {
		{ .fd = f->fd, .events = POLLIN },
		{ .fd = f->stop, .events = POLLIN },
	};
	_Alignas(struct fanotify_event_metadata) char events[16384];

	while (poll(waits, 2, -1) >= 0 || errno == EINTR) {
		const struct fanotify_event_metadata *e = (const void *)events;
		ssize_t len;

		if (waits[1].revents)
			break;
		watch_gather();
		len = read(f->fd, events, sizeof(events));
		for (; len > 0 && FAN_EVENT_OK(e, len); e = FAN_EVENT_NEXT(e, len))
			take(f, e);
	}
	return NULL;
}

static int open_mark(const char *mountpoint)
{
	unsigned flags = FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK;
	int fd = fanotify_init(flags | FAN_UNLIMITED_QUEUE, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_OPEN, AT_FDCWD,
			  mountpoint) < 0) {
		int error = errno;

		close(fd);
		return -error;
	}
	return fd;
}

static void fan_free(struct fan *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->stop >= 0)
		close(f->stop);
	free(f);
}

static int start(struct watch *w)
{
	struct fan *f = malloc(sizeof(*f));
	int r = 0;

	if (!f)
		return -ENOMEM;
	*f = (struct fan){ .watch = w, .self = getpid(), .parent = getppid(), .stop = -1 };
	f->fd = open_mark(w->serve->options->mountpoint);
	if (f->fd < 0)
		r = f->fd;
	else if ((f->stop = eventfd(0, EFD_CLOEXEC)) < 0)
		r = -errno;
	else
		r = -pthread_create(&f->thread, NULL, fan_main, f);
	if (r < 0) {
		fan_free(f);
		return r;
	}
	w->own = f;
	return 0;
}

static void stop(struct watch *w)
{
	struct fan *f = w->own;

	eventfd_write(f->stop, 1);
	pthread_join(f->thread, NULL);
}

static void free_own(struct watch *w)
{
	fan_free(w->own);
}

const struct watch_ops watch_fanotify = {
	.name = "fanotify", .start = start, .stop = stop, .free = free_own,
};
