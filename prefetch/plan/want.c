/* Which positions a sample is held for. */
#include "prefetch/plan/plan_internal.h"

#define SPARE_MAX 4096
#define WANTS_MAX 64                    /* of one sample: they are searched one by one */

struct want *want_find(const struct held *h, const struct slot *s, uint64_t at)
{
	struct want *w = h->wants;

	while (w && (w->slot != s || w->at != at))
		w = w->next;
	return w;
}

/* That of the same reader's position before this one; NULL: there is none. */
static struct want *find_before(const struct plan *p, const struct slot *s, uint64_t at)
{
	uint64_t position = at - s->base - s->sequence->step;
	const struct held *h;

	if (at < s->base + s->sequence->step || position >= s->sequence->length)
		return NULL;
	h = held_find(p, list_at(s->list, s->sequence->at[position]));
	return h ? want_find(h, s, s->base + position) : NULL;
}

static uint64_t at_of(const struct link *l) { return dl_container_of(l, struct want, in)->at; }

/* Nearly always the end, or close to what its reader comes to before. */
static void insert_in_order(const struct plan *p, struct slot *s, struct want *w)
{
	struct link *l = s->wants.prev;
	struct want *before = NULL;

	if (l != &s->wants && at_of(l) > w->at)
		before = find_before(p, s, w->at);
	if (before && !before->ahead)
		for (l = &before->in; l->next != &s->wants && at_of(l->next) < w->at; l = l->next)
			;
	else
		while (l != &s->wants && at_of(l) > w->at)
			l = l->prev;
	link_before(l->next, &w->in);
}

/* As one goes another comes, for the most part: the same memory, which is still in the cache. */
static struct want *want_new(struct plan *p)
{
	struct want *w = p->spare_wants;

	if (!w)
		return malloc(sizeof(*w));
	p->spare_wants = w->next;
	p->spare_count--;
	return w;
}

static void want_free(struct plan *p, struct want *w)
{
	if (p->spare_count == SPARE_MAX) {
		free(w);
		return;
	}
	w->next = p->spare_wants;
	p->spare_wants = w;
	p->spare_count++;
}

void want_fini(struct plan *p)
{
	while (p->spare_wants)
		free(want_new(p));
}

static int make(struct plan *p, struct slot *s, struct held *h, uint64_t at, struct want **ret)
{
	struct want *w;

	if (h->want_count == WANTS_MAX)
		return -EAGAIN;
	w = want_new(p);
	if (!w)
		return -ENOMEM;
	*w = (struct want){ .next = h->wants, .held = h, .slot = s, .at = at,
			     .due_at = at };
	link_init(&w->in);
	h->wants = w;
	h->want_count++;
	if (h->state == HELD_FETCHING || h->state == HELD_READY)
		if (h->role != ROLE_DOOMED && h->role != ROLE_LEAD)
			held_change(p, h, h->state, ROLE_LEAD);
	*ret = w;
	return 0;
}

int want_add(struct plan *p, struct slot *s, struct held *h, uint64_t at, uint64_t due_at)
{
	struct want *w = want_find(h, s, at);
	int r;

	if (w && !w->ahead)
		return 0;
	if (w) {                       /* the cursor has come to it */
		link_remove(&w->in);
		w->ahead = false;
	} else {
		r = make(p, s, h, at, &w);
		if (r < 0)
			return r;
	}
	w->due_at = due_at;
	insert_in_order(p, s, w);
	return 0;
}

int want_ahead(struct plan *p, struct slot *s, struct held *h, uint64_t at, uint64_t due_at)
{
	struct want *w = want_find(h, s, at);
	int r = w ? 0 : make(p, s, h, at, &w);

	if (r < 0 || !link_empty(&w->in))
		return r;
	w->ahead = true;
	w->due_at = due_at;
	link_append(&s->ahead, &w->in);
	return 0;
}

void want_remove(struct plan *p, struct want *w, enum held_role after)
{
	struct held *h = w->held;
	struct want **at = &h->wants;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	h->want_count--;
	link_remove(&w->in);
	want_free(p, w);

	if (h->state == HELD_WAIT && h->wants)
		held_await(p, h, h->stamp);
	else if (h->state == HELD_WAIT)
		held_delete(p, h);
	else if (!h->wants && h->state != HELD_DROPPING && h->role != ROLE_DOOMED) {
		if (after == ROLE_SPENT)
			victim_settle(p, h);
		else
			held_change(p, h, h->state, after);
	}
}

uint64_t held_due(const struct held *h)
{
	uint64_t due = PLAN_NEVER;

	for (const struct want *w = h->wants; w; w = w->next)
		due = DL_MIN(due, w->due_at > w->slot->front ? w->due_at - w->slot->front : 0);
	return due;
}
