/* dlfs warm without a store: into memory, as far as it has room. */
#include "fs/warm_internal.h"

#define ARRIVING (CLOCK_S / 2)         /* for what is on its way when there is no more room */
#define STALL (5 * CLOCK_S)            /* without a step: what is missing does not come */

/* In memory, or in the page cache. */
static void count_held(struct warm *w)
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
}

/* 1: all were told; 0: not yet; -ENOSPC */
static int tell_some(struct warm *w, size_t *told)
{
	size_t count;
	const struct target *t = warm_targets(w, &count);
	sample_id ids[WARM_CHUNK];
	size_t some = DL_MIN(count - *told, (size_t)WARM_CHUNK);
	int r;

	for (size_t i = 0; i < some; i++)
		ids[i] = t[*told + i].id;
	r = engine_warm(w->serve->engine, ids, some);
	*told += r > 0 ? (size_t)r : 0;
	return r < 0 ? r : *told == count;
}

static void sort_out_large(struct warm *w)
{
	uint64_t whole = engine_whole(w->serve->engine);
	size_t count, left = 0;
	struct target *t = warm_targets(w, &count);

	DL_HOLD(&w->lock);
	for (size_t i = 0; i < count; i++) {
		w->large += t[i].size > whole;
		if (t[i].size == 0 || t[i].size > whole)
			continue;
		w->all_files++;
		w->all_bytes += t[i].size;
		if (engine_holds(w->serve->engine, t[i].id)) {
			w->before++;
			w->before_bytes += t[i].size;
		}
		t[left++] = t[i];
	}
	w->targets.len = left * sizeof(*t);
}

enum state warm_fill_memory(struct warm *w)
{
	uint64_t since = clock_now(), last = 0;
	size_t told = 0;
	int r = 0;

	sort_out_large(w);
	while (!warm_ended(w) && r >= 0 && clock_now() < since + STALL) {
		r = tell_some(w, &told);
		warm_wait(w);
		count_held(w);
		DL_HOLD(&w->lock);
		if (w->files == w->all_files)
			break;
		if (w->files != last)
			since = clock_now();
		last = w->files;
	}
	for (since = clock_now();
	     r == -ENOSPC && !warm_ended(w) && clock_now() < since + ARRIVING;) {
		warm_wait(w);
		count_held(w);
	}
	DL_HOLD(&w->lock);
	if (warm_ended(w))
		return STATE_DONE;
	if (r == -ENOSPC) {
		w->left_out = w->all_files - w->files;
		w->bound = "memory";
	} else {
		w->failed = w->all_files - w->files;
	}
	return STATE_DONE;
}
