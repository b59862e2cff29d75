/* The next step: what is fetched, and what goes for it. */
#include "prefetch/plan/plan_internal.h"

#define LOOK_RETRY 16                  /* that wait to be tried again: the first of them */

static struct plan_step idle(void) { return (struct plan_step){ .verb = PLAN_IDLE }; }

static struct plan_step drop(struct plan *p, struct held *h)
{
	if (h->role == ROLE_LEAD)              /* its courses come back for it later */
		while (h->wants) {
			struct slot *s = h->wants->slot;

			s->cursor = DL_MIN(s->cursor, h->wants->at);
			want_remove(p, h->wants, ROLE_STALE);
		}
	held_change(p, h, HELD_DROPPING, ROLE_STALE);
	return (struct plan_step){ .verb = PLAN_DROP, .id = h->id };
}

/* About the open at which it is needed, counted from the first of all: so what was asked for when
 * its reader was further away stays before all that he comes to later.  Pieces are in the order of
 * the sequence, wherever he is. */
static uint64_t urgency(const struct plan *p, const struct held *h)
{
	const struct want *w = h->wants;

	return w && w->slot->sequence->pieces ? w->due_at : p->opens + held_due(h);
}

static struct plan_step fetch(struct plan *p, struct held *h, enum held_role role)
{
	const struct want *w = h->wants;

	h->local = h->was_local = false;
	held_change(p, h, HELD_FETCHING, role);
	return (struct plan_step){ .verb = PLAN_FETCH, .id = h->id,
				   .due = w ? urgency(p, h) : PLAN_NEVER,
				   .in_turn = w && slot_in_turn(w->slot, w->at) };
}

static struct held *soonest_retry(struct plan *p, uint64_t now)
{
	struct held *best = NULL;
	struct link *l = p->retry.next;

	for (unsigned n = 0; n < LOOK_RETRY && l != &p->retry; n++, l = l->next) {
		struct held *h = dl_container_of(l, struct held, in);

		if (h->stamp > now)
			break;
		if (!best || held_due(h) < held_due(best))
			best = h;
	}
	return best;
}

/* What is needed soonest of all courses; of equals the one whose turn it is. */
static struct held *soonest(struct plan *p, uint64_t now)
{
	struct held *best;
	uint32_t turn = p->turn;

	if (plan_is_resting(p))             /* a course says what comes, not that somebody comes */
		return NULL;
	best = soonest_retry(p, now);
	for (unsigned n = 1; n <= TRACKER_COURSES; n++) {
		unsigned i = (p->turn + n) % TRACKER_COURSES;
		struct held *h;

		if (!p->slots[i].list || !slot_advance(p, &p->slots[i]))
			continue;
		h = dl_container_of(p->slots[i].todo.next, struct held, in);
		if (best && held_due(best) <= held_due(h))
			continue;
		best = h;
		turn = i;
	}
	p->turn = turn;
	return best;
}

/* Nothing that is needed goes for it.  In pieces that holds however near it is: those that are
 * there are needed sooner, and one that is evicted is fetched alone. */
static bool is_deep(const struct plan *p, const struct held *h)
{
	for (const struct want *w = h->wants; w; w = w->next)
		if (w->due_at < lead_end(p, w->slot) && !w->slot->sequence->pieces)
			return false;
	return true;
}

static struct plan_step get(struct plan *p, struct held *h, uint64_t now)
{
	struct held *victim;

	if (h->size <= lead_free(p))
		return fetch(p, h, ROLE_LEAD);
	p->blocked = true;
	if (h->size <= lead_free(p) + p->dropping)
		return idle();
	victim = victim_pick(p, is_deep(p, h) ? VICTIM_SPENT : VICTIM_KEPT, held_due(h), now);
	if (victim)
		return drop(p, victim);
	for (const struct want *w = h->wants; w; w = w->next)
		w->slot->full = true;
	warm_give_up(p);
	return idle();
}

static struct plan_step fill(struct plan *p, uint64_t now)
{
	struct held *h = warm_next(p);

	if (h)
		return fetch(p, h, h->wants ? ROLE_LEAD : ROLE_KEPT);
	for (unsigned i = 0; i < TRACKER_COURSES; i++)
		if (p->slots[i].list)
			return idle();
	h = p->may_fill && p->source_idle && now >= p->quiet_at ? fill_next(p) : NULL;
	return h ? fetch(p, h, ROLE_KEPT) : idle();
}

/* Room for what comes next is made before it is needed, out of what nobody needs. */
static bool is_headroom_short(const struct plan *p)
{
	uint64_t headroom = DL_MIN(p->limits.room / 8, p->limits.depth * p->mean);

	return lead_free(p) + p->dropping < headroom;
}

static uint64_t fetches_max(const struct plan *p)
{
	uint64_t most = p->limits.depth * UINT64_C(2);

	for (unsigned i = 0; i < TRACKER_COURSES; i++)
		if (p->slots[i].list)
			most = DL_MAX(most, slot_at_once(p, &p->slots[i]));
	return most;
}

struct plan_step plan_next(struct plan *p, uint64_t now)
{
	struct plan_step step = idle();
	struct held *h;

	p->asked = now;
	p->blocked = false;
	if (!link_empty(&p->doomed))
		return drop(p, dl_container_of(p->doomed.next, struct held, in));
	if (p->held - p->dropping > p->limits.room) {
		h = victim_pick(p, VICTIM_ANY, 0, now);
		return h ? drop(p, h) : idle();
	}
	if (p->fetching < fetches_max(p)) {
		h = soonest(p, now);
		step = h ? get(p, h, now) : fill(p, now);
	}
	if (step.verb == PLAN_IDLE && p->full_courses && is_headroom_short(p)) {
		h = victim_pick(p, VICTIM_SPENT, 0, now);
		if (h)
			return drop(p, h);
	}
	return step;
}

uint64_t plan_wake(const struct plan *p)
{
	uint64_t wake = p->blocked ? victim_ready_at(p) : PLAN_NEVER;

	if (p->may_fill && p->fill < p->sizes.count && p->quiet_at > p->asked)
		wake = DL_MIN(wake, p->quiet_at);

	for (const struct link *l = p->retry.next; l != &p->retry; l = l->next) {
		const struct held *h = dl_container_of(l, struct held, in);

		if (h->stamp > p->asked)
			return DL_MIN(wake, h->stamp);
	}
	return wake;
}
