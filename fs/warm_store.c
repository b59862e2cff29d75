/* dlfs warm: into the store, no faster than the disk takes it. */
#include "fs/warm_internal.h"

#define OPEN_MOST (60 * CLOCK_S)       /* until the store is read in */
#define PASSES 3                       /* over what was not kept, since the disk was behind */
#define SETTLING (22 * CLOCK_S / 10)   /* together between them */

struct flight {
	struct bringing bringing;
	struct warm *warm;
	uint64_t size;
};

static void on_brought(struct bringing *b)
{
	struct flight *f = dl_container_of(b, struct flight, bringing);
	struct warm *w = f->warm;

	DL_HOLD(&w->lock);
	w->flying--;
	w->flying_bytes -= f->size;
	w->failed += b->result < 0 && b->result != -ESHUTDOWN;
	if (b->result == 0 && b->stored) {
		w->files++;
		w->bytes += f->size;
	}
	pthread_cond_broadcast(&w->changed);
	free(f);
}

/* What comes faster than the disk takes it would not be kept. */
static bool is_behind(struct warm *w, uint64_t size)
{
	uint64_t waiting = disk_waiting(w->serve->tier.disk);

	DL_HOLD(&w->lock);
	return waiting + w->flying_bytes > 0 &&
		waiting + w->flying_bytes + size > w->serve->tier.queue / 2;
}

static void bring(struct warm *w, const struct target *t)
{
	struct flight *f = malloc(sizeof(*f));
	int r = -EAGAIN;

	if (!f)
		return;
	*f = (struct flight){ .bringing = { .id = t->id, .done = on_brought }, .warm = w,
			      .size = t->size };
	{
		DL_HOLD(&w->lock);
		w->flying++;
		w->flying_bytes += t->size;
	}
	for (; !warm_ended(w) && (r = engine_bring(w->serve->engine, &f->bringing)) == -EAGAIN;)
		warm_wait(w);
	if (r < 0) {
		f->bringing.result = r == -EAGAIN ? -ESHUTDOWN : r;
		on_brought(&f->bringing);
	}
}

static void land(struct warm *w)
{
	DL_HOLD(&w->lock);
	while (w->flying > 0 && !w->stopping)  /* those end with the engine */
		dl_cond_wait(&w->changed, &w->lock);
}

static bool has(const struct warm *w, sample_id id)
{
	const struct serve *s = w->serve;

	return kept_has(s->tier.disk, s->manifest, s->served, id);
}

static bool is_wanted(const struct warm *w, const struct target *t)
{
	struct disk_key key;

	return kept_key(w->serve->manifest, t->id, &key) == 0 &&
		disk_wants(w->serve->tier.disk, &key, t->size);
}

/* What is there already, what is to come, and what has no room. */
static void sort_out(struct warm *w)
{
	uint64_t whole = engine_whole(w->serve->engine);
	size_t count, left = 0;
	struct target *t = warm_targets(w, &count);

	for (size_t i = 0; i < count && !warm_ended(w); i++) {
		bool there = has(w, t[i].id);
		bool wanted = t[i].size > 0 && t[i].size <= whole && (there || is_wanted(w, &t[i]));

		DL_HOLD(&w->lock);
		w->large += t[i].size > whole;
		w->left_out += !wanted && t[i].size > 0 && t[i].size <= whole;
		w->before += there && !w->again;
		w->files += there;
		w->bytes += there ? t[i].size : 0;
		w->all_files += wanted;
		w->all_bytes += wanted ? t[i].size : 0;
		if (wanted && !there)
			t[left++] = t[i];
	}
	w->targets.len = left * sizeof(*t);
}

/* Those that are there now; the others stay targets. */
static void count_kept(struct warm *w, uint64_t files, uint64_t bytes)
{
	size_t count, left = 0;
	struct target *t = warm_targets(w, &count);

	for (size_t i = 0; i < count; i++) {
		if (has(w, t[i].id)) {
			files++;
			bytes += t[i].size;
		} else {
			t[left++] = t[i];
		}
	}
	w->targets.len = left * sizeof(*t);
	DL_HOLD(&w->lock);
	w->files = files;
	w->bytes = bytes;
}

static bool is_suspended(const struct warm *w)
{
	struct disk_report r = disk_report(w->serve->tier.disk);

	return r.suspended || !r.online;
}

/* What is there may take long to be read in. */
static void await_store(struct warm *w)
{
	uint64_t deadline = clock_now() + OPEN_MOST;

	while (!disk_report(w->serve->tier.disk).online && !warm_ended(w) && clock_now() < deadline)
		warm_wait(w);
}

/* What has just changed is not kept before it has settled. */
static void await_settling(struct warm *w)
{
	uint64_t deadline = clock_now() + SETTLING / (PASSES - 1);

	while (!warm_ended(w) && clock_now() < deadline)
		warm_wait(w);
}

static void bring_all(struct warm *w)
{
	size_t count;
	const struct target *t = warm_targets(w, &count);

	for (size_t i = 0; i < count && !warm_ended(w); i++) {
		if (i % WARM_CHUNK == 0 && is_suspended(w))
			break;
		while (is_behind(w, t[i].size) && !warm_ended(w) && !is_suspended(w))
			warm_wait(w);
		if (is_wanted(w, &t[i]))       /* it is full now, if not */
			bring(w, &t[i]);
	}
	land(w);
	while (disk_waiting(w->serve->tier.disk) > 0 && !warm_ended(w) && !is_suspended(w))
		warm_wait(w);
}

enum state warm_fill_store(struct warm *w)
{
	uint64_t files, bytes;
	size_t count;

	await_store(w);
	sort_out(w);
	for (int pass = 0; pass < PASSES && w->targets.len > 0 && !warm_ended(w); pass++) {
		if (is_suspended(w))
			return STATE_FAILED;
		{
			DL_HOLD(&w->lock);
			files = w->files;
			bytes = w->bytes;
			w->failed = 0;
		}
		if (pass > 0)
			await_settling(w);
		bring_all(w);
		count_kept(w, files, bytes);
	}
	warm_targets(w, &count);
	if (count > 0 && is_suspended(w))
		return STATE_FAILED;
	DL_HOLD(&w->lock);
	if (!warm_ended(w))            /* else they were not come to */
		w->left_out += count - DL_MIN(count, w->failed);
	return STATE_DONE;
}
