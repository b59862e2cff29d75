#include "prefetch/plan/held.h"

#include <string.h>

#define EMPTY UINT32_MAX

static uint32_t hash_of(const struct held_table *t, sample_id id)
{
	return (uint32_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (t->slot_count - 1);
}

/* The slot that names id, or the empty one where it would go. */
static uint32_t slot_of(const struct held_table *t, sample_id id)
{
	uint32_t s = hash_of(t, id);

	while (t->slots[s] != EMPTY && t->at[t->slots[s]].id != id)
		s = (s + 1) & (t->slot_count - 1);
	return s;
}

struct held *held_find(const struct held_table *t, sample_id id)
{
	uint32_t place = t->slot_count ? t->slots[slot_of(t, id)] : EMPTY;

	return place == EMPTY ? NULL : &t->at[place];
}

static int grow(struct held_table *t)
{
	uint32_t cap = t->cap ? t->cap * 2 : 64;
	struct held *at = realloc(t->at, cap * sizeof(*at));
	uint32_t *slots;

	if (!at)
		return -ENOMEM;
	t->at = at;
	slots = malloc(cap * 2 * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(t->slots);
	t->slots = slots;
	t->cap = cap;
	t->slot_count = cap * 2;
	memset(slots, 0xff, t->slot_count * sizeof(*slots));
	for (uint32_t i = 0; i < t->count; i++)
		slots[slot_of(t, at[i].id)] = i;
	return 0;
}

int held_add(struct held_table *t, const struct held *h)
{
	if (t->count == t->cap) {
		int r = grow(t);

		if (r < 0)
			return r;
	}
	t->at[t->count] = *h;
	t->slots[slot_of(t, h->id)] = t->count;
	t->count++;
	return 0;
}

/* Close the hole that an emptied slot leaves: linear probing without tombstones. */
static void close_hole(struct held_table *t, uint32_t hole)
{
	uint32_t mask = t->slot_count - 1, s = hole;

	for (;;) {
		uint32_t home;

		s = (s + 1) & mask;
		if (t->slots[s] == EMPTY)
			break;
		home = hash_of(t, t->at[t->slots[s]].id);
		if (((s - home) & mask) >= ((s - hole) & mask)) {
			t->slots[hole] = t->slots[s];
			hole = s;
		}
	}
	t->slots[hole] = EMPTY;
}

void held_remove(struct held_table *t, struct held *h)
{
	uint32_t place = (uint32_t)(h - t->at), last = t->count - 1;

	close_hole(t, slot_of(t, h->id));
	if (place != last) {
		t->slots[slot_of(t, t->at[last].id)] = place;
		t->at[place] = t->at[last];
	}
	t->count = last;
}

void held_fini(struct held_table *t)
{
	free(t->at);
	free(t->slots);
	*t = (struct held_table){ 0 };
}
