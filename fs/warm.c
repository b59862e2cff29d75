#include "fs/warm.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/pattern.h"
#include "fs/push.h"
#include "fs/survey.h"
#include "fs/warm_internal.h"
#include "prefetch/manifest/list.h"

#define ROUNDS 4
#define NUMBERS_BITS 20                /* of a server */

bool warm_ended(const struct warm *w)
{
	return w->cancelled || w->stopping;
}

static bool has_store(const struct warm *w)
{
	return w->serve->tier.disk;
}

void warm_wait(struct warm *w)
{
	DL_HOLD(&w->lock);
	dl_cond_wait_until(&w->changed, &w->lock, clock_now() + TURN);
}

void warm_settle(struct warm *w)
{
	uint64_t deadline = clock_now() + SETTLING / (PASSES - 1);

	while (!warm_ended(w) && clock_now() < deadline)
		warm_wait(w);
}

enum state warm_fail(struct warm *w, const char *format, ...)
{
	va_list args;

	DL_HOLD(&w->lock);
	va_start(args, format);
	if (!*w->why)
		vsnprintf(w->why, sizeof(w->why), format, args);
	va_end(args);
	return STATE_FAILED;
}

enum state warm_fail_store(struct warm *w)
{
	char why[80];

	if (!tier_problem(w->serve, why))
		return warm_fail(w, "the store is still being read in; try again later");
	return warm_fail(w, disk_report(w->serve->tier.disk).online ?
			 "nothing can be written to the store now: %s" :
			 "the store cannot be used now: %s", why);
}

/* --- Which samples ------------------------------------------------------------------------ */

/* Where inodes have numbers in the order in which they were made, they lie on the disk so. */
static int by_place(const void *a, const void *b)
{
	const struct target *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static bool matches(const struct warm *w, sample_id id, struct buf *path)
{
	path->len = 0;
	if (!*w->pattern)
		return true;
	return manifest_path(w->serve->manifest, node_of_sample(id), path) == 0 &&
		pattern_matches(w->pattern, (char *)path->at);
}

static int add_target(struct warm *w, sample_id id, struct buf *path)
{
	struct attr a;
	struct target t;

	if (!matches(w, id, path) || manifest_attr(w->serve->manifest, node_of_sample(id), &a) < 0)
		return 0;
	t = (struct target){ .dev = a.dev, .ino = a.ino, .size = a.size, .id = id };
	return buf_append(&w->targets, &t, sizeof(t));
}

static int await_dataset(struct warm *w)
{
	const struct serve *s = w->serve;
	char why[160];

	while (!manifest_scanned(s->manifest) && !warm_ended(w)) {
		if (survey_failed(s, why)) {
			warm_fail(w, "%s", why);
			return -EIO;
		}
		warm_wait(w);
	}
	return warm_ended(w) ? -ECANCELED : 0;
}

static int find_targets(struct warm *w)
{
	dl_cleanup(list_unrefp) struct list *all = NULL;
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
	int r = await_dataset(w);

	if (r < 0)
		return r;
	r = list_new(w->serve->manifest, LIST_ALL, NODE_ROOT, &all);
	if (r == -ENOENT)              /* there are no files */
		return 0;
	for (uint32_t i = 0; r == 0 && i < list_count(all); i++)
		r = add_target(w, list_at(all, i), &path);
	if (r == 0 && w->targets.len)
		qsort(w->targets.at, w->targets.len / sizeof(struct target),
		      sizeof(struct target), by_place);
	DL_HOLD(&w->lock);
	w->matched = w->targets.len / sizeof(struct target);
	return r;
}

struct target *warm_targets(struct warm *w, size_t *ret_count)
{
	*ret_count = w->targets.len / sizeof(struct target);
	return (struct target *)(void *)w->targets.at;
}

/* --- Out again ---------------------------------------------------------------------------- */

static void count_dropped(struct warm *w, uint64_t bytes)
{
	DL_HOLD(&w->lock);
	w->files += bytes > 0;
	w->bytes += bytes;
}

static int drop_kept(struct warm *w, sample_id id)
{
	struct disk_key key;
	uint64_t bytes;
	int r = kept_key(w->serve->manifest, id, &key);

	if (r < 0)
		return 0;              /* it has no name any more */
	r = disk_drop(w->serve->tier.disk, &key, &bytes);
	count_dropped(w, bytes);
	return r;
}

/* What the store has of the source, also of files that are not there any more. */
static int drop_source(struct warm *w)
{
	uint64_t source = kept_source(w->serve->manifest), bytes = 1;
	int r = 0;

	while (r == 0 && bytes > 0 && !warm_ended(w)) {
		r = disk_drop_any(w->serve->tier.disk, source, &bytes);
		count_dropped(w, bytes);
	}
	return r;
}

static void drop_waiting(struct warm *w, const struct target *t, size_t count)
{
	struct disk_key keys[WARM_CHUNK];
	size_t known = 0;

	for (size_t i = 0; i < count; i++)
		known += kept_key(w->serve->manifest, t[i].id, &keys[known]) == 0;
	qsort(keys, known, sizeof(*keys), disk_key_order);
	disk_drop_waiting(w->serve->tier.disk, keys, known);
}

/* What is to be written would be there again; what is being written is waited for. */
static int empty_store(struct warm *w, const struct target *t, size_t count, bool all)
{
	uint64_t last;
	int r = 0;

	for (size_t i = 0; i < count && !warm_ended(w); i += WARM_CHUNK)
		drop_waiting(w, t + i, DL_MIN(count - i, (size_t)WARM_CHUNK));
	last = disk_queued(w->serve->tier.disk);
	while (!warm_ended(w) && !disk_settle(w->serve->tier.disk, last, clock_now() + TURN))
		;
	if (all)
		r = drop_source(w);
	for (size_t i = 0; r == 0 && !all && i < count && !warm_ended(w); i++)
		r = drop_kept(w, t[i].id);
	disk_trim(w->serve->tier.disk);
	return r;
}

static int forget_some(struct warm *w, struct target *t, size_t count)
{
	struct engine *e = w->serve->engine;
	sample_id ids[WARM_CHUNK] = { 0 };
	bool read[WARM_CHUNK] = { 0 };
	uint64_t planned, others = 0;
	int r;

	for (size_t i = 0; i < count; i++) {
		ids[i] = t[i].id;
		read[i] = engine_let_go(e, t[i].id);
	}
	r = engine_forget(e, ids, count, &planned);
	/* That they were read is not known any more: so this is done, even if it shall end. */
	for (size_t i = 0; i < count; i++) {
		others += read[i] ? push_forget(w->serve->push, ids[i]) : 0;
		t[i].coming = engine_is_coming(e, ids[i]);
	}
	DL_HOLD(&w->lock);
	w->memory += planned + others;
	return r;
}

/* Only those that were being fetched when they were forgotten. */
static size_t pick_coming(struct warm *w)
{
	size_t count, left = 0;
	struct target *t = warm_targets(w, &count);

	for (size_t i = 0; i < count; i++)
		if (t[i].coming)
			t[left++] = t[i];
	w->targets.len = left * sizeof(*t);
	return left;
}

static uint64_t count_coming(struct warm *w, const struct target *t, size_t count)
{
	uint64_t coming = 0;

	for (size_t i = 0; i < count; i++)
		coming += engine_is_coming(w->serve->engine, t[i].id);
	DL_HOLD(&w->lock);
	w->coming = coming;
	return coming;
}

/* What was under way to memory goes to the store as well.  A source may take any time for it, but
 * whoever waits can end that. */
static void await_arrivals(struct warm *w, const struct target *t, size_t count)
{
	while (count_coming(w, t, count) > 0 && !warm_ended(w))
		warm_wait(w);
}

/* Memory first: from then on nothing is fetched that nobody reads. */
static enum state drop_all(struct warm *w)
{
	size_t count;
	struct target *t = warm_targets(w, &count);
	int r;

	for (size_t i = 0; i < count && !warm_ended(w); i += WARM_CHUNK)
		if (forget_some(w, t + i, DL_MIN(count - i, (size_t)WARM_CHUNK)) < 0)
			return warm_fail(w, "the dlfs that serves this is too busy");
	if (!has_store(w))
		return STATE_DONE;
	tier_unpin(w->serve, w->pattern);
	if (!warm_await_store(w))
		return warm_fail_store(w);
	r = empty_store(w, t, count, !*w->pattern);
	count = pick_coming(w);
	if (r == 0 && count > 0) {
		await_arrivals(w, t, count);
		r = empty_store(w, t, count, false);
	}
	return r < 0 ? warm_fail_store(w) : STATE_DONE;
}

/* --- The thread --------------------------------------------------------------------------- */

static void forget_counts(struct warm *w)
{
	w->files = w->bytes = w->all_files = w->all_bytes = 0;
	w->large = w->never = w->left_out = w->failed = w->memory = 0;
	w->bound = "";
	w->why[0] = '\0';
	w->error = 0;
	w->before = w->before_bytes = w->matched = w->coming = 0;
}

int warm_begin_again(struct warm *w)
{
	w->targets.len = 0;
	w->again = true;
	return find_targets(w);
}

/* While it is filled it may turn out that something else is worth keeping, by what the fetches
 * cost; or that a file has changed. */
static enum state fill_store(struct warm *w)
{
	for (int round = 1;; round++) {
		unsigned choices = tier_choices(w->serve);
		enum state state = warm_fill_store(w);
		bool over = round == ROUNDS ||
			(choices == tier_choices(w->serve) && !warm_is_outdated(w));

		if (state != STATE_DONE || warm_ended(w) ||
		    (over && round == 1 && !warm_lacks_room(w)))
			return state;
		if (warm_begin_again(w) < 0)
			return STATE_FAILED;
		if (over)
			break;
	}
	warm_sum_up_store(w);
	return STATE_DONE;
}

static enum state carry_out(struct warm *w)
{
	if (find_targets(w) < 0)
		return STATE_FAILED;
	if (w->what == WHAT_DROP)
		return drop_all(w);
	if (!has_store(w))
		return warm_fill_memory(w);
	if (*w->pattern && tier_pin(w->serve, w->pattern) < 0)
		return STATE_FAILED;
	return fill_store(w);
}

static void *run(void *arg)
{
	struct warm *w = arg;
	enum state state = carry_out(w);

	if (state == STATE_FAILED)     /* nothing else fails without a reason of its own */
		warm_fail(w, "there is no memory for it");
	/* Where it stops in mid-flight the targets are needed until the engine has ended. */
	if (!w->stopping)
		buf_free(&w->targets);
	DL_HOLD(&w->lock);
	w->state = warm_ended(w) ? STATE_STOPPED : state;
	return NULL;
}

static void join(struct warm *w)
{
	if (w->started)
		pthread_join(w->thread, NULL);
	w->started = false;
}

static int begin(struct warm *w, enum what what, const char *pattern)
{
	char *copy = strdup(pattern);
	int r;

	DL_HOLD(&w->lock);
	if (!copy || w->state == STATE_RUNNING || w->stopping) {
		free(copy);
		return copy ? -EBUSY : -ENOMEM;
	}
	join(w);                       /* it has ended */
	free(w->pattern);
	w->pattern = copy;
	w->cancelled = false;
	w->what = what;
	w->again = false;
	w->looked = 0;
	forget_counts(w);
	w->state = STATE_RUNNING;
	w->number++;
	r = -pthread_create(&w->thread, NULL, run, w);
	w->started = r == 0;
	if (r < 0)
		w->state = STATE_FAILED;
	return r;
}

int warm_start(struct serve *s, struct warm **ret)
{
	struct warm *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->serve = s;
	w->bound = "";
	w->number = (uint64_t)getpid() << NUMBERS_BITS;
	dl_lock_init(&w->lock);
	dl_cond_init(&w->changed);
	*ret = w;
	return 0;
}

void warm_stop(struct warm *w)
{
	if (!w)
		return;
	w->stopping = true;
	{
		DL_HOLD(&w->lock);     /* whoever begins one has done so, or sees it */
		pthread_cond_broadcast(&w->changed);
	}
	join(w);
}

void warm_free(struct warm *w)
{
	if (!w)
		return;
	pthread_cond_destroy(&w->changed);
	dl_lock_fini(&w->lock);
	free(w->pattern);
	buf_free(&w->targets);
	free(w);
}

int warm_fill(struct warm *w, const char *pattern)
{
	if (*pattern && pattern_problem(pattern))
		return -EINVAL;
	return begin(w, WHAT_WARM, pattern);
}

int warm_drop(struct warm *w, const char *pattern)
{
	if (*pattern && pattern_problem(pattern))
		return -EINVAL;
	return begin(w, WHAT_DROP, pattern);
}

void warm_cancel(struct warm *w)
{
	w->cancelled = true;
	pthread_cond_broadcast(&w->changed);
}

int warm_report(struct warm *w, struct buf *ret)
{
	static const char *const whats[] = { "", "warm", "drop" };
	static const char *const states[] = { "done", "running", "stopped", "failed" };

	DL_HOLD(&w->lock);
	return buf_printf(ret, "{\"what\": \"%s\", \"number\": %ju, \"state\": \"%s\", "
			  "\"where\": \"%s\", "
			  "\"files\": %ju, \"bytes\": %ju, \"all_files\": %ju, "
			  "\"all_bytes\": %ju, \"before\": %ju, \"large\": %ju, "
			  "\"never\": %ju, \"left_out\": %ju, \"bound\": \"%s\", "
			  "\"failed\": %ju, \"memory\": %ju, "
			  "\"matched\": %ju, \"before_bytes\": %ju, "
			  "\"coming\": %ju, \"filling\": %s, \"why\": \"%s\", \"error\": \"%s\"}",
			  whats[w->what], (uintmax_t)w->number, states[w->state],
			  has_store(w) ? "store" : "memory", (uintmax_t)w->files,
			  (uintmax_t)w->bytes, (uintmax_t)w->all_files,
			  (uintmax_t)w->all_bytes, (uintmax_t)w->before, (uintmax_t)w->large,
			  (uintmax_t)w->never, (uintmax_t)w->left_out, w->bound,
			  (uintmax_t)w->failed, (uintmax_t)w->memory,
			  (uintmax_t)w->matched, (uintmax_t)w->before_bytes,
			  (uintmax_t)w->coming,
			  stats_get(&w->serve->stats->filling) ? "true" : "false", w->why,
			  w->error ? strerror(-w->error) : "");
}
