/* fanotify: every open, with the pid of the opener.
 *
 * A mark on each folder reports the file's handle, where the kernel allows that without an id of
 * the file system (FUSE has none; 6.8 and newer).  Else one mark on the whole file system reports
 * a descriptor, which costs several times as much, and keeps the mount busy until it is read. */
#include <fcntl.h>
#include <string.h>
#include <sys/fanotify.h>

#include "fs/watch/folders.h"

/* A FUSE file handle: the node's high and low half, and its generation (fs/fuse/inode.c). */
#define HANDLE_TYPE 0x81
#define HANDLE_WORDS 3

struct fan {
	struct watch *watch;
	struct folders *folders;
	int fd;
	bool by_handle;
	pid_t self, parent;
};

static bool node_of_handle(const struct file_handle *h, node_id *ret)
{
	uint32_t words[HANDLE_WORDS];

	if (h->handle_type != HANDLE_TYPE || h->handle_bytes < sizeof(words))
		return false;
	memcpy(words, h->f_handle, sizeof(words));
	*ret = (uint64_t)words[0] << 32 | words[1];
	return true;
}

/* Asks nobody: the handle is made from the inode in memory. */
static bool node_of_descriptor(int fd, node_id *ret)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} h = { .handle.handle_bytes = MAX_HANDLE_SZ };
	int mount_id;

	return name_to_handle_at(fd, "", &h.handle, &mount_id, AT_EMPTY_PATH) == 0 &&
	       node_of_handle(&h.handle, ret);
}

static bool node_of_event(const struct fanotify_event_metadata *event, node_id *ret)
{
	const struct fanotify_event_info_fid *info = (const void *)(event + 1);

	if (event->fd >= 0)
		return node_of_descriptor(event->fd, ret);
	return event->event_len >= sizeof(*event) + sizeof(*info) + sizeof(struct file_handle) +
				   HANDLE_WORDS * sizeof(uint32_t) &&
	       info->hdr.info_type == FAN_EVENT_INFO_TYPE_FID &&
	       node_of_handle((const void *)info->handle, ret);
}

static void take(const struct fan *f, const struct fanotify_event_metadata *event,
		 struct watch_batch *batch)
{
	node_id node;

	if (event->mask & FAN_Q_OVERFLOW)
		engine_overflow(f->watch->serve->engine);
	else if (event->pid != f->self && event->pid != f->parent && node_of_event(event, &node))
		watch_add(batch, node, (uint32_t)event->pid);
	if (event->fd >= 0)
		close(event->fd);
}

static size_t take_all(void *own)
{
	_Alignas(struct fanotify_event_metadata) char events[65536];
	struct fan *f = own;
	struct watch_batch batch = { .serve = f->watch->serve, .count = 0 };
	size_t count = 0;
	ssize_t len;

	while ((len = read(f->fd, events, sizeof(events))) > 0) {
		const struct fanotify_event_metadata *e = (const void *)events;

		for (; FAN_EVENT_OK(e, len); e = FAN_EVENT_NEXT(e, len), count++)
			take(f, e, &batch);
	}
	watch_tell(&batch);
	return count;
}

static int mark(void *own, const char *path, node_id folder)
{
	const struct fan *f = own;
	unsigned flags = FAN_MARK_ADD | FAN_MARK_ONLYDIR | FAN_MARK_DONT_FOLLOW;
	uint64_t mask = FAN_OPEN | FAN_EVENT_ON_CHILD;

	if (!f->by_handle && folder != NODE_ROOT)
		return 0;
	if (!f->by_handle) {
		flags = FAN_MARK_ADD | FAN_MARK_FILESYSTEM;
		mask = FAN_OPEN;
	}
	return fanotify_mark(f->fd, flags, mask, AT_FDCWD, path) < 0 ? -errno : 0;
}

static const struct folders_ops by_folder = { .mark = mark, .take_all = take_all };

static int begin(struct fan *f, bool by_handle)
{
	unsigned flags = FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE |
			 FAN_UNLIMITED_MARKS | (by_handle ? FAN_REPORT_FID : 0);
	int r;

	f->by_handle = by_handle;
	f->fd = fanotify_init(flags, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (f->fd < 0)
		return -errno;
	r = folders_start(f->watch, &by_folder, f, f->fd, &f->folders);
	if (r < 0)
		close(f->fd);
	return r;
}

static int start(struct watch *w)
{
	struct fan *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	*f = (struct fan){ .watch = w, .self = getpid(), .parent = getppid() };
	r = begin(f, true);
	if (r < 0)
		r = begin(f, false);
	if (r < 0) {
		free(f);
		return r;
	}
	w->own = f;
	return 0;
}

static void folder(struct watch *w, node_id node)
{
	const struct fan *f = w->own;

	folders_known(f->folders, node);
}

static void stop(struct watch *w)
{
	const struct fan *f = w->own;

	folders_stop(f->folders);
}

static void free_own(struct watch *w)
{
	struct fan *f = w->own;

	folders_free(f->folders);
	close(f->fd);
	free(f);
}

const struct watch_ops watch_fanotify = {
	.name = "fanotify", .start = start, .folder = folder, .stop = stop, .free = free_own,
};
