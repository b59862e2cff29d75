#include "prefetch/plan/plan.h"

#include "base/clock.h"
#include "prefetch/plan/internal.h"

#define LEAD_FIRST 128u
#define LEAD_MIN 8u
#define RETRY_NS CLOCK_S
#define FAILURES_MAX 3
#define BLOCKED_NS (10 * CLOCK_MS)

int plan_new(const struct plan_limits *limits, const struct plan_sizes *sizes, struct plan **ret)
{
	struct plan *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->limits = *limits;
	p->sizes = *sizes;
	p->lead = limits->lead ? limits->lead : LEAD_FIRST;
	p->mean_size = 64 * KiB;
	*ret = p;
	return 0;
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	ahead_courses(p, NULL, 0);
	held_fini(&p->held);
	free(p);
}

/* --- Bookkeeping: the only places that change totals ----------------------------------- */

static void count(struct plan *p, const struct held *h, bool in)
{
	uint64_t change = in ? h->size : -h->size;

	p->held_bytes += change;
	p->role_bytes[h->role] += change;
	if (h->state == HELD_FETCHING)
		p->fetching += in ? 1 : -1u;
	if (h->state == HELD_DROPPING)
		p->dropping_bytes += change;
}

static void become(struct plan *p, struct held *h, enum held_state state, enum held_role role)
{
	count(p, h, false);
	h->state = state;
	h->role = role;
	count(p, h, true);
}

static void leave(struct plan *p, struct held *h)
{
	count(p, h, false);
	held_remove(&p->held, h);
}

static bool enter(struct plan *p, sample_id id, uint64_t size, enum held_role role)
{
	struct held h = { .id = id, .state = HELD_FETCHING, .role = role, .size = size };

	if (held_add(&p->held, &h) < 0)
		return false;
	count(p, &h, true);
	return true;
}

/* --- Facts ----------------------------------------------------------------------------- */

void plan_limits_changed(struct plan *p, const struct plan_limits *limits)
{
	p->limits = *limits;
	if (limits->lead)
		p->lead = limits->lead;
}

void plan_grown(struct plan *p, uint32_t count_now, uint64_t total_bytes)
{
	p->sizes.count = count_now;
	p->total_bytes = total_bytes;
	p->fill_cursor = 0;
}

void plan_courses(struct plan *p, const struct course *courses, size_t n, uint64_t now)
{
	(void)now;
	ahead_courses(p, courses, n);
}

static void use(struct plan *p, struct held *h, uint64_t now)
{
	h->stamp = now;
	h->opens = p->opens;
	if (h->state == HELD_READY && next_use(p, h->id) == DUE_NEVER)
		become(p, h, HELD_READY, role_after_use(p, h->role == ROLE_KEPT ? 0 : h->size));
}

void plan_used(struct plan *p, sample_id id, uint64_t now)
{
	struct held *h = held_find(&p->held, id);

	p->opens++;
	if (!h)
		return;
	if (h->state == HELD_FETCHING)
		h->used = true;
	else if (h->state == HELD_READY)
		use(p, h, now);
}

static bool wanted_soon(const struct plan *p, sample_id id)
{
	for (size_t i = 0; i < p->way_count; i++) {
		uint32_t index;

		if (!p->ways[i].provisional && list_index(p->ways[i].list, id, &index))
			return true;
	}
	return false;
}

void plan_late(struct plan *p, sample_id id)
{
	/* Once for what is in the pipeline: the next lead must first have had its chance. */
	if (p->limits.lead || !wanted_soon(p, id) || p->opens < p->lead_grown_at + p->lead / 2)
		return;
	p->lead_grown_at = p->opens;
	if ((uint64_t)p->lead * 2 * p->mean_size <= p->limits.room)
		p->lead *= 2;
}

void plan_lost(struct plan *p, sample_id id)
{
	struct held *h = held_find(&p->held, id);

	if (h && h->state == HELD_READY)
		leave(p, h);
	if (!p->limits.lead)
		p->lead = DL_MAX(p->lead - p->lead / 4, LEAD_MIN);
}

void plan_fetched(struct plan *p, sample_id id, uint64_t cost_ns)
{
	struct held *h = held_find(&p->held, id);

	if (!h || h->state != HELD_FETCHING)
		return;
	h->cost_ns = cost_ns;
	h->failures = 0;
	p->mean_size += h->size / 64 - p->mean_size / 64;
	become(p, h, HELD_READY, h->role);
	if (h->used)
		use(p, h, h->stamp);
}

void plan_failed(struct plan *p, sample_id id, uint64_t now)
{
	struct held *h = held_find(&p->held, id);

	if (!h || h->state != HELD_FETCHING)
		return;
	count(p, h, false);
	h->state = HELD_FAILED;
	h->size = 0;
	h->failures++;
	h->stamp = h->failures < FAILURES_MAX ? now + RETRY_NS : UINT64_MAX;
	count(p, h, true);
	p->wake = DL_MIN(p->wake, h->stamp);
}

void plan_dropped(struct plan *p, sample_id id)
{
	struct held *h = held_find(&p->held, id);

	if (h && h->state == HELD_DROPPING)
		leave(p, h);
}

void plan_idle(struct plan *p, bool source_idle)
{
	p->source_idle = source_idle;
}

void plan_fill(struct plan *p, bool fill)
{
	p->fill = fill;
	p->fill_cursor = 0;
}

void plan_forget_all(struct plan *p)
{
	p->forgetting = true;
}

/* --- Steps ----------------------------------------------------------------------------- */

static struct plan_step drop(struct plan *p, sample_id id)
{
	struct held *h = held_find(&p->held, id);

	if (h->role == ROLE_LEAD)
		ahead_again(p);
	become(p, h, HELD_DROPPING, h->role);
	return (struct plan_step){ .verb = PLAN_DROP, .id = id };
}

/* Samples whose fetch failed are forgotten when their time has come, and so planned anew. */
static void forgive(struct plan *p, uint64_t now)
{
	bool any = false;

	for (uint32_t i = p->held.count; i-- > 0;) {
		struct held *h = &p->held.at[i];

		if (h->state != HELD_FAILED)
			continue;
		if (h->stamp <= now) {
			leave(p, h);
			any = true;
		} else {
			p->wake = DL_MIN(p->wake, h->stamp);
		}
	}
	if (any)
		ahead_again(p);
}

static bool forget_one(struct plan *p, struct plan_step *ret)
{
	for (uint32_t i = 0; i < p->held.count; i++) {
		const struct held *h = &p->held.at[i];

		if (h->state == HELD_READY) {
			*ret = drop(p, h->id);
			return true;
		}
	}
	p->forgetting = false;
	return false;
}

/* Fetch id, or first drop something for it. */
static struct plan_step make_room(struct plan *p, sample_id id, uint64_t due, bool deeper,
				  uint64_t now)
{
	uint64_t size = 0;
	sample_id victim;

	p->sizes.size(p->sizes.context, id, &size);
	if (p->held_bytes + size <= p->limits.room &&
	    enter(p, id, size, due == DUE_NEVER ? ROLE_KEPT : ROLE_LEAD))
		return (struct plan_step){ .verb = PLAN_FETCH, .id = id, .due = due };
	if (p->held_bytes - p->dropping_bytes + size > p->limits.room && due != DUE_NEVER) {
		victim = victim_for(p, due, deeper, now);
		if (victim != SAMPLE_NONE)
			return drop(p, victim);
	}
	if (!deeper)
		p->wake = DL_MIN(p->wake, now + BLOCKED_NS);
	return (struct plan_step){ .verb = PLAN_IDLE, .id = SAMPLE_NONE };
}

struct plan_step plan_next(struct plan *p, uint64_t now)
{
	struct plan_step step = { .verb = PLAN_IDLE, .id = SAMPLE_NONE };
	uint64_t due = DUE_NEVER;
	bool deeper = false;
	sample_id id;

	if (p->wake <= now) {
		p->wake = UINT64_MAX;
		forgive(p, now);
	}
	if (p->forgetting && forget_one(p, &step))
		return step;
	if (p->fetching >= p->limits.depth * 2)
		return step;
	id = ahead_next(p, &due, &deeper, now);
	if (id == SAMPLE_NONE) {
		due = DUE_NEVER;
		id = fill_next(p);
	}
	return id == SAMPLE_NONE ? step : make_room(p, id, due, deeper, now);
}

uint64_t plan_wake(const struct plan *p)
{
	return p->wake;
}

static uint32_t ready_ahead(const struct plan *p)
{
	uint32_t ready = 0;

	for (uint32_t i = 0; i < p->held.count; i++)
		ready += p->held.at[i].state == HELD_READY && p->held.at[i].role == ROLE_LEAD;
	return ready;
}

struct plan_report plan_report(const struct plan *p)
{
	return (struct plan_report){
		.held = p->held_bytes, .kept = p->role_bytes[ROLE_KEPT], .room = p->limits.room,
		.ready_ahead = ready_ahead(p), .lead_target = p->lead,
	};
}

bool plan_held(const struct plan *p, sample_id id)
{
	const struct held *h = held_find(&p->held, id);

	return h && h->state == HELD_READY;
}

bool plan_check(const struct plan *p)
{
	uint64_t bytes = 0, roles[ROLES] = { 0 }, dropping = 0;
	uint32_t fetching = 0;

	for (uint32_t i = 0; i < p->held.count; i++) {
		const struct held *h = &p->held.at[i];

		bytes += h->size;
		roles[h->role] += h->size;
		fetching += h->state == HELD_FETCHING;
		dropping += h->state == HELD_DROPPING ? h->size : 0;
		if (held_find(&p->held, h->id) != h)
			return false;
	}
	for (size_t i = 0; i < ROLES; i++)
		if (roles[i] != p->role_bytes[i])
			return false;
	return bytes == p->held_bytes && bytes <= p->limits.room && fetching == p->fetching &&
		dropping == p->dropping_bytes;
}
