#include "fs/push.h"

#include <fcntl.h>
#include <pthread.h>

#include "base/file.h"
#include "base/lock.h"
#include "fs/fuse.h"
#include "fs/watch/watch.h"

#define THREADS_MAX 8
#define PIECE MiB                      /* bytes a notify_store call */

struct push {
	struct sink sink;
	struct serve *serve;
	struct dl_lock lock;           /* guards what follows, up to `mounted` */
	pthread_cond_t queued, left;
	struct sink_job *first, **last;
	unsigned calling;              /* threads that may be in a call into the kernel */
	bool quiet, stopping;
	_Atomic bool mounted;          /* the mount answers */
	pthread_t threads[THREADS_MAX];
	unsigned thread_count;
};

static int store_all(struct serve *s, sample_id id, struct bytes view)
{
	for (size_t at = 0; at < view.len; at += PIECE) {
		size_t len = DL_MIN(view.len - at, (size_t)PIECE);
		struct fuse_bufvec v = FUSE_BUFVEC_INIT(len);
		int r;

		v.buf[0].mem = (char *)view.at + at;
		r = fuse_lowlevel_notify_store(s->session, node_of_sample(id), (off_t)at, &v, 0);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Through the mount, as any program would: the pages are those of the mount's inode.  A file
 * that is not there any more has no pages either.  No descriptor is kept, since it would keep
 * the mount busy. */
static int open_mounted(struct push *p, sample_id id)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;

	if (!p->mounted ||
	    buf_printf(&path, "%s/", p->serve->options->mountpoint) < 0 ||
	    manifest_path(p->serve->manifest, node_of_sample(id), &path) < 0)
		return -1;
	if (p->serve->watch)
		watch_own_open(p->serve->watch, id);
	return open((char *)path.at, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

static void drop_pages(struct push *p, sample_id id)
{
	dl_cleanup(dl_closep) int fd = open_mounted(p, id);

	if (fd >= 0)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

static uint64_t cached_bytes(int fd)
{
	int64_t pages = file_cached(fd, 0, 0);

	return pages < 0 ? 0 : (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t push_forget(struct push *p, sample_id id)
{
	dl_cleanup(dl_closep) int fd = open_mounted(p, id);
	uint64_t before, after;

	if (fd < 0)
		return 0;
	before = cached_bytes(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	after = cached_bytes(fd);
	return before - DL_MIN(before, after);
}

static void call_kernel(struct push *p, struct sink_job *j)
{
	if (j->entry)
		j->result = store_all(p->serve, j->id, store_view(j->entry));
	else
		drop_pages(p, j->id);
	DL_HOLD(&p->lock);
	if (--p->calling == 0)
		pthread_cond_broadcast(&p->left);
}

/* The next one, counted in `calling` if the kernel may be called for it. */
static struct sink_job *take(struct push *p, bool *ret_quiet)
{
	struct sink_job *j;

	DL_HOLD(&p->lock);
	while (!p->first && !p->stopping)
		dl_cond_wait(&p->queued, &p->lock);
	*ret_quiet = p->quiet;
	j = p->first;
	if (j) {
		p->first = j->next_;
		if (!p->first)
			p->last = &p->first;
		p->calling += !p->quiet;
	}
	return j;
}

static void *push_main(void *arg)
{
	struct push *p = arg;
	struct sink_job *j;
	bool quiet;

	while ((j = take(p, &quiet))) {
		if (quiet)
			j->result = j->entry ? -ESHUTDOWN : 0;
		else
			call_kernel(p, j);
		j->finished(j);
	}
	return NULL;
}

static void queue(struct sink *sink, struct sink_job *j)
{
	struct push *p = dl_container_of(sink, struct push, sink);

	DL_HOLD(&p->lock);
	j->next_ = NULL;
	*p->last = j;
	p->last = &j->next_;
	pthread_cond_signal(&p->queued);
}

int push_start(struct serve *s, unsigned threads, struct push **ret)
{
	struct push *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->sink = (struct sink){ .push = queue, .drop = queue };
	p->serve = s;
	p->last = &p->first;
	dl_lock_init(&p->lock);
	dl_cond_init(&p->queued);
	dl_cond_init(&p->left);
	while (p->thread_count < DL_MIN(threads, (unsigned)THREADS_MAX) &&
	       pthread_create(&p->threads[p->thread_count], NULL, push_main, p) == 0)
		p->thread_count++;
	*ret = p;
	if (p->thread_count > 0)
		return 0;
	push_stop(p);
	return -EAGAIN;
}

void push_quieten(struct push *p)
{
	if (!p)
		return;
	DL_HOLD(&p->lock);
	p->quiet = true;
	while (p->calling > 0)
		dl_cond_wait(&p->left, &p->lock);
}

void push_stop(struct push *p)
{
	if (!p)
		return;
	{
		DL_HOLD(&p->lock);
		p->quiet = p->stopping = true;
		pthread_cond_broadcast(&p->queued);
	}
	while (p->thread_count > 0)
		pthread_join(p->threads[--p->thread_count], NULL);
	pthread_cond_destroy(&p->queued);
	pthread_cond_destroy(&p->left);
	dl_lock_fini(&p->lock);
	free(p);
}

struct sink *push_sink(struct push *p)
{
	return &p->sink;
}

void push_mounted(struct push *p)
{
	p->mounted = true;
}
