#include "prefetch/engine.h"

#include <string.h>

#include "prefetch/engine_internal.h"

#define BLOCK_MAX MiB
#define BLOCK_MIN (128 * KiB)

#define OPENS_AT_ONCE 256

/* What must not be lost always finds room: it is about what is in flight, which is far less than
 * what the rest leaves free.  After the planner has gone nobody needs to be told. */
void tell(struct engine *e, struct fact fact)
{
	bool may_be_lost = fact.kind <= FACT_SHORT;
	int r = mailbox_post(e->facts, &fact, may_be_lost ? FACTS_SURE : 0);

	assert(r == 0 || r == -ESHUTDOWN || r == -ENOMEM || (r == -EAGAIN && may_be_lost));
	(void)r;
}

/* --- Start and stop -------------------------------------------------------------------- */

uint64_t planned_size(const struct engine *e, sample_id id)
{
	return dl_paged(served_size(e->options.served, e->options.manifest, id));
}

static bool size_of(const void *context, sample_id id, uint64_t *ret)
{
	const struct engine *e = context;

	/* What is gone, or another file by now, could not be fetched. */
	if (!manifest_sample(e->options.manifest, id, ret) ||
	    !manifest_is_newest(e->options.manifest, id) ||
	    served_size(e->options.served, e->options.manifest, id) > e->whole)
		return false;          /* or of the same pages as one that may be planned */
	*ret = planned_size(e, id);
	return true;
}

static bool is_pinned(const void *context, sample_id id)
{
	const struct engine *e = context;

	return e->options.pinned(e->options.context, id);
}

/* An eighth of the memory is for what readers wait for; a block of a big file is small enough
 * that several fit into it. */
static void divide_memory(struct engine *e)
{
	const struct engine_options *o = &e->options;

	e->reserve = o->memory / 8;
	e->room = o->memory - e->reserve;
	e->whole = DL_MIN(o->chunk, e->reserve);
	e->block_size = BLOCK_MAX;
	served_limit(o->served, e->whole);
	while (e->block_size > BLOCK_MIN && e->block_size * 4 > e->reserve)
		e->block_size /= 2;
}

static int make_parts(struct engine *e)
{
	struct plan_limits limits = {
		.room = e->room, .whole = dl_paged(e->whole), .lead = e->options.lead,
		.depth = source_depth(e->options.source),
	};
	struct plan_sizes sizes = {
		.size = size_of, .context = e,
		.pinned = e->options.pinned ? is_pinned : NULL,
		.count = manifest_entries(e->options.manifest),
	};
	int r = store_new(&e->store);

	if (r == 0)
		r = mailbox_new(sizeof(struct fact), FACTS_MAX, &e->facts);
	if (r == 0)
		r = tracker_new(&e->tracker);
	if (r == 0)
		r = epochs_new(e->options.manifest, e->room, &e->epochs);
	if (r == 0)
		r = plan_new(&limits, &sizes, &e->plan);
	return r;
}

static void engine_free(struct engine *e)
{
	learn_fini(e);
	sequence_unref(e->told);
	sequence_unref(e->told_next);
	epochs_free(e->epochs);
	plan_free(e->plan);
	tracker_free(e->tracker);
	mailbox_free(e->facts);
	store_free(e->store);
	buf_free(&e->loose);
	flags_fini(&e->flags);
	pthread_cond_destroy(&e->answered);
	dl_lock_fini(&e->asking);
	dl_lock_fini(&e->late_lock);
	free(e);
}

static int start_threads(struct engine *e)
{
	struct finder_options finder = {
		.found = order_found, .look = order_look, .foretold = learn_foretold,
		.save = learn_save, .context = e,
	};
	int r = finder_start(&finder, &e->finder);

	if (r < 0)
		return r;
	if (e->options.standing) {
		struct standing stood = standing_kept(e->options.standing);

		tracker_stood(e->tracker, &stood);
		if (stood.rests)
			plan_rest(e->plan);
	}
	learn_start(e);
	r = -pthread_create(&e->thread, NULL, planner_main, e);
	if (r < 0)
		finder_stop(e->finder);
	return r;
}

int engine_start(const struct engine_options *options, struct engine **ret)
{
	struct engine *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return -ENOMEM;
	e->options = *options;
	e->judge = options->judge ? options->judge : &e->own_judge;
	judge_init(e->judge, options->stats);
	e->late_last = &e->late_first;
	dl_lock_init(&e->late_lock);
	dl_lock_init(&e->asking);
	dl_cond_init(&e->answered);
	divide_memory(e);
	share_init(&e->share, e->room);
	r = make_parts(e);
	if (r == 0)
		r = start_threads(e);
	if (r < 0) {
		engine_free(e);
		return r;
	}
	stats_set(&options->stats->memory_limit, options->memory);
	*ret = e;
	return 0;
}

static void be_quiet(struct engine *e, struct ask *a)
{
	(void)a;
	e->stopping = true;
}

/* First nothing new is begun; then the source ends what is in flight, and the sink, which goes
 * on for a while, what it has; then nobody has anything to tell any more. */
void engine_stop(struct engine *e)
{
	struct ask a = { .run = be_quiet };

	ask_until_answered(e, &a);
	finder_stop(e->finder);
	late_give_up(e);
	source_close(e->options.source);
	while (e->in_flight > 0 || e->pushing > 0)
		usleep(1000);
	mailbox_close(e->facts);
	pthread_join(e->thread, NULL);
	store_empty(e->store);
	engine_free(e);
}

/* --- Facts ------------------------------------------------------------------------------ */

void engine_opened_all(struct engine *e, const struct open_seen *opens, size_t count)
{
	struct fact facts[OPENS_AT_ONCE];
	uint64_t now = clock_now();

	for (size_t n; count > 0; opens += n, count -= n) {
		n = DL_MIN(count, (size_t)OPENS_AT_ONCE);
		for (size_t i = 0; i < n; i++)
			facts[i] = (struct fact){
				.kind = FACT_OPEN, .id = opens[i].id, .number = opens[i].pid,
				.time = now,
			};
		if (mailbox_post_all(e->facts, facts, n, FACTS_MAX / 2) == -EAGAIN)
			engine_overflow(e);
	}
}

void engine_opened(struct engine *e, sample_id id, uint32_t pid)
{
	engine_opened_all(e, &(struct open_seen){ id, pid }, 1);
}

void engine_overflow(struct engine *e)
{
	stats_add(&e->options.stats->watch_overflows, 1);
	e->opens_lost = true;
	tell(e, (struct fact){ .kind = FACT_OVERFLOW });
}

void engine_pressed(struct engine *e)
{
	tell(e, (struct fact){ .kind = FACT_PRESSED, .time = clock_now() });
}

void engine_expect(struct engine *e)
{
	tell(e, (struct fact){ .kind = FACT_EXPECT });
}

void engine_known(struct engine *e, sample_id id)
{
	/* While it is being pushed, the kernel may just have said that it does not know it. */
	if ((flags_get(&e->flags, id) & (FLAG_KNOWN | FLAG_PUSHING)) == FLAG_KNOWN)
		return;
	flags_set(&e->flags, id, FLAG_KNOWN);
	if (flags_get(&e->flags, id) & (FLAG_MEMORY | FLAG_PUSHING))
		tell(e, (struct fact){ .kind = FACT_KNOWN, .id = id });
}

bool engine_holds(struct engine *e, sample_id id)
{
	return flags_get(&e->flags, id) & (FLAG_MEMORY | FLAG_PUSHING | FLAG_PAGE_CACHE);
}

/* For who reads it late, too. */
static bool is_in_store(struct engine *e, sample_id id)
{
	struct entry *entry;

	if (is_big(e, id) || store_peek(e->store, (struct block){ id, 0 }, &entry) != STORE_READY)
		return false;
	store_unpin(entry);
	return true;
}

enum engine_where engine_where(struct engine *e, sample_id id)
{
	if (flags_get(&e->flags, id) & (FLAG_PAGE_CACHE | FLAG_CACHED))
		return WHERE_PAGE_CACHE;
	return is_in_store(e, id) ? WHERE_MEMORY : WHERE_SOURCE;
}

/* --- Reading ---------------------------------------------------------------------------- */

bool is_big(const struct engine *e, sample_id id)
{
	uint64_t size;

	return manifest_sample(e->options.manifest, id, &size) && size > e->whole &&
		!served_wants(e->options.served, id);
}

uint64_t engine_readable(const struct engine *e)
{
	return e->block_size << 32;
}

struct block engine_block(const struct engine *e, sample_id id, uint64_t offset,
			  uint64_t *ret_start)
{
	struct block b = { .id = id };

	if (is_big(e, id))
		b.number = (uint32_t)(offset / e->block_size);
	*ret_start = b.number * e->block_size;
	return b;
}

uint64_t block_len(const struct engine *e, struct block b)
{
	uint64_t size = served_size(e->options.served, e->options.manifest, b.id);

	if (!is_big(e, b.id))
		return size;
	return DL_MIN(e->block_size, size - b.number * e->block_size);
}

/* A reader has to wait.  What was pushed and is asked for nevertheless, the kernel dropped, unless
 * he does not look there. */
static void note_late(struct engine *e, struct block b, bool direct)
{
	if (!direct && flags_clear(&e->flags, b.id, FLAG_PAGE_CACHE) & FLAG_PAGE_CACHE) {
		stats_add(&e->options.stats->pressure, 1);
		tell(e, (struct fact){ .kind = FACT_LOST, .id = b.id });
	}
	if (b.number == 0)
		tell(e, (struct fact){ .kind = FACT_LATE, .id = b.id, .time = clock_now() });
}

/* enum store_got, or why not; what is not ready is on its way. */
static int get_block(struct engine *e, struct block b, struct waiter *w, struct entry **ret)
{
	struct entry *entry;
	int got;

	if (e->stopping)
		return -ESHUTDOWN;
	got = store_begin(e->store, b, w, &entry);
	if (got == STORE_READY)
		*ret = entry;
	else if (got == STORE_MINE)
		late_start(e, entry);
	else if (got == STORE_BUSY)
		source_hurry(e->options.source, b.id, b.number * e->block_size);
	return got;
}

int engine_fetch(struct engine *e, sample_id id, struct waiter *w, struct entry **ret)
{
	int got = get_block(e, (struct block){ id, 0 }, w, ret);

	return got < 0 ? got : got == STORE_READY;
}

void engine_asked(struct engine *e, sample_id id)
{
	tell(e, (struct fact){ .kind = FACT_ASKED, .id = id, .time = clock_now() });
}

int engine_read(struct engine *e, struct block b, struct read_by by, struct waiter *w,
		struct entry **ret)
{
	int got;

	/* The kernel has not all of it; before it is asked for, since it may be here at once. */
	if (!by.direct)
		flags_clear(&e->flags, b.id, FLAG_CACHED);
	got = get_block(e, b, w, ret);
	if (got < 0)
		return got;
	if (by.direct)
		e->direct = clock_now();
	else
		flags_set(&e->flags, b.id, FLAG_READ);
	if (got != STORE_READY)
		note_late(e, b, by.direct);
	if (is_big(e, b.id))           /* what is read ahead comes after what is waited for */
		late_read_ahead(e, b, by.pid, got);
	return got == STORE_READY;
}

void engine_cached(struct engine *e, struct block b)
{
	if (!is_big(e, b.id))
		flags_set(&e->flags, b.id, FLAG_CACHED);
}

void engine_spent(struct engine *e, struct block b)
{
	if (!(flags_get(&e->flags, b.id) & (FLAG_MEMORY | FLAG_PUSHING)) || b.number > 0)
		tell(e, (struct fact){ .kind = FACT_SPENT, .id = b.id, .number = b.number });
}
