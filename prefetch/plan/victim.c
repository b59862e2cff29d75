/* Who goes when room is needed.
 *
 * A hand goes round what is held and looks at a few at a time; the best of these is taken
 * (Redis' way of an approximate LRU).  So a choice costs the same however much is held.
 */
#include "prefetch/plan/internal.h"

#define LOOK_AT 64u

static bool opened_at(const struct way *w, uint32_t position)
{
	return w->opened[position / 64] >> (position % 64) & 1;
}

static uint64_t use_in(const struct way *w, sample_id id)
{
	uint32_t index, p;

	if (!list_index(w->list, id, &index))
		return DUE_NEVER;
	for (p = positions_first(w->positions, index); p != POSITION_NONE;
	     p = positions_following(w->positions, p))
		if (p >= w->front && p < w->sequence->length && !opened_at(w, p))
			return p - w->front;
	return DUE_NEVER;
}

uint64_t next_use(const struct plan *p, sample_id id)
{
	uint64_t soonest = DUE_NEVER;

	for (size_t i = 0; i < p->way_count; i++)
		soonest = DL_MIN(soonest, use_in(&p->ways[i], id));
	return soonest;
}

/* Is a sample that no course reads again in this epoch part of the lead into the next? */
static bool leads_into_next(const struct plan *p, sample_id id)
{
	for (size_t i = 0; i < p->way_count; i++) {
		const struct way *w = &p->ways[i];
		uint32_t index, length = w->sequence->length;

		if (!w->next || w->cursor <= length || !list_index(w->list, id, &index))
			continue;
		for (uint32_t k = 0; k < w->cursor - length; k++)
			if (w->next->at[k] == index)
				return true;
	}
	return false;
}

uint64_t lead_bytes(const struct plan *p)
{
	uint64_t samples = (uint64_t)p->lead * DL_MAX(p->way_count, (size_t)1) + PLAN_SPENT_OPENS;

	return DL_MIN(samples * p->mean_size, p->limits.room);
}

enum held_role role_after_use(const struct plan *p, uint64_t size)
{
	uint64_t share = p->limits.room - lead_bytes(p);

	if (p->total_bytes <= p->limits.room)
		return ROLE_KEPT;
	return p->role_bytes[ROLE_KEPT] + size <= share ? ROLE_KEPT : ROLE_SPENT;
}

static bool reader_is_done(const struct plan *p, const struct held *h, uint64_t now)
{
	return p->opens >= h->opens + PLAN_SPENT_OPENS || now >= h->stamp + PLAN_SPENT_NS;
}

/* The higher, the better it is gone; 0: must stay. */
static double uselessness(const struct plan *p, const struct held *h, uint64_t due, bool deeper,
			  uint64_t now)
{
	uint64_t use;

	if (h->state != HELD_READY)
		return 0;
	if (h->role == ROLE_SPENT)
		return reader_is_done(p, h, now) ? 1e30 : 0;
	if (h->role == ROLE_KEPT) {
		if (deeper || (!p->forgetting && p->role_bytes[ROLE_KEPT] + lead_bytes(p) <=
			       p->limits.room && p->role_bytes[ROLE_LEAD] > lead_bytes(p)))
			return 0;
		return 1e15 / (double)(h->cost_ns / (h->size + 1) + 1);
	}
	use = next_use(p, h->id);
	if (use == DUE_NEVER)
		return leads_into_next(p, h->id) ? (double)(UINT32_MAX / 2) : 1e29;
	return use > due && !deeper ? (double)use : 0;
}

sample_id victim_for(struct plan *p, uint64_t due, bool deeper, uint64_t now)
{
	sample_id worst_id = SAMPLE_NONE;
	double worst = 0;

	for (uint32_t i = 0; i < DL_MIN(p->held.count, LOOK_AT); i++) {
		const struct held *h;
		double useless;

		p->hand = (p->hand + 1) % p->held.count;
		h = &p->held.at[p->hand];
		useless = uselessness(p, h, due, deeper, now);
		if (useless > worst) {
			worst = useless;
			worst_id = h->id;
		}
	}
	return worst_id;
}
