/* What the plan says of itself, and whether it is right. */
#include "prefetch/plan/plan_internal.h"

struct plan_report plan_report(const struct plan *p)
{
	return (struct plan_report){
		.held = p->held, .kept = p->kept, .room = p->limits.room,
		.ready_ahead = p->ready_ahead, .lead_target = p->target,
		.filling = fill_goes_on(p),
	};
}

bool plan_held(const struct plan *p, sample_id id)
{
	const struct held *h = held_find(p, id);

	return h && held_counts(h);
}

bool plan_fetching(const struct plan *p, sample_id id)
{
	const struct held *h = held_find(p, id);

	return h && h->state == HELD_FETCHING;
}

struct sums {
	uint64_t held, kept, spent, dropping, fetching, ahead, waiting, wants;
	uint64_t listed[5];            /* READY samples, by role */
};

static void add(struct sums *t, const struct held *h)
{
	bool ready = h->state == HELD_READY;

	t->held += held_counts(h) ? h->size : 0;
	t->fetching += h->state == HELD_FETCHING;
	t->dropping += h->state == HELD_DROPPING ? h->size : 0;
	t->waiting += h->state == HELD_WAIT;
	t->ahead += ready && h->role == ROLE_LEAD;
	t->kept += (ready || h->state == HELD_FETCHING) && h->role == ROLE_KEPT ? h->size : 0;
	t->spent += ready && h->role == ROLE_SPENT ? h->size : 0;
	t->listed[h->role] += ready;
	for (const struct want *w = h->wants; w; w = w->next)
		t->wants++;
}

static bool check_held(const struct held *h)
{
	switch (h->state) {
	case HELD_WAIT:
		return h->wants;
	case HELD_FETCHING:
	case HELD_READY:
		return h->role == ROLE_DOOMED || (h->wants != NULL) == (h->role == ROLE_LEAD);
	case HELD_DROPPING:
		return true;
	}
	return false;
}

static size_t list_length(const struct link *list)
{
	size_t n = 0;

	for (const struct link *l = list->next; l != list; l = l->next)
		n++;
	return n;
}

static bool check_slot(const struct plan *p, const struct slot *s, struct sums *t)
{
	uint64_t at = s->front;

	if (s->cursor < s->front || s->reach < s->front)
		return false;
	for (const struct link *l = s->wants.next; l != &s->wants; l = l->next) {
		const struct want *w = dl_container_of(l, struct want, in);

		if (w->at < at || w->slot != s || held_find(p, w->held->id) != w->held)
			return false;
		at = w->at + 1;
		t->wants--;
	}
	for (const struct link *l = s->ahead.next; l != &s->ahead; l = l->next) {
		const struct want *w = dl_container_of(l, struct want, in);

		if (w->at < s->cursor || !w->ahead || held_find(p, w->held->id) != w->held)
			return false;
		t->wants--;
	}
	t->waiting -= list_length(&s->todo);
	return true;
}

bool plan_check(const struct plan *p)
{
	struct sums t = { 0 };
	size_t used = 0, kept = 0;

	for (size_t i = 0; p->table && i < (size_t)1 << p->table_bits; i++) {
		if (!p->table[i])
			continue;
		used++;
		add(&t, p->table[i]);
		if (!check_held(p->table[i]))
			return false;
	}
	for (unsigned i = 0; i < TRACKER_COURSES; i++)
		if (p->slots[i].list && !check_slot(p, &p->slots[i], &t))
			return false;
	for (unsigned i = 0; i < PLAN_CLASSES; i++)
		kept += list_length(&p->kept_list[i]);
	return used == p->table_used && t.held == p->held && t.kept == p->kept &&
		t.spent == p->spent && t.dropping == p->dropping && t.fetching == p->fetching &&
		t.ahead == p->ready_ahead && t.wants == 0 &&
		t.waiting == list_length(&p->retry) + list_length(&p->hopeless) &&
		t.listed[ROLE_KEPT] == kept &&
		t.listed[ROLE_SPENT] == list_length(&p->spent_list) &&
		t.listed[ROLE_STALE] == list_length(&p->stale) &&
		t.listed[ROLE_DOOMED] == list_length(&p->doomed) &&
		p->held <= p->ceiling && p->ceiling >= p->limits.room;
}
