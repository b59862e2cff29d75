/* dlfs warm without a store: into memory, as far as it has room. */
#include <string.h>

#include "fs/warm_internal.h"

/* In memory, or in the page cache.  true: all are. */
static bool count_held(struct warm *w)
{
	uint64_t files = 0, bytes = 0;
	size_t count;
	const struct target *t = warm_targets(w, &count);

	for (size_t i = 0; i < count; i++)
		if (engine_holds(w->serve->engine, t[i].id)) {
			files++;
			bytes += t[i].size;
		}
	DL_HOLD(&w->lock);
	w->files = files;
	w->bytes = bytes;
	return files == count;
}

static size_t pick(const struct target *t, size_t from, size_t end, sample_id ids[WARM_CHUNK])
{
	size_t count = DL_MIN(end - from, (size_t)WARM_CHUNK);

	for (size_t i = 0; i < count; i++)
		ids[i] = t[from + i].id;
	return count;
}

/* 1: all were told, and the engine has come to each; 0: not yet; -ENOSPC */
static int tell_some(struct warm *w, size_t *told)
{
	size_t count;
	const struct target *t = warm_targets(w, &count);
	sample_id ids[WARM_CHUNK];
	size_t some = pick(t, *told, count, ids);
	int r = engine_warm(w->serve->engine, ids, some);

	*told += r > 0 ? (size_t)r : 0;
	if (r == -EAGAIN || r == -ETIMEDOUT)   /* it has more urgent things to do */
		return 0;
	return r < 0 ? r : some == 0;
}

/* Some of those that were told are on their way, or nobody can say.  What was told last comes
 * last. */
static bool are_coming(struct warm *w, size_t told)
{
	size_t count;
	const struct target *t = warm_targets(w, &count);
	sample_id ids[WARM_CHUNK];

	for (size_t some; told > 0; told -= some) {
		some = pick(t, told - DL_MIN(told, (size_t)WARM_CHUNK), told, ids);
		if (engine_coming(w->serve->engine, ids, some) != 0)
			return true;
	}
	return false;
}

/* A source, or readers who go first, may hold it up for any time, but whoever waits can end that.
 * 1: all are there; 0: no more of them come now; -ENOSPC: nor later */
static int bring_all(struct warm *w)
{
	bool all = count_held(w);
	size_t told = 0;
	int r = 0;

	while (!all && !warm_ended(w) && (r == 0 || are_coming(w, told))) {
		if (r == 0)
			r = tell_some(w, &told);
		warm_wait(w);
		all = count_held(w);
	}
	return r < 0 ? r : all;
}

static void sort_out_large(struct warm *w)
{
	uint64_t whole = engine_whole(w->serve->engine);
	size_t count, left = 0;
	struct target *t = warm_targets(w, &count);

	DL_HOLD(&w->lock);
	w->large = w->all_files = w->all_bytes = 0;
	for (size_t i = 0; i < count; i++) {
		w->large += t[i].size > whole;
		if (t[i].size == 0 || t[i].size > whole)
			continue;
		w->all_files++;
		w->all_bytes += t[i].size;
		if (!w->again && engine_holds(w->serve->engine, t[i].id)) {
			w->before++;
			w->before_bytes += t[i].size;
		}
		t[left++] = t[i];
	}
	w->targets.len = left * sizeof(*t);
}

/* Of what is not there, whether it cannot be read, or readers or changes were first, is only known
 * by reading it. */
static void sum_up(struct warm *w)
{
	uint64_t missing = 0;
	size_t count;
	struct target *t = warm_targets(w, &count);

	for (size_t i = 0; i < count && !warm_ended(w); i++)
		if (!engine_holds(w->serve->engine, t[i].id)) {
			missing++;
			warm_bring(w, &t[i]);
		}
	warm_land(w);
	DL_HOLD(&w->lock);
	w->left_out = missing - w->failed;
}

/* What others took the room of, or what failed, may come at another try; what had changed is
 * another file by then. */
enum state warm_fill_memory(struct warm *w)
{
	int r = 0;

	for (int pass = 0; pass < PASSES && r == 0 && !warm_ended(w); pass++) {
		if (pass > 0) {
			warm_settle(w);
			if (warm_begin_again(w) < 0)
				return STATE_FAILED;
		}
		sort_out_large(w);
		r = bring_all(w);
	}
	if (r < 0 && r != -ENOSPC)
		return warm_fail(w, "%s", strerror(-r));
	if (r >= 0)
		sum_up(w);
	if (r >= 0 || warm_ended(w))
		return STATE_DONE;
	DL_HOLD(&w->lock);
	w->left_out = w->all_files - w->files;
	w->bound = w->left_out ? "memory" : "";
	return STATE_DONE;
}
