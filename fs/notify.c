#include "fs/notify.h"

#include <pthread.h>
#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "fs/fuse.h"

struct stale {
	node_id node;                  /* of a folder whose listing was replaced, or of a file */
	uint32_t old, now;             /* the folder's listings */
	struct stale *next;
};

struct notify {
	struct serve *serve;
	struct manifest_change change;
	struct dl_lock lock;           /* guards the rest */
	pthread_cond_t queued, done;   /* one was */
	struct stale *first, **last;
	uint64_t queued_count, done_count;
	bool stopping;
	pthread_t thread;
};

/* Names that are gone or stand for something new, and those that are new and may be remembered as
 * missing.  Each waits for whoever lists the folder just now.  The kernel says ENOENT for what it
 * does not know. */
static void forget_names(struct serve *s, const struct stale *r)
{
	struct manifest_dirent a, b;
	uint32_t i = 0, j = 0;

	for (;;) {
		bool was = manifest_listing_entry(s->manifest, r->old, i, &a) == 0;
		bool is = manifest_listing_entry(s->manifest, r->now, j, &b) == 0;
		int order = was && is ? strcmp(a.name, b.name) : was ? -1 : 1;
		const char *name;

		if (!was && !is)
			return;
		name = order <= 0 ? a.name : b.name;
		if (order != 0 || a.attr.node != b.attr.node)
			fuse_lowlevel_notify_inval_entry(s->session, r->node, name, strlen(name));
		i += order <= 0;
		j += order >= 0;
	}
}

static void forget(struct serve *s, const struct stale *r)
{
	if (node_is_folder(r->node))
		forget_names(s, r);
	fuse_lowlevel_notify_inval_inode(s->session, r->node, 0, 0);
}

static struct stale *take(struct notify *n)
{
	struct stale *r;

	DL_HOLD(&n->lock);
	while (!n->first && !n->stopping)
		dl_cond_wait(&n->queued, &n->lock);
	if (n->stopping)
		return NULL;
	r = n->first;
	n->first = r->next;
	if (!n->first)
		n->last = &n->first;
	return r;
}

static void note_done(struct notify *n)
{
	DL_HOLD(&n->lock);
	n->done_count++;
	pthread_cond_broadcast(&n->done);
}

static void *notify_main(void *arg)
{
	struct notify *n = arg;
	struct stale *r;

	while ((r = take(n))) {
		forget(n->serve, r);
		if (node_is_folder(r->node))
			manifest_release(n->serve->manifest, r->old, r->now);
		free(r);
		note_done(n);
	}
	return NULL;
}

static void queue(struct notify *n, node_id node, uint32_t old, uint32_t now)
{
	struct stale *r = malloc(sizeof(*r));

	if (!r) {
		log_warning("no memory is left: the kernel keeps what it should forget");
		return;
	}
	*r = (struct stale){ .node = node, .old = old, .now = now };
	DL_HOLD(&n->lock);
	*n->last = r;
	n->last = &r->next;
	n->queued_count++;
	pthread_cond_signal(&n->queued);
}

static void on_replaced(void *context, struct manifest *m, node_id folder, uint32_t old_listing,
			uint32_t new_listing)
{
	(void)m;
	queue(context, folder, old_listing, new_listing);
}

void notify_forget_pages(struct notify *n, node_id file)
{
	queue(n, file, 0, 0);
}

int notify_start(struct serve *s, struct notify **ret)
{
	struct notify *n = calloc(1, sizeof(*n));
	int r;

	if (!n)
		return -ENOMEM;
	n->serve = s;
	n->change = (struct manifest_change){ .replaced = on_replaced, .context = n };
	n->last = &n->first;
	dl_lock_init(&n->lock);
	dl_cond_init(&n->queued);
	dl_cond_init(&n->done);
	r = -pthread_create(&n->thread, NULL, notify_main, n);
	if (r < 0) {
		free(n);
		return r;
	}
	*ret = n;
	return 0;
}

void notify_stop(struct notify *n)
{
	if (!n)
		return;
	{
		DL_HOLD(&n->lock);
		n->stopping = true;
		pthread_cond_broadcast(&n->queued);
	}
	pthread_join(n->thread, NULL);
}

void notify_free(struct notify *n)
{
	if (!n)
		return;
	while (n->first) {
		struct stale *r = n->first;

		n->first = r->next;
		free(r);
	}
	pthread_cond_destroy(&n->queued);
	pthread_cond_destroy(&n->done);
	dl_lock_fini(&n->lock);
	free(n);
}

const struct manifest_change *notify_change(struct notify *n)
{
	return &n->change;
}

bool notify_drain(struct notify *n, uint64_t deadline)
{
	uint64_t all;

	DL_HOLD(&n->lock);
	all = n->queued_count;
	while (n->done_count < all)
		if (!dl_cond_wait_until(&n->done, &n->lock, deadline))
			return false;
	return true;
}
