/* The table of what is held, and the sums over it. */
#include <string.h>

#include "prefetch/keep/keep.h"
#include "prefetch/plan/plan_internal.h"

#define FAILURES_MAX 3                 /* then it is left to its reader, who gets the error */

static size_t place(const struct plan *p, sample_id id)
{
	return (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - p->table_bits));
}

static size_t mask(const struct plan *p) { return ((size_t)1 << p->table_bits) - 1; }

struct held *held_find(const struct plan *p, sample_id id)
{
	if (!p->table)
		return NULL;
	for (size_t i = place(p, id); p->table[i]; i = (i + 1) & mask(p))
		if (p->table[i]->id == id)
			return p->table[i];
	return NULL;
}

static void table_put(struct plan *p, struct held *h)
{
	size_t i = place(p, h->id);

	while (p->table[i])
		i = (i + 1) & mask(p);
	p->table[i] = h;
}

static bool table_grow(struct plan *p)
{
	struct held **old = p->table;
	size_t n = old ? mask(p) + 1 : 0;
	unsigned bits = old ? p->table_bits + 1 : 6;
	struct held **table = calloc((size_t)1 << bits, sizeof(struct held *));

	if (!table)
		return false;
	p->table = table;
	p->table_bits = bits;
	for (size_t i = 0; i < n; i++)
		if (old[i])
			table_put(p, old[i]);
	free(old);
	return true;
}

/* Close the gap, so that every search still ends at an empty place. */
static void table_take(struct plan *p, const struct held *h)
{
	size_t gap = place(p, h->id);

	while (p->table[gap] != h)
		gap = (gap + 1) & mask(p);
	for (size_t i = (gap + 1) & mask(p); p->table[i]; i = (i + 1) & mask(p)) {
		size_t home = place(p, p->table[i]->id);

		if (((i - home) & mask(p)) < ((i - gap) & mask(p)))
			continue;
		p->table[gap] = p->table[i];
		gap = i;
	}
	p->table[gap] = NULL;
}

struct held *held_new(struct plan *p, sample_id id, uint64_t size)
{
	struct held *h;

	if ((!p->table || p->table_used * 2 > mask(p)) && !table_grow(p))
		return NULL;
	h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	h->id = id;
	h->size = size;
	h->pinned = p->sizes.pinned && p->sizes.pinned(p->sizes.context, id);
	h->state = HELD_WAIT;
	h->role = ROLE_LEAD;
	link_init(&h->in);
	table_put(p, h);
	p->table_used++;
	return h;
}

bool held_counts(const struct held *h) { return h->state != HELD_WAIT; }

unsigned held_class(const struct held *h)
{
	if (h->pinned)
		return PLAN_PINNED;
	return DL_MIN(keep_class(h->size), PLAN_SIZES - 1u) + (h->local ? PLAN_SIZES : 0);
}

/* What h adds to the sums, in its state and role. */
static void account(struct plan *p, const struct held *h, bool add)
{
	uint64_t bytes = add ? h->size : -h->size;
	uint32_t one = add ? 1 : UINT32_MAX;

	if (held_counts(h))
		p->held += bytes;
	if (h->state == HELD_FETCHING)
		p->fetching += one;
	if (h->state == HELD_DROPPING)
		p->dropping += bytes;
	if (h->state == HELD_READY && h->role == ROLE_LEAD)
		p->ready_ahead += one;
	if ((h->state == HELD_READY || h->state == HELD_FETCHING) && h->role == ROLE_KEPT)
		p->kept += bytes;
	if (h->state == HELD_READY && h->role == ROLE_SPENT)
		p->spent += bytes;
	if (add && p->held <= p->limits.room)
		p->ceiling = p->limits.room;
}

static struct link *list_of(struct plan *p, const struct held *h)
{
	if (h->state != HELD_READY)
		return NULL;
	switch (h->role) {
	case ROLE_LEAD:
		return NULL;
	case ROLE_KEPT:
		return &p->kept_list[held_class(h)];
	case ROLE_SPENT:
		return &p->spent_list;
	case ROLE_STALE:
		return &p->stale;
	case ROLE_DOOMED:
		return &p->doomed;
	}
	return NULL;
}

void held_change(struct plan *p, struct held *h, enum held_state state, enum held_role role)
{
	struct link *list;

	account(p, h, false);
	link_remove(&h->in);
	h->state = state;
	h->role = role;
	account(p, h, true);
	list = list_of(p, h);
	if (list)
		link_append(list, &h->in);
}

/* In this state it is in no list that goes by size. */
void held_resize(struct plan *p, struct held *h, uint64_t size)
{
	account(p, h, false);
	h->size = size;
	account(p, h, true);
}

void held_await(struct plan *p, struct held *h, uint64_t not_before)
{
	held_change(p, h, HELD_WAIT, ROLE_LEAD);
	h->stamp = not_before;
	if (h->failures == FAILURES_MAX)
		link_append(&p->hopeless, &h->in);
	else if (not_before == 0)
		link_push(&p->retry, &h->in);  /* the list is in order of time */
	else
		link_append(&p->retry, &h->in);
}

void held_delete(struct plan *p, struct held *h)
{
	assert(!h->wants);
	account(p, h, false);
	link_remove(&h->in);
	table_take(p, h);
	p->table_used--;
	if (p->held <= p->limits.room)
		p->ceiling = p->limits.room;
	free(h);
}
