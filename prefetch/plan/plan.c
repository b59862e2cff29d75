/* Facts; the steps that follow from them are in step.c. */
#include "base/clock.h"
#include "prefetch/plan/plan_internal.h"

#define RETRY_NS CLOCK_S

int plan_new(const struct plan_limits *limits, const struct plan_sizes *sizes, struct plan **ret)
{
	struct plan *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->limits = *limits;
	p->sizes = *sizes;
	p->ceiling = limits->room;
	p->mean = DL_MIN(128 * KiB, limits->room / 16 + 1);
	link_init(&p->spent_list);
	link_init(&p->stale);
	link_init(&p->doomed);
	link_init(&p->retry);
	link_init(&p->hopeless);
	for (unsigned i = 0; i < PLAN_CLASSES; i++)
		link_init(&p->kept_list[i]);
	p->dear[PLAN_PINNED] = UINT64_MAX / 2;
	lead_start(p);
	*ret = p;
	return 0;
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < TRACKER_COURSES; i++)
		if (p->slots[i].list)
			slot_close(p, &p->slots[i]);
	want_fini(p);
	for (size_t i = 0; p->table && i < (size_t)1 << p->table_bits; i++)
		free(p->table[i]);
	free(p->table);
	free(p);
}

static void fill_again(struct plan *p)
{
	p->fill = 0;
	p->fill_full = false;
}

void plan_limits_changed(struct plan *p, const struct plan_limits *limits)
{
	bool lead = p->limits.lead != limits->lead;

	p->limits = *limits;
	p->ceiling = DL_MAX(p->held, limits->room);
	fill_again(p);
	if (lead)
		lead_start(p);
}

void plan_grown(struct plan *p, uint32_t count, uint64_t total_bytes)
{
	if (p->total_bytes == 0 && count > 0)
		p->mean = DL_MIN(total_bytes / count + 1, p->limits.whole);
	p->sizes.count = count;
	p->total_bytes = total_bytes;
	fill_again(p);
}

/* --- Courses -------------------------------------------------------------------------- */

/* The slot that followed this course until now: the same sequence, or one that has come to
 * its next.  Two jobs may be in the same sequence: then their readers tell them apart. */
static struct slot *match(struct plan *p, const struct course *c, bool same_pid, bool rolled)
{
	for (unsigned i = 0; i < TRACKER_COURSES; i++) {
		struct slot *s = &p->slots[i];

		if (!s->list || s->matched || s->list != c->list)
			continue;
		if ((rolled ? s->next : s->sequence) != c->sequence)
			continue;
		if (!same_pid || s->pid == c->pid)
			return s;
	}
	return NULL;
}

static struct slot *find_slot(struct plan *p, const struct course *c)
{
	struct slot *s = match(p, c, true, false);

	if (!s)
		s = match(p, c, true, true);
	if (!s)
		s = match(p, c, false, false);
	return s ? s : match(p, c, false, true);
}

static struct slot *free_slot(struct plan *p)
{
	for (unsigned i = 0; i < TRACKER_COURSES; i++)
		if (!p->slots[i].list)
			return &p->slots[i];
	return NULL;
}

void plan_courses(struct plan *p, const struct course *courses, size_t count, uint64_t now)
{
	struct slot *slots[TRACKER_COURSES];

	count = DL_MIN(count, (size_t)TRACKER_COURSES);
	p->now = now;
	p->full_courses = 0;
	for (unsigned i = 0; i < TRACKER_COURSES; i++)
		p->slots[i].matched = false;
	for (size_t i = 0; i < count; i++) {
		p->full_courses += !courses[i].provisional;
		slots[i] = find_slot(p, &courses[i]);
		if (slots[i])
			slots[i]->matched = true;
	}
	for (unsigned i = 0; i < TRACKER_COURSES; i++)
		if (p->slots[i].list && !p->slots[i].matched)
			slot_close(p, &p->slots[i]);
	for (size_t i = 0; i < count; i++) {
		if (!slots[i]) {
			slots[i] = free_slot(p);
			slot_open(p, slots[i], &courses[i]);
		}
		slot_update(p, slots[i], &courses[i]);
	}
}

/* --- Other facts ---------------------------------------------------------------------- */

void plan_used(struct plan *p, sample_id id, uint32_t pid, uint64_t now)
{
	struct held *h = held_find(p, id);

	p->readers[pid % PLAN_READERS].pid = pid;
	p->readers[pid % PLAN_READERS].last = id;
	if (h)
		h->reader = pid;
	p->now = now;
	p->quiet_at = now + PLAN_QUIET_NS;
	p->opens++;
	if (!h || h->wants || h->role == ROLE_DOOMED)
		return;
	if (h->state == HELD_READY || h->state == HELD_FETCHING)
		victim_settle(p, h);
}

void plan_late(struct plan *p, sample_id id)
{
	struct held *h = held_find(p, id);

	plan_expect(p, p->now);        /* his open may not have been seen */
	if (h && h->wants && h->state == HELD_FETCHING)
		lead_grow(p);
	/* It is brought without us.  His open, of which we hear later, takes the want away. */
	if (h && h->state == HELD_WAIT && h->failures == 0)
		held_await(p, h, p->asked + RETRY_NS);
}

bool plan_lost(struct plan *p, sample_id id)
{
	struct held *h = held_find(p, id);

	if (!h || h->state != HELD_READY)
		return false;
	if (!h->used)
		lead_shrink(p);
	h->used = false;
	if (h->wants)
		held_await(p, h, 0);
	else
		held_delete(p, h);
	return true;
}

/* What has gone to the disk only now came from the source; what is pinned is the dearest, whatever
 * it cost. */
static void learn_cost(struct plan *p, const struct held *h, uint64_t cost_ns)
{
	uint64_t *dear = &p->dear[held_class(h) - (h->local && !h->was_local ? PLAN_SIZES : 0)];
	uint64_t cost = (cost_ns + 1) * KiB / (h->size + 1) + 1;

	p->mean = DL_MAX(p->mean - p->mean / 64 + h->size / 64, UINT64_C(1));
	if (!h->pinned)
		*dear = *dear ? *dear - *dear / 16 + cost / 16 : cost;
}

void plan_sized(struct plan *p, sample_id id, uint64_t size)
{
	struct held *h = held_find(p, id);

	if (h && h->state == HELD_FETCHING && h->size != size)
		held_resize(p, h, size);
}

void plan_local(struct plan *p, sample_id id, bool before)
{
	struct held *h = held_find(p, id);

	if (!h || h->state != HELD_FETCHING)
		return;
	h->local = true;
	h->was_local = before;
}

void plan_fetched(struct plan *p, sample_id id, uint64_t cost_ns)
{
	struct held *h = held_find(p, id);

	if (!h || h->state != HELD_FETCHING)
		return;
	learn_cost(p, h, cost_ns);
	h->failures = 0;
	held_change(p, h, HELD_READY, h->role);
}

void plan_failed(struct plan *p, sample_id id, uint64_t now)
{
	struct held *h = held_find(p, id);

	if (!h || h->state != HELD_FETCHING)
		return;
	h->failures++;
	if (h->wants)
		held_await(p, h, now + RETRY_NS);
	else
		held_delete(p, h);
}

void plan_dropped(struct plan *p, sample_id id)
{
	struct held *h = held_find(p, id);

	if (!h || h->state != HELD_DROPPING)
		return;
	if (h->wants)
		held_await(p, h, 0);
	else
		held_delete(p, h);
}

void plan_idle(struct plan *p, bool source_idle) { p->source_idle = source_idle; }

void plan_fill(struct plan *p, bool fill)
{
	p->may_fill = fill;
	fill_again(p);
}

void plan_rest(struct plan *p) { p->quiet_at = PLAN_NEVER; }
bool plan_is_resting(const struct plan *p) { return p->quiet_at == PLAN_NEVER; }

uint64_t plan_forget(struct plan *p, sample_id id)
{
	struct held *h = held_find(p, id);

	plan_rest(p);
	if (!h || h->role == ROLE_DOOMED ||
	    (h->state != HELD_READY && h->state != HELD_FETCHING))
		return 0;
	held_change(p, h, h->state, ROLE_DOOMED);
	return h->size;
}

void plan_expect(struct plan *p, uint64_t now)
{
	if (plan_is_resting(p))
		p->quiet_at = now + PLAN_QUIET_NS;
}
