#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "prefetch/store/disk_folder.h"
#include "prefetch/store/disk_writer.h"

#define SEGMENT_MOST (64 * MiB)
#define PATIENCE (CLOCK_S / 2)
#define DYING CLOCK_S
#define DYING_AS_HEIR (CLOCK_S / 5)    /* who waits for it to open has readers waiting */
#define SEGMENTS 256u                  /* at least, when the store is full */
#define INDEX_PAGES (32 * KiB)         /* that a change in the index may add, at most */

static int owner_of(int fd)
{
	char text[16] = "";

	return file_fill(fd, text, sizeof(text) - 1) > 0 ? atoi(text) : 0;
}

/* A lock of the open file, not of the process: it ends with its holder, however that ends. */
static int take_lock(int folder, int *ret_pid)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = openat(folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	char pid[16];
	int r = 0;

	if (fd < 0)
		return -errno;
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0)
		r = errno == EACCES || errno == EAGAIN ? -EWOULDBLOCK : -errno;
	if (r == -EWOULDBLOCK)
		*ret_pid = owner_of(fd);
	if (r < 0) {
		close(fd);
		return r;
	}
	/* On a full disk nobody is told who has it. */
	snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	if (ftruncate(fd, 0) == 0 && pwrite(fd, pid, strlen(pid), 0) < 0)
		return fd;
	return fd;
}

/* --- Online and offline -------------------------------------------------------------------- */

bool disk_enter(struct disk *d, unsigned *ret_turn)
{
	*ret_turn = grace_enter(&d->inside);
	if (atomic_load(&d->online))
		return true;
	grace_leave(&d->inside, *ret_turn);
	return false;
}

static void let_go(struct disk *d)
{
	index_close(DL_TAKE(d->index));
	dl_closep(&d->folder);
	dl_closep(&d->lock_file);
	d->folder = d->lock_file = -1;
	d->count = 0;
}

int disk_come(struct disk *d, int *ret_pid)
{
	int r = d->folder = disk_folder_open(d->path);

	if (r >= 0)
		r = d->lock_file = take_lock(d->folder, ret_pid);
	if (r >= 0)
		r = disk_load(d);
	if (r < 0) {
		let_go(d);
		return r;
	}
	d->distrust = false;
	atomic_store(&d->full, false);
	atomic_store(&d->online, true);
	return 0;
}

void disk_go(struct disk *d)
{
	atomic_store(&d->online, false);
	while (!grace_wait(&d->inside, clock_now() + CLOCK_S))
		;
	let_go(d);
}

bool disk_lost(struct disk *d)
{
	struct stat now, ours;

	if (index_broken(d->index))
		return true;
	if (fstat(d->folder, &ours) == 0 && stat(d->path, &now) == 0 &&
	    now.st_ino == ours.st_ino && now.st_dev == ours.st_dev)
		return false;
	/* What is at the path now is somebody else's. */
	index_abandon(d->index);
	return true;
}

/* --- Open and close ------------------------------------------------------------------------ */

static void disk_free(struct disk *d)
{
	let_go(d);
	dl_lock_fini(&d->lock);
	pthread_cond_destroy(&d->wake);
	pthread_cond_destroy(&d->idled);
	free(d->segments);
	keep_rule_free(d->rule);
	buf_free(&d->dataset);
	free(d->path);
	free(d);
}

static struct disk *disk_new(const struct disk_options *o)
{
	struct disk *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->folder = d->lock_file = -1;
	d->size = o->size;
	d->records_most = o->records ? o->records : UINT64_MAX;
	d->keep_free = o->keep_free;
	d->patient = o->patient;
	d->distrust = o->distrust;
	d->zstd = o->zstd;
	d->ask_dataset = o->dataset;
	d->context = o->context;
	d->queue_most = o->queue ? o->queue : QUEUE_MOST;
	d->segment_most = DL_MIN(SEGMENT_MOST, o->size / SEGMENTS);
	d->batch_most = DL_MIN(o->size / SEGMENTS / 2 / INDEX_PAGES, BATCH_MOST - 8) + 8;
	d->margin = d->batch_most * INDEX_PAGES;
	dl_lock_init(&d->lock);
	dl_cond_init(&d->wake);
	dl_cond_init(&d->idled);
	d->path = strdup(o->folder);
	if (!d->path) {
		disk_free(d);
		return NULL;
	}
	return d;
}

static bool has_owner(const struct disk *d, int *ret_pid)
{
	dl_cleanup(dl_closep) int folder = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dl_cleanup(dl_closep) int lock = folder < 0 || disk_folder_check(folder) < 0 ? -1 :
		take_lock(folder, ret_pid);

	return lock == -EWOULDBLOCK;
}

/* That another process has it is told before anything else.  One that was just killed has it until
 * the kernel is done with it. */
static int look_for_owner(const struct disk *d, uint64_t patience, int *ret_pid)
{
	uint64_t deadline = clock_now() + patience;

	while (has_owner(d, ret_pid)) {
		if (clock_now() > deadline)
			return -EWOULDBLOCK;
		usleep(20000);
	}
	return 0;
}

int disk_open(const struct disk_options *options, struct disk **ret, int *ret_pid)
{
	struct disk *d = disk_new(options);
	int r;

	*ret_pid = 0;
	if (!d)
		return -ENOMEM;
	r = look_for_owner(d, options->heir ? DYING_AS_HEIR : DYING, ret_pid);
	if (r == 0 || options->heir)
		r = writer_start(d);
	if (r < 0) {
		disk_free(d);
		return r;
	}
	r = writer_await_open(d, d->patient ? clock_now() + PATIENCE : UINT64_MAX);
	if (r < 0 && !d->patient)
		disk_close(d);
	else
		*ret = d, r = 0;
	return r;
}

void disk_close(struct disk *d)
{
	if (!d)
		return;
	/* A thread that hangs in the kernel keeps it all; the lock ends with the process. */
	if (writer_stop(d))
		disk_free(d);
}
