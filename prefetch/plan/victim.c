/* Who goes when room is short, and what is kept of what was used. */
#include "prefetch/plan/plan_internal.h"

#define LOOK_BACK 32                   /* wants from the end of a course's lead */
#define SWAPS 8

static struct held *held_of(struct link *l) { return dl_container_of(l, struct held, in); }

/* Its reader has opened another file since, as far as is known.  Who has not may have to wait for a
 * processor while others open many. */
static bool is_left(const struct plan *p, const struct held *h)
{
	uint32_t at = h->reader % PLAN_READERS;

	return h->reader == 0 || p->readers[at].pid != h->reader || p->readers[at].last != h->id;
}

/* Or may a reader be in the middle of it?  One may have several threads. */
static bool is_read(const struct plan *p, const struct held *h, uint64_t now)
{
	return (p->opens >= h->opens + PLAN_SPENT_OPENS && is_left(p, h)) ||
	       now >= h->stamp + PLAN_SPENT_NS;
}

uint64_t victim_ready_at(const struct plan *p)
{
	uint64_t spent = link_empty(&p->spent_list) ? PLAN_NEVER :
			 held_of(p->spent_list.next)->stamp + PLAN_SPENT_NS;

	_Static_assert(PLAN_QUIET_NS >= PLAN_SPENT_NS, "by then all is read that is kept");
	return p->quiet_at > p->asked ? DL_MIN(spent, p->quiet_at) : spent;
}

/* The oldest that its reader has left; else the oldest. */
static struct held *oldest_left(const struct plan *p, const struct link *list)
{
	struct link *l = list->next;

	for (unsigned n = 0; n < LOOK_BACK && l != list; n++, l = l->next)
		if (is_left(p, held_of(l)))
			return held_of(l);
	return held_of(list->next);
}

/* Of a class, the one used last that is read: its next use is furthest. */
static struct held *last_read(const struct plan *p, int class, uint64_t now)
{
	const struct link *list = &p->kept_list[class];
	struct link *l = list->prev;

	while (l != list && !is_read(p, held_of(l), now))
		l = l->prev;                   /* SPENT_OPENS steps at most, and one a reader */
	return l == list ? NULL : held_of(l);
}

/* The class that is cheapest to fetch again, byte for byte. */
static int cheapest(const struct plan *p)
{
	int best = -1;

	for (int i = 0; i < PLAN_CLASSES; i++)
		if (!link_empty(&p->kept_list[i]) && (best < 0 || p->dear[i] < p->dear[best]))
			best = i;
	return best;
}

/* More than a quarter of the room is not worth that a reader has not finished; where samples come
 * in pieces, and nearly all of the room is for what is to come, more than a sixteenth. */
static uint64_t spent_max(const struct plan *p)
{
	return p->limits.room / (plan_in_pieces(p) ? 16 : 4);
}

static struct held *kept_victim(struct plan *p, bool force, uint64_t now)
{
	struct held *best = NULL, *h;
	int class = -1;

	for (int i = 0; i < PLAN_CLASSES; i++)
		if (class < 0 || p->dear[i] < p->dear[class]) {
			h = last_read(p, i, now);
			best = h ? h : best;
			class = h ? i : class;
		}
	class = best ? -1 : cheapest(p);
	if (class >= 0 && (force || p->kept + p->spent > spent_max(p)))
		best = oldest_left(p, &p->kept_list[class]);
	return best;
}

static struct held *spent_victim(struct plan *p, bool force, uint64_t now)
{
	struct held *h;

	if (link_empty(&p->spent_list))
		return NULL;
	h = oldest_left(p, &p->spent_list);
	return force || is_read(p, h, now) || p->spent > spent_max(p) ? h : NULL;
}

static void look_back(const struct link *wants, struct held **best, uint64_t *best_due)
{
	const struct link *l = wants->prev;

	for (unsigned n = 0; n < LOOK_BACK && l != wants; n++, l = l->prev) {
		struct held *h = dl_container_of(l, struct want, in)->held;

		if (h->state != HELD_READY || h->role == ROLE_DOOMED)
			continue;
		if (*best && held_due(h) <= *best_due)
			continue;
		*best = h;
		*best_due = held_due(h);
	}
}

/* The READY sample that is needed last. */
static struct held *lead_victim(const struct plan *p, uint64_t *ret_due)
{
	struct held *best = NULL;

	*ret_due = 0;
	for (unsigned i = 0; i < TRACKER_COURSES; i++) {
		if (!p->slots[i].list)
			continue;
		look_back(&p->slots[i].ahead, &best, ret_due);
		look_back(&p->slots[i].wants, &best, ret_due);
	}
	return best;
}

static bool is_beyond_lead(const struct plan *p, const struct held *h)
{
	for (const struct want *w = h->wants; w; w = w->next)
		if (w->at < lead_end(p, w->slot))
			return false;
	return true;
}

struct held *victim_pick(struct plan *p, enum victim_reach reach, uint64_t due, uint64_t now)
{
	struct held *lead, *kept, *spent;
	uint64_t lead_due;

	if (!link_empty(&p->stale))
		return held_of(p->stale.next);
	spent = spent_victim(p, reach == VICTIM_ANY, now);
	if (spent || reach == VICTIM_SPENT)
		return spent;
	kept = kept_victim(p, reach == VICTIM_ANY, now);
	if (kept && p->kept > lead_kept_share(p))
		return kept;
	lead = lead_victim(p, &lead_due);
	if (lead && reach != VICTIM_ANY && lead_due <= due + due / 8)
		lead = NULL;                   /* not worth a fetch more */
	if (lead && is_beyond_lead(p, lead))
		return lead;
	return kept ? kept : lead;
}

/* Make place among the kept for h, which is dearer than what it replaces.  Costs are noisy:
 * only a clear difference counts. */
static void swap(struct plan *p, const struct held *h, uint64_t share)
{
	uint64_t dear = p->dear[held_class(h)];

	for (unsigned n = 0; n < SWAPS && p->kept + h->size > share; n++) {
		int i = cheapest(p);
		struct held *out = i < 0 ? NULL : last_read(p, i, p->now);

		if (!out || dear <= p->dear[i] + p->dear[i] / 2)
			return;
		held_change(p, out, HELD_READY, ROLE_STALE);
	}
}

void victim_settle(struct plan *p, struct held *h)
{
	uint64_t share = lead_kept_share(p);

	h->stamp = p->now;
	h->opens = p->opens;
	h->used = true;
	if (h->role != ROLE_KEPT && p->kept + h->size > share)
		swap(p, h, share);
	if (h->role == ROLE_KEPT || p->kept + h->size <= share)
		held_change(p, h, h->state, ROLE_KEPT);
	else
		held_change(p, h, h->state, ROLE_SPENT);
}
