/* The planner thread: facts in, steps out. */
#include <malloc.h>
#include <signal.h>
#include <string.h>

#include "base/log.h"
#include "config/units.h"
#include "prefetch/engine_internal.h"

#define BATCH 256
#define AGE_NS (10 * CLOCK_S)
#define LOOK_MOST (10 * CLOCK_S)       /* between two looks at what memory there is, and ... */
#define LOOK_LEAST (100 * CLOCK_MS)
#define LOOK_RATE GiB                  /* ... a second: nobody takes more of it meanwhile */

static bool process_exists(uint32_t pid)
{
	return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

static void note_turn(struct engine *e)
{
	const struct course *c = tracker_main(e->tracker);
	struct sequence *now = c ? c->sequence : NULL, *next = c ? c->next : NULL;
	uint64_t epoch = c ? c->epoch : 0;

	if (now == e->told && next == e->told_next && epoch == e->told_epoch)
		return;
	sequence_unref(e->told);
	sequence_unref(e->told_next);
	e->told = now ? sequence_ref(now) : NULL;
	e->told_next = next ? sequence_ref(next) : NULL;
	e->told_epoch = epoch;
	e->turn++;
}

static void keep_standing(struct engine *e)
{
	struct standing s = tracker_standing(e->tracker);

	s.rests = plan_is_resting(e->plan);
	if (e->options.standing)
		standing_keep(e->options.standing, &s);
}

void planner_order(struct engine *e)
{
	const struct course *courses;
	size_t count = tracker_courses(e->tracker, &courses);

	note_turn(e);
	keep_standing(e);
	e->view_read = looks_are_opened(&e->looks);
	plan_courses(e->plan, courses, count, clock_now());
}

static void turn_over(struct engine *e)
{
	const struct course *c = tracker_main(e->tracker);
	uint32_t pids[TRACKER_READERS];
	size_t count = tracker_left(e->tracker, pids);

	finder_turn(e->finder, pids, count, c && c->next);
}

static void opened(struct engine *e, const struct fact *f)
{
	bool memory = flags_get(&e->flags, f->id) & (FLAG_MEMORY | FLAG_PUSHING);
	uint64_t turn = tracker_turn(e->tracker);

	looks_opened(&e->looks, f->id);
	judge_open(e->judge, f->id, memory, f->time);
	share_opened(&e->share, f->time, false);
	tracker_open(e->tracker, f->id, f->number, f->time);
	if (tracker_turn(e->tracker) != turn)
		turn_over(e);
	finder_open(e->finder, f->id, f->number, tracker_took(e->tracker), f->time);
}

static void late(struct engine *e, const struct fact *f)
{
	if (judge_late(e->judge, f->id, f->time))
		plan_late(e->plan, f->id);
}

struct loose *loose_find(struct engine *e, struct block b)
{
	struct loose *l = (void *)e->loose.at;

	for (size_t i = 0; i < e->loose.len / sizeof(*l); i++)
		if (l[i].block.id == b.id && l[i].block.number == b.number)
			return &l[i];
	return NULL;
}

void loose_forget(struct engine *e, struct loose *l)
{
	uint64_t len = l->len;

	*l = *(struct loose *)(void *)(e->loose.at + e->loose.len - sizeof(*l));
	e->loose.len -= sizeof(*l);
	late_release(e, len);
}

static void drop_loose(struct engine *e, struct loose *l)
{
	store_drop(e->store, l->block);
	loose_forget(e, l);
}

/* When it goes if others wait for room: at once if all of it was read, or if it is there for a
 * reader who jumps about in a big file, and has had what it came for.  Who reads but the head of
 * each file never comes to its end, so a small one has a moment.  What the plan waits for is the
 * plan's once the fetch is done. */
static uint64_t may_go(struct engine *e, const struct loose *l)
{
	bool big = is_big(e, l->block.id);

	if (l->block.number == 0 && plan_fetching(e->plan, l->block.id))
		return UINT64_MAX;
	if (l->spent)
		return 0;
	if (l->until == UINT64_MAX)
		return UINT64_MAX;
	if (!big)
		return l->until - LOOSE_NS + HASTE_NS;
	return late_wanted(e, l->block, true) ? l->until : 0;
}

/* While others wait for room, the oldest goes. */
static void make_room(struct engine *e, uint64_t now)
{
	while (late_short(e)) {
		struct loose *l = (void *)e->loose.at, *best = NULL;

		for (size_t i = 0; i < e->loose.len / sizeof(*l); i++)
			if ((!best || l[i].until < best->until) && may_go(e, &l[i]) <= now)
				best = &l[i];
		if (!best)
			return;
		drop_loose(e, best);
	}
}

static void spent(struct engine *e, const struct fact *f)
{
	struct block b = { f->id, f->number };
	struct loose *l = loose_find(e, b);

	if (!l)
		return;
	l->spent = true;
	if (is_big(e, b.id))           /* its room is for what is read ahead */
		drop_loose(e, l);
	else
		make_room(e, clock_now());
}

/* Of a big file, what its reader will come to is not let go before: he may take his time, and it
 * would only be fetched again.  Unless others need the room. */
static bool stays(struct engine *e, const struct loose *l)
{
	return is_big(e, l->block.id) && late_stays(e, l->block);
}

static uint64_t settle_loose(struct engine *e, uint64_t now)
{
	struct loose *l = (void *)e->loose.at;
	uint64_t soonest = UINT64_MAX;
	bool is_short;

	make_room(e, now);
	is_short = late_short(e);
	for (size_t i = e->loose.len / sizeof(*l); i-- > 0;) {
		if (l[i].until <= now && stays(e, &l[i]))
			l[i].until = now + LOOSE_NS;
		if (l[i].until <= now) {
			drop_loose(e, &l[i]);
			continue;
		}
		soonest = DL_MIN(soonest, l[i].until);
		if (is_short)
			soonest = DL_MIN(soonest, may_go(e, &l[i]));
	}
	return soonest;
}

/* Opens change the tracker, and with it what the plan has borrowed of it: they come first, then
 * the plan gets the new courses, then everything else. */
static void take_opens(struct engine *e, const struct fact *f, size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		if (f[i].kind == FACT_OPEN)
			opened(e, &f[i]);
		else if (f[i].kind == FACT_RESOLVED && e->drawn)       /* its open comes later */
			any |= tracker_drawn(e->tracker, f[i].time, f[i].number);
		else if (f[i].kind == FACT_RESOLVED)
			looks_note(&e->looks, f[i].time, f[i].number, f[i].id);
		any |= f[i].kind <= FACT_OVERFLOW;
	}
	if (e->opens_lost && atomic_exchange(&e->opens_lost, false)) {
		tracker_overflow(e->tracker);
		any = true;
	}
	if (!any)
		return;
	planner_order(e);
	for (size_t i = 0; i < count; i++)
		if (f[i].kind == FACT_OPEN)
			plan_used(e->plan, f[i].id, f[i].number, f[i].time);
}

/* The plan has as much room as others leave to it now.  Once the end has begun the source may be
 * gone, and nothing more is planned. */
static void set_room(struct engine *e)
{
	struct plan_limits limits = {
		.room = e->share.room, .whole = dl_paged(e->whole), .lead = e->options.lead,
	};
	bool less = e->share.room < e->share.most;
	char memory[32];

	if (e->stopping)
		return;
	limits.depth = source_depth(e->options.source);
	if (less != e->pressed)
		log_info(less ? "others need memory: dlfs uses less of its %s" :
			 "dlfs uses all of its %s again",
			 units_human_size(e->options.memory, memory));
	e->pressed = less;
	plan_limits_changed(e->plan, &limits);
}

/* What waits here the kernel cannot take back when somebody needs memory: so we look ourselves, the
 * more often the less there is; not while nothing waits and nothing happens. */
static void look_at_memory(struct engine *e, uint64_t now)
{
	struct plan_report r = plan_report(e->plan);
	uint64_t waiting = store_bytes(e->store), fits, more;

	if (!e->options.fits || now < e->measured + LOOK_LEAST)
		return;
	fits = e->options.fits(e->options.context, waiting, r.held - DL_MIN(waiting, r.held));
	if (share_fits(&e->share, now, fits - DL_MIN(fits, e->reserve))) {
		set_room(e);
		e->reduced = true;
	}
	more = fits - DL_MIN(fits, r.held + e->reserve);
	e->measured = now;
	e->measure = now + DL_MIN(LOOK_LEAST + more / (LOOK_RATE / CLOCK_MS) * CLOCK_MS, LOOK_MOST);
}

static void take_fact(struct engine *e, const struct fact *f)
{
	switch (f->kind) {
	case FACT_OPEN:
	case FACT_OVERFLOW:
	case FACT_RESOLVED:
		break;
	case FACT_KNOWN:
		push_known(e, f->id);
		break;
	case FACT_LATE:
		late(e, f);
		break;
	case FACT_ASKED:
		judge_asked(e->judge, f->id, f->time);
		break;
	case FACT_LOST:
		if (plan_lost(e->plan, f->id) && share_opened(&e->share, clock_now(), true))
			set_room(e);
		break;
	case FACT_PRESSED:
		e->measured = 0;
		if (share_pressed(&e->share, f->time))
			set_room(e);
		break;
	case FACT_HELD:
		fetch_held(e, f);
		break;
	case FACT_DONE:
		fetch_done(e, f);
		make_room(e, clock_now());
		break;
	case FACT_SPENT:
		spent(e, f);
		break;
	case FACT_SHORT:
		make_room(e, clock_now());
		break;
	case FACT_PUSHED:
	case FACT_DROPPED:
		push_done(e, f);
		break;
	case FACT_GROWN:
		plan_grown(e->plan, f->number, f->time);
		break;
	case FACT_EXPECT:
		plan_expect(e->plan, clock_now());
		break;
	case FACT_ASK:
		answer(e, f->time);
		break;
	}
}

static void take_steps(struct engine *e, uint64_t now)
{
	while (!e->stopping) {
		struct plan_step step = plan_next(e->plan, now);

		switch (step.verb) {
		case PLAN_FETCH:
			fetch_planned(e, &step);
			break;
		case PLAN_DROP:
			drop_planned(e, step.id);
			break;
		case PLAN_IDLE:
			return;
		}
	}
}

/* What was let go is ours still, as far as the allocator keeps it. */
static void give_back(struct engine *e)
{
	if (e->reduced)
		malloc_trim(0);
	e->reduced = false;
}

static void show(struct engine *e)
{
	struct plan_report r = plan_report(e->plan);
	struct stats *s = e->options.stats;
	uint64_t reserve;

	{
		DL_HOLD(&e->late_lock);
		reserve = e->reserve_used;
	}
	stats_add(&s->mispredicted, tracker_mispredicted(e->tracker) - e->mispredicted);
	e->mispredicted = tracker_mispredicted(e->tracker);
	stats_set(&s->memory_bytes, r.held + reserve);
	stats_set(&s->memory_share, e->share.room + e->reserve);
	stats_set(&s->kept_bytes, r.kept);
	stats_set(&s->lead, r.ready_ahead);
	stats_set(&s->lead_target, r.lead_target);
	stats_set(&s->filling, r.filling);
}

static void keep_house(struct engine *e, uint64_t now)
{
	if (now >= e->aged + AGE_NS) {
		e->aged = now;
		tracker_age(e->tracker, now, process_exists);
		planner_order(e);
	}
	while (tracker_work(e->tracker) && !mailbox_closed(e->facts)) {
		planner_order(e);
		if (mailbox_waiting(e->facts))
			break;
	}
	planner_order(e);
	learn_look(e);
}

void *planner_main(void *arg)
{
	struct engine *e = arg;
	struct fact facts[BATCH];
	uint64_t wake = 0;
	size_t count;

	for (;;) {
		uint64_t now;

		count = mailbox_take(e->facts, facts, BATCH, wake);
		if (count == 0 && mailbox_closed(e->facts))
			break;
		take_opens(e, facts, count);
		for (size_t i = 0; i < count; i++)
			take_fact(e, &facts[i]);
		now = clock_now();
		look_at_memory(e, now);
		if (share_tick(&e->share, now))
			set_room(e);
		plan_idle(e->plan, e->in_flight == 0);
		take_steps(e, now);
		give_back(e);
		keep_house(e, now);
		take_steps(e, now);
		wake = DL_MIN(judge_settle(e->judge, now), settle_loose(e, now));
		show(e);
		wake = DL_MIN(wake, plan_wake(e->plan));
		wake = DL_MIN(wake, share_wake(&e->share));
		if (e->options.fits && store_bytes(e->store) > 0)
			wake = DL_MIN(wake, e->measure);
	}
	return NULL;
}
