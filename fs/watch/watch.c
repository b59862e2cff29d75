#include "fs/watch/watch.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "fs/control.h"

static bool is_sample(node_id node)
{
	return !node_is_folder(node) && !control_is(node);
}

void watch_opened(struct serve *s, node_id node, uint32_t pid)
{
	if (is_sample(node))
		engine_opened(s->engine, node_sample(node), pid);
}

void watch_tell(struct watch_batch *b)
{
	engine_opened_all(b->serve->engine, b->opens, b->count);
	b->count = 0;
}

void watch_add(struct watch_batch *b, node_id node, uint32_t pid)
{
	if (!is_sample(node))
		return;
	b->opens[b->count++] = (struct open_seen){ node_sample(node), pid };
	if (b->count == DL_COUNT(b->opens))
		watch_tell(b);
}

static int nothing_to_start(struct watch *w)
{
	(void)w;
	return 0;
}

static void nothing_to_stop(struct watch *w)
{
	(void)w;
}

/* The OPEN handler itself reports. */
const struct watch_ops watch_open = {
	.name = "open", .start = nothing_to_start, .stop = nothing_to_stop,
};
const struct watch_ops watch_off = {
	.name = "off", .start = nothing_to_start, .stop = nothing_to_stop,
};

static const struct watch_ops *const kinds[] = {
	[OBSERVE_FANOTIFY] = &watch_fanotify,
	[OBSERVE_INOTIFY] = &watch_inotify,
	[OBSERVE_OPEN] = &watch_open,
	[OBSERVE_OFF] = &watch_off,
};

static int try(struct watch *w, const struct watch_ops *ops)
{
	w->ops = ops;
	w->own = NULL;
	return ops->start(w);
}

static int start_best(struct watch *w)
{
	if (try(w, &watch_fanotify) == 0)
		return 0;
	if (try(w, &watch_inotify) == 0)
		return 0;
	log_warning("opens cannot be seen: neither fanotify (needs CAP_SYS_ADMIN) nor inotify "
		    "works here; -o observe=open does");
	return try(w, &watch_off);
}

static const char *cure_of(const struct watch_ops *ops)
{
	return ops == &watch_fanotify ? "it needs CAP_SYS_ADMIN; observe=inotify does not"
				      : "raise sysctl fs.inotify.max_user_watches and _instances";
}

int watch_start(struct serve *s, struct watch **ret)
{
	enum config_observe kind = s->options->config->observe;
	struct shared *shared = s->options->shared;
	struct watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->serve = s;
	r = kind == OBSERVE_AUTO ? start_best(w) : try(w, kinds[kind]);
	if (r < 0) {
		snprintf(shared->error, sizeof(shared->error), "observe=%s cannot be had (%s): %s",
			 w->ops->name, strerror(-r), cure_of(w->ops));
		free(w);
		return r;
	}
	*ret = w;
	return 0;
}

void watch_stop(struct watch *w)
{
	if (w)
		w->ops->stop(w);
}

void watch_free(struct watch *w)
{
	if (w && w->ops->free)
		w->ops->free(w);
	free(w);
}

void watch_folder(struct watch *w, node_id folder)
{
	if (w->ops->folder)
		w->ops->folder(w, folder);
}

void watch_own_open(struct watch *w, sample_id id)
{
	if (w->ops->own_open)
		w->ops->own_open(w, id);
}
