/* dlfs warm: into the store, no faster than the disk takes it. */
#include "fs/warm_internal.h"

#define OPEN_MOST (60 * CLOCK_S)       /* until the store is read in */
#define LOOKS 128                      /* at targets, in a turn of waiting */

/* --- What is there ------------------------------------------------------------------------ */

static bool has(const struct warm *w, sample_id id)
{
	const struct serve *s = w->serve;

	return kept_has(s->tier.disk, s->manifest, s->served, id);
}

static void count(struct warm *w, struct target *t)
{
	DL_HOLD(&w->lock);
	w->files += !t->there;
	w->bytes += t->there ? 0 : t->size;
	t->there = true;
}

static bool is_counted(struct warm *w, const struct target *t)
{
	DL_HOLD(&w->lock);
	return t->there;
}

static bool look_at(struct warm *w, struct target *t)
{
	if (is_counted(w, t))
		return true;
	if (!has(w, t->id))
		return false;
	count(w, t);
	return true;
}

/* Others bring some of them: readers, and the plan, which may be filling memory. */
static void look_around(struct warm *w)
{
	uint64_t now = clock_now();
	size_t all;
	struct target *t = warm_targets(w, &all);

	if (!w->serve->tier.disk || now < w->looked_at + TURN)
		return;
	w->looked_at = now;
	for (size_t i = 0; i < DL_MIN(all, (size_t)LOOKS); i++) {
		w->looked = w->looked + 1 < all ? w->looked + 1 : 0;
		look_at(w, &t[w->looked]);
	}
}

static void wait_and_look(struct warm *w)
{
	look_around(w);
	warm_wait(w);
}

/* --- Bringing it -------------------------------------------------------------------------- */

struct flight {
	struct bringing bringing;
	struct warm *warm;
	struct target *target;
};

static void on_brought(struct bringing *b)
{
	struct flight *f = dl_container_of(b, struct flight, bringing);
	struct warm *w = f->warm;

	if (b->result == 0 && b->stored)
		count(w, f->target);
	DL_HOLD(&w->lock);
	w->flying--;
	w->flying_bytes -= f->target->size;
	if (b->result < 0 && b->result != -ESHUTDOWN) {
		w->failed++;
		w->error = b->result;
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

void warm_bring(struct warm *w, struct target *t)
{
	struct flight *f = malloc(sizeof(*f));
	int r = -EAGAIN;

	if (!f)
		return;
	*f = (struct flight){ .bringing = { .id = t->id, .done = on_brought }, .warm = w,
			      .target = t };
	{
		DL_HOLD(&w->lock);
		w->flying++;
		w->flying_bytes += t->size;
	}
	for (; !warm_ended(w) && (r = engine_bring(w->serve->engine, &f->bringing)) == -EAGAIN;)
		wait_and_look(w);
	if (r < 0) {
		f->bringing.result = r == -EAGAIN ? -ESHUTDOWN : r;
		on_brought(&f->bringing);
	}
}

static bool is_flying(struct warm *w)
{
	DL_HOLD(&w->lock);
	return w->flying > 0 && !w->stopping;  /* those end with the engine */
}

void warm_land(struct warm *w)
{
	while (is_flying(w))
		wait_and_look(w);
}

static bool is_wanted(const struct warm *w, const struct target *t)
{
	struct disk_key key;

	return kept_key(w->serve->manifest, t->id, &key) == 0 &&
		disk_wants(w->serve->tier.disk, &key, t->size);
}

/* --- Once over all ------------------------------------------------------------------------ */

struct sorted { uint64_t files, bytes, all_files, all_bytes, large, never, left_out; };

/* true: it is to be brought. */
static bool sort_one(const struct warm *w, const struct target *t, struct sorted *to)
{
	bool large = t->size > engine_whole(w->serve->engine);
	bool there = has(w, t->id);
	bool fits = t->size > 0 && !large;
	bool wanted = fits && (there || is_wanted(w, t));
	bool never = fits && !wanted && tier_never(w->serve, t->id);

	to->large += large;
	to->never += never;
	to->left_out += fits && !wanted && !never;
	to->files += there;
	to->bytes += there ? t->size : 0;
	to->all_files += wanted;
	to->all_bytes += wanted ? t->size : 0;
	return wanted && !there;
}

/* What is there already, what is to come, and what has no room: told at once, so that it is not
 * taken for progress. */
static void sort_out(struct warm *w)
{
	struct sorted s = { 0 };
	size_t all, left = 0;
	struct target *t = warm_targets(w, &all);

	for (size_t i = 0; i < all && !warm_ended(w); i++)
		if (sort_one(w, &t[i], &s))
			t[left++] = t[i];
	w->targets.len = left * sizeof(*t);
	DL_HOLD(&w->lock);
	w->files = s.files;
	w->bytes = s.bytes;
	w->all_files = s.all_files;
	w->all_bytes = s.all_bytes;
	w->large = s.large;
	w->never = s.never;
	w->left_out = s.left_out;
	w->failed = 0;
	if (w->again)
		return;
	w->before = s.files;
	w->before_bytes = s.bytes;
}

/* Those that are there now; the others stay targets. */
static void count_kept(struct warm *w, uint64_t files, uint64_t bytes)
{
	size_t all, left = 0;
	struct target *t = warm_targets(w, &all);

	for (size_t i = 0; i < all; i++) {
		if (has(w, t[i].id)) {
			files++;
			bytes += t[i].size;
		} else {
			t[i].there = t[i].coming = false;
			t[left++] = t[i];
		}
	}
	w->targets.len = left * sizeof(*t);
	DL_HOLD(&w->lock);
	w->files = files;
	w->bytes = bytes;
}

bool warm_is_outdated(struct warm *w)
{
	size_t all;
	const struct target *t = warm_targets(w, &all);

	for (size_t i = 0; i < all; i++)
		if (!manifest_is_newest(w->serve->manifest, t[i].id))
			return true;
	return false;
}

/* Some of them may still come. */
static bool are_wanted(struct warm *w)
{
	size_t all;
	struct target *t = warm_targets(w, &all);

	for (size_t i = 0; i < all && !warm_ended(w); i++)
		if (is_wanted(w, &t[i]))
			return true;
	return false;
}

static bool is_suspended(const struct warm *w)
{
	struct disk_report r = disk_report(w->serve->tier.disk);

	return r.suspended || !r.online;
}

/* Nothing was written since the disk failed: when it is tried again it may fail again. */
static bool is_faulty(const struct warm *w)
{
	return is_suspended(w) || disk_report(w->serve->tier.disk).error < 0;
}

bool warm_lacks_room(struct warm *w)
{
	DL_HOLD(&w->lock);
	return w->left_out > 0;
}

/* What is there may take long to be read in, and a server that was killed may have it for a moment
 * still; any other fault is waited for in vain. */
bool warm_await_store(struct warm *w)
{
	uint64_t deadline = clock_now() + OPEN_MOST;

	for (;;) {
		struct disk_report r = disk_report(w->serve->tier.disk);

		if (r.online || warm_ended(w) || clock_now() > deadline ||
		    (r.error < 0 && r.error != -EWOULDBLOCK))
			return r.online;
		warm_wait(w);
	}
}

static void land_on_disk(struct warm *w)
{
	struct disk *d = w->serve->tier.disk;
	uint64_t last = disk_queued(d);

	while (!disk_settle(d, last, clock_now() + TURN) && !warm_ended(w) && !is_suspended(w))
		look_around(w);
}

static void bring_wanted(struct warm *w, struct target *t)
{
	while (is_behind(w, t->size) && !warm_ended(w) && !is_suspended(w))
		wait_and_look(w);
	if (is_wanted(w, t))                   /* it is full now, if not */
		warm_bring(w, t);
}

/* What others were bringing when its turn was. */
static void bring_rest(struct warm *w)
{
	size_t all;
	struct target *t = warm_targets(w, &all);

	for (size_t i = 0; i < all && !warm_ended(w); i++)
		while (t[i].coming && engine_is_coming(w->serve->engine, t[i].id) &&
		       !warm_ended(w) && !is_suspended(w))
			wait_and_look(w);
	land_on_disk(w);
	for (size_t i = 0; i < all && !warm_ended(w) && !is_suspended(w); i++)
		if (t[i].coming && !look_at(w, &t[i]))
			bring_wanted(w, &t[i]);
}

static void bring_all(struct warm *w)
{
	size_t all;
	struct target *t = warm_targets(w, &all);

	for (size_t i = 0; i < all && !warm_ended(w); i++) {
		if (i % WARM_CHUNK == 0 && is_suspended(w))
			break;
		if (look_at(w, &t[i]))
			continue;
		t[i].coming = engine_is_coming(w->serve->engine, t[i].id);
		if (!t[i].coming)
			bring_wanted(w, &t[i]);
	}
	bring_rest(w);
	warm_land(w);
	land_on_disk(w);
}

enum state warm_fill_store(struct warm *w)
{
	uint64_t files, bytes;
	size_t count;

	if (!warm_await_store(w))
		return warm_fail_store(w);
	sort_out(w);
	if (is_suspended(w) && warm_lacks_room(w))  /* that is not why */
		return warm_fail_store(w);
	for (int pass = 0; pass < PASSES && w->targets.len > 0 && !warm_ended(w); pass++) {
		if (is_suspended(w))
			return warm_fail_store(w);
		{
			DL_HOLD(&w->lock);
			files = w->files;
			bytes = w->bytes;
			w->failed = 0;
		}
		if (pass > 0 && !are_wanted(w))
			break;
		if (pass > 0)
			warm_settle(w);
		bring_all(w);
		if (w->stopping)       /* what is in flight has its target as long as that is */
			return STATE_DONE;
		count_kept(w, files, bytes);
	}
	warm_targets(w, &count);
	if (count > 0 && is_faulty(w))
		return warm_fail_store(w);
	DL_HOLD(&w->lock);
	if (!warm_ended(w))            /* else they were not come to */
		w->left_out += count - DL_MIN(count, w->failed);
	return STATE_DONE;
}

/* Of records that are not wanted an eighth may not be worth taking back. */
static const char *bound_of(struct warm *w)
{
	uint64_t most = w->serve->options->config->store_files;
	uint64_t records = disk_report(w->serve->tier.disk).records;

	return most && records >= most - most / 8 ? "store.files" : "store.size";
}

static uint64_t failed_of(struct warm *w)
{
	DL_HOLD(&w->lock);
	return w->failed;
}

void warm_sum_up_store(struct warm *w)
{
	uint64_t failed = failed_of(w);
	const char *bound = bound_of(w);
	size_t missing;

	sort_out(w);
	warm_targets(w, &missing);
	DL_HOLD(&w->lock);
	w->failed = DL_MIN(failed, missing);
	w->bound = w->left_out ? bound : "";
	w->left_out += missing - w->failed;
	w->all_files = w->files + w->failed;
	w->all_bytes = w->bytes;
}
