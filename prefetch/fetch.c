/* Planned samples: source → store → page cache, and out again. */
#include "prefetch/engine_internal.h"

#define DIRECT_NS (60 * CLOCK_S)       /* who reads so comes again within it */

struct job {                           /* a block on its way from the source */
	struct fetch fetch;
	struct engine *engine;
	struct entry *entry;
	uint64_t started;
	uint32_t number;
	bool late;                     /* it has a part of the reserve: */
	uint64_t reserved;
};

uint64_t fetch_source_bytes(const struct engine *e, const struct fetch *f)
{
	uint64_t size = f->len;

	if (f->whole && !manifest_sample(e->options.manifest, f->id, &size))
		return 0;
	return f->kept ? 0 : size;
}

void fetch_count(struct stats *s, int result)
{
	stats_add(result == -ESTALE ? &s->fetch_changed : result < 0 ? &s->fetch_errors :
		  &s->fetches, 1);
}

static void on_done(struct fetch *f)
{
	struct job *j = dl_container_of(f, struct job, fetch);
	struct engine *e = j->engine;
	struct stats *s = e->options.stats;
	struct fact done = {
		.kind = FACT_DONE, .id = f->id, .number = j->number, .result = f->result,
		.time = clock_now() - j->started, .kept = f->kept, .stored = f->stored,
	};

	fetch_count(s, f->result);
	if (f->result < 0) {
		buf_free(&f->bytes);
		store_abort(j->entry, f->result);
		if (j->late)
			late_release(e, j->reserved);
	} else {
		stats_add(&s->bytes_fetched, fetch_source_bytes(e, f));
		/* A reader may have read all of it before store_commit() returns. */
		if (j->late)
			tell(e, (struct fact){ .kind = FACT_HELD, .id = f->id,
					       .number = j->number, .time = j->reserved });
		store_commit(j->entry, &f->bytes);
		store_unpin(j->entry);
		done.result = j->late;
	}
	tell(e, done);
	free(j);
	e->in_flight--;
}

void fetch_start(struct engine *e, struct entry *entry, struct urgency urgency, uint64_t reserved)
{
	struct block b = store_block(entry);
	struct job *j = malloc(sizeof(*j));
	uint64_t len = block_len(e, b);
	int r = -ENOMEM;

	if (j) {
		*j = (struct job){
			.fetch = { .id = b.id, .offset = b.number * e->block_size, .len = len,
				   .whole = !is_big(e, b.id), .due = urgency.due,
				   .in_turn = urgency.in_turn, .done = on_done },
			.engine = e, .entry = entry, .started = clock_now(), .number = b.number,
			.late = urgency.late, .reserved = reserved,
		};
		e->in_flight++;
		r = source_submit(e->options.source, &j->fetch);
		if (r == 0)
			return;
		e->in_flight--;
	}
	free(j);
	store_abort(entry, r);
	if (urgency.late)
		late_release(e, reserved);
	tell(e, (struct fact){ .kind = FACT_DONE, .id = b.id, .number = b.number, .result = r });
}

struct push_job {
	struct sink_job job;
	struct engine *engine;
};

static void on_pushed(struct sink_job *job)
{
	struct push_job *p = dl_container_of(job, struct push_job, job);
	struct engine *e = p->engine;
	struct fact f = {
		.kind = job->entry ? FACT_PUSHED : FACT_DROPPED,
		.id = job->id, .result = job->result,
	};

	if (job->entry) {
		uint64_t len = store_view(job->entry).len;

		if (job->result == 0) {
			stats_add(&e->options.stats->bytes_pushed, len);
			stats_add(&e->options.stats->bytes_served, len);
		}
		store_unpin(job->entry);
	}
	tell(e, f);
	free(p);
	e->pushing--;
}

static struct push_job *push_job(struct engine *e, sample_id id, struct entry *entry)
{
	struct push_job *p = malloc(sizeof(*p));

	if (!p)
		return NULL;
	*p = (struct push_job){
		.job = { .id = id, .entry = entry, .finished = on_pushed }, .engine = e,
	};
	e->pushing++;
	return p;
}

/* What is pushed leaves the store, and would be fetched once more for who reads past the page
 * cache: he has it from the store. */
static bool is_read_directly(const struct engine *e)
{
	uint64_t last = e->direct;

	return last && clock_now() < last + DIRECT_NS;
}

static void pushed(struct engine *e, sample_id id)
{
	flags_set(&e->flags, id, FLAG_PAGE_CACHE | FLAG_KNOWN);
	flags_clear(&e->flags, id, FLAG_MEMORY);
	store_drop(e->store, (struct block){ id, 0 });
}

/* The kernel has what it was answered; but not what somebody read past its pages, and once anybody
 * has done so, nobody knows which samples those are. */
static bool is_there_already(const struct engine *e, const struct entry *entry)
{
	return !e->direct && store_was_read(entry);
}

/* Hand a sample that waits in the store to the sink. */
static void push(struct engine *e, sample_id id)
{
	struct entry *entry;
	struct push_job *p;

	if (e->stopping || is_read_directly(e) ||
	    store_peek(e->store, (struct block){ id, 0 }, &entry) != STORE_READY)
		return;
	if (is_there_already(e, entry)) {
		store_unpin(entry);
		pushed(e, id);
		return;
	}
	p = push_job(e, id, entry);
	if (!p) {
		store_unpin(entry);
		return;
	}
	flags_clear(&e->flags, id, FLAG_KNOWN_ANEW);
	flags_set(&e->flags, id, FLAG_PUSHING);
	e->options.sink->push(e->options.sink, &p->job);
}

void push_known(struct engine *e, sample_id id)
{
	uint8_t flags = flags_get(&e->flags, id);

	if (flags & FLAG_PUSHING)
		flags_set(&e->flags, id, FLAG_KNOWN_ANEW);
	else if (flags & FLAG_MEMORY)
		push(e, id);
}

static void dropped(struct engine *e, sample_id id)
{
	flags_clear(&e->flags, id, FLAG_MEMORY | FLAG_PAGE_CACHE | FLAG_PUSHING | FLAG_DROP);
	plan_dropped(e->plan, id);
}

void push_done(struct engine *e, const struct fact *f)
{
	uint8_t before;

	if (f->kind == FACT_DROPPED) {
		flags_clear(&e->flags, f->id, FLAG_CACHED);
		dropped(e, f->id);
		return;
	}
	before = flags_clear(&e->flags, f->id, FLAG_PUSHING | FLAG_KNOWN);
	if (f->result == 0) {
		pushed(e, f->id);
	} else if (f->result == -ENOENT && before & FLAG_KNOWN_ANEW) {
		push(e, f->id);
	}
	if (before & FLAG_DROP)
		drop_planned(e, f->id);
}

/* A sample of the plan is in the store: from there it goes to the page cache. */
static void ready(struct engine *e, sample_id id, uint64_t cost)
{
	/* What was coded anew is of another size than was thought. */
	plan_sized(e->plan, id, planned_size(e, id));
	plan_fetched(e->plan, id, cost);
	flags_set(&e->flags, id, FLAG_MEMORY);
	if (flags_get(&e->flags, id) & FLAG_KNOWN)
		push(e, id);
}

void fetch_planned(struct engine *e, const struct plan_step *step)
{
	struct urgency urgency = {
		.due = step->due == PLAN_NEVER ? PLAN_NEVER : step->due + 1,
		.in_turn = step->in_turn,
	};
	sample_id id = step->id;
	struct entry *entry;
	struct loose *l;

	switch (store_begin(e->store, (struct block){ id, 0 }, NULL, &entry)) {
	case STORE_MINE:
		fetch_start(e, entry, urgency, 0);
		break;
	case STORE_READY:              /* a late read brought it: it is the plan's now */
		store_unpin(entry);
		l = loose_find(e, (struct block){ id, 0 });
		if (l)
			loose_forget(e, l);
		ready(e, id, 0);
		break;
	case STORE_BUSY:               /* its FACT_DONE will say so */
		break;
	default:
		plan_failed(e->plan, id, clock_now());
	}
}

/* With it goes what a late reader had of it: or that would later take what is fetched anew. */
static void drop_from_store(struct engine *e, sample_id id)
{
	struct block b = { id, 0 };
	struct loose *l = store_drop(e->store, b) ? loose_find(e, b) : NULL;

	if (l)
		loose_forget(e, l);
}

void drop_planned(struct engine *e, sample_id id)
{
	uint8_t flags = flags_get(&e->flags, id);
	struct push_job *p;

	if (flags & FLAG_PUSHING) {
		flags_set(&e->flags, id, FLAG_DROP);
		return;
	}
	drop_from_store(e, id);
	p = flags & FLAG_PAGE_CACHE && !e->stopping ? push_job(e, id, NULL) : NULL;
	if (p)
		e->options.sink->drop(e->options.sink, &p->job);
	else
		dropped(e, id);
}

/* The plan found it in the store before we heard of it. */
static bool is_planned(struct engine *e, const struct fact *f)
{
	return f->number == 0 &&
		flags_get(&e->flags, f->id) & (FLAG_MEMORY | FLAG_PUSHING | FLAG_PAGE_CACHE);
}

void fetch_held(struct engine *e, const struct fact *f)
{
	struct loose l = {
		.block = { f->id, f->number }, .until = UINT64_MAX, .len = f->time,
	};
	/* What was pushed before is read past the page cache: the plan has no part in that. */
	bool planned = f->number == 0 &&
		flags_get(&e->flags, f->id) & (FLAG_MEMORY | FLAG_PUSHING);

	if (planned || buf_append(&e->loose, &l, sizeof(l)) < 0)
		late_release(e, l.len);
}

/* Since it failed somebody began another fetch of it, which will be heard of. */
static bool is_begun_anew(struct engine *e, struct block b)
{
	struct entry *entry;
	int got = store_peek(e->store, b, &entry);

	if (got == STORE_READY)
		store_unpin(entry);
	return got != STORE_ABSENT;
}

void fetch_done(struct engine *e, const struct fact *f)
{
	struct block b = { f->id, f->number };
	struct loose *l = f->result == 1 ? loose_find(e, b) : NULL;

	if (f->result < 0) {
		if (!is_begun_anew(e, b))
			plan_failed(e->plan, f->id, clock_now());
		if (f->result == -ESTALE && e->options.stale)
			e->options.stale(e->options.context, f->id);
	} else if (f->number == 0 && plan_fetching(e->plan, f->id)) {
		if (l)
			loose_forget(e, l);
		if (f->stored)
			plan_local(e->plan, f->id, f->kept);
		ready(e, f->id, f->time);
	} else if (l) {
		l->until = clock_now() + LOOSE_NS;
	} else if (!is_planned(e, f)) {
		store_drop(e->store, b);
	}
}
