/* For tests and benchmarks: a source far away.  Of `parallel` fetches at once each begins to
 * arrive after `latency`; all share a line of `bandwidth`, which is idle for `seek` before each
 * fetch that does not begin where the last one ended: of files that is the next one's number.
 */
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "config/units.h"
#include "prefetch/source/layer.h"
#include "prefetch/source/queue.h"

struct slow_fetch {
	struct layer_fetch layer;
	struct slow *slow;
	uint64_t arrives;              /* when its last byte is here */
	struct slow_fetch *later;      /* of those that the source below has delivered */
};

struct slow {
	struct source source;
	uint64_t latency, bandwidth, parallel, every, seek;    /* bandwidth 0: no limit */
	pthread_t thread;
	struct dl_lock lock;
	pthread_cond_t changed;
	struct queue queue;
	struct slow_fetch *arriving;   /* by time, the soonest first */
	uint64_t running, count;
	uint64_t line_free;            /* when the line has sent all that was begun */
	sample_id last;                /* what was begun last, and how far it went */
	uint64_t last_end;
	bool stopping;
};

static int parse_one(struct slow *sl, struct layer_arg *arg)
{
	size_t len = strlen(arg->value);

	if (strcmp(arg->key, "latency") == 0)
		return units_time(arg->value, &sl->latency);
	if (strcmp(arg->key, "seek") == 0)
		return units_time(arg->value, &sl->seek);
	if (strcmp(arg->key, "parallel") == 0)
		return units_count(arg->value, &sl->parallel);
	if (strcmp(arg->key, "every") == 0)
		return units_count(arg->value, &sl->every);
	if (strcmp(arg->key, "bandwidth") != 0 || len < 2 ||
	    strcmp(arg->value + len - 2, "/s") != 0)
		return -EINVAL;
	arg->value[len - 2] = 0;
	return units_size(arg->value, &sl->bandwidth);
}

static int parse(struct slow *sl, const char *args)
{
	struct layer_arg arg;
	int r;

	sl->parallel = 64;
	sl->every = 1;
	while ((r = layer_next_arg(&args, &arg)) > 0)
		if (parse_one(sl, &arg) < 0)
			return -EINVAL;
	if (r < 0 || sl->parallel == 0 || sl->parallel > UINT32_MAX || sl->every == 0)
		return -EINVAL;
	return 0;
}

static int slow_check(const char *args)
{
	struct slow sl = { 0 };

	return parse(&sl, args);
}

/* On a thread of the source below. */
static void on_inner(struct fetch *inner)
{
	struct slow_fetch *sf = dl_container_of(inner, struct slow_fetch, layer.inner);
	struct slow_fetch **at = &sf->slow->arriving;

	DL_HOLD(&sf->slow->lock);
	while (*at && (*at)->arrives <= sf->arrives)
		at = &(*at)->later;
	sf->later = *at;
	*at = sf;
	pthread_cond_signal(&sf->slow->changed);
}

/* Folders, links and the like have numbers too. */
static bool is_next_file(const struct slow *sl, sample_id id)
{
	const struct manifest *m = sl->source.manifest;
	uint64_t size;

	if (!manifest_sample(m, sl->last, &size) || size != sl->last_end || id <= sl->last)
		return false;
	for (sample_id between = sl->last + 1; between < id; between++)
		if (manifest_sample(m, between, &size))
			return false;
	return true;
}

static bool follows(struct slow *sl, const struct fetch *f)
{
	bool yes = f->id == sl->last ? f->offset == sl->last_end
				     : f->offset == 0 && is_next_file(sl, f->id);

	sl->last = f->id;
	sl->last_end = f->offset + f->len;
	return yes;
}

static uint64_t time_of(struct slow *sl, const struct fetch *f)
{
	uint64_t now = clock_now(), sent;

	if (++sl->count % sl->every != 0)
		return now;
	if (sl->bandwidth == 0)
		return now + sl->latency;
	sent = DL_MAX(now + sl->latency, sl->line_free);
	if (sl->seek > 0 && !follows(sl, f))
		sent += sl->seek;
	sl->line_free = sent + (uint64_t)((double)f->len / (double)sl->bandwidth * CLOCK_S);
	return sl->line_free;
}

/* With the lock, which is dropped meanwhile. */
static void begin(struct slow *sl, struct fetch *f)
{
	struct slow_fetch *sf = dl_container_of(f->own_, struct slow_fetch, layer);
	int r;

	sf->arrives = time_of(sl, f);
	sl->running++;
	dl_lock_drop(&sl->lock);
	layer_fetch_init(&sf->layer, f, on_inner);
	r = source_submit(sl->source.next, &sf->layer.inner);
	if (r < 0) {
		sf->layer.inner.result = r;
		on_inner(&sf->layer.inner);
	}
	dl_lock_take(&sl->lock);
}

/* With the lock, which is dropped meanwhile. */
static void finish(struct slow *sl, struct slow_fetch *sf)
{
	struct fetch *outer = sf->layer.outer;
	int result = layer_fetch_move(&sf->layer);

	sl->running--;
	dl_lock_drop(&sl->lock);
	free(sf);
	layer_done(outer, result);
	dl_lock_take(&sl->lock);
}

/* With the lock: do one thing that is due; false: nothing is before *ret_next. */
static bool act(struct slow *sl, uint64_t *ret_next)
{
	struct slow_fetch *first = sl->arriving;
	struct fetch *f;

	if (first && (sl->stopping || first->arrives <= clock_now())) {
		sl->arriving = first->later;
		finish(sl, first);
		return true;
	}
	if (sl->running < sl->parallel && (f = queue_pop(&sl->queue, clock_now()))) {
		begin(sl, f);
		return true;
	}
	*ret_next = first ? first->arrives : UINT64_MAX;
	return false;
}

static void *run(void *arg)
{
	struct slow *sl = arg;
	uint64_t next = 0;

	DL_HOLD(&sl->lock);
	for (;;) {
		if (act(sl, &next))
			continue;
		if (sl->stopping && sl->running == 0)
			return NULL;
		dl_cond_wait_until(&sl->changed, &sl->lock, next);
	}
}

static int slow_open(struct source *s)
{
	struct slow *sl = dl_container_of(s, struct slow, source);
	int r = parse(sl, s->args);

	if (r < 0)
		return r;
	dl_lock_init(&sl->lock);
	dl_cond_init(&sl->changed);
	r = -pthread_create(&sl->thread, NULL, run, sl);
	if (r < 0) {
		pthread_cond_destroy(&sl->changed);
		dl_lock_fini(&sl->lock);
	}
	return r;
}

static int slow_submit(struct source *s, struct fetch *f)
{
	struct slow *sl = dl_container_of(s, struct slow, source);
	struct slow_fetch *sf = calloc(1, sizeof(*sf));
	int r = -ESHUTDOWN;

	if (!sf)
		return -ENOMEM;
	sf->slow = sl;
	f->own_ = &sf->layer;
	dl_lock_take(&sl->lock);
	if (!sl->stopping)
		r = queue_push(&sl->queue, f);
	if (r == 0)
		pthread_cond_signal(&sl->changed);
	dl_lock_drop(&sl->lock);
	if (r < 0)
		free(sf);
	return r;
}

static void slow_hurry(struct source *s, sample_id id, uint64_t offset)
{
	struct slow *sl = dl_container_of(s, struct slow, source);

	DL_HOLD(&sl->lock);
	queue_hurry(&sl->queue, id, offset, clock_now());
}

static unsigned slow_depth(const struct source *s)
{
	return (unsigned)dl_container_of(s, struct slow, source)->parallel;
}

/* The source below is stopped already, so all that is begun now ends at once. */
static void slow_stop(struct source *s)
{
	struct slow *sl = dl_container_of(s, struct slow, source);

	dl_lock_take(&sl->lock);
	sl->stopping = true;
	pthread_cond_signal(&sl->changed);
	dl_lock_drop(&sl->lock);
	pthread_join(sl->thread, NULL);
}

static void slow_close(struct source *s)
{
	struct slow *sl = dl_container_of(s, struct slow, source);

	queue_fini(&sl->queue);
	pthread_cond_destroy(&sl->changed);
	dl_lock_fini(&sl->lock);
}

const struct source_ops source_slow = {
	.name = "slow",
	.size = sizeof(struct slow),
	.takes = "latency=10ms,parallel=64,bandwidth=100MB/s,every=1,seek=8ms",
	.check = slow_check,
	.open = slow_open,
	.submit = slow_submit,
	.hurry = slow_hurry,
	.depth = slow_depth,
	.stop = slow_stop,
	.close = slow_close,
};
