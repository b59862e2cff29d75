#include "prefetch/looks.h"

static uint64_t oldest(const struct looks *l, uint64_t most)
{
	return l->count > most ? l->count - most : 0;
}

static bool may_be_followed(const struct looks *l, const struct look *k)
{
	return l->opens - k->since < LOOK_FOLLOWED;
}

void looks_note(struct looks *l, uint64_t epoch, uint32_t position, sample_id id)
{
	l->look[l->count++ % LOOKS] = (struct look){
		.epoch = epoch, .position = position, .id = id, .since = l->opens,
	};
}

void looks_opened(struct looks *l, sample_id id)
{
	for (uint64_t i = l->count; i-- > oldest(l, LOOKS);) {
		struct look *k = &l->look[i % LOOKS];

		if (!may_be_followed(l, k))
			break;
		k->opened |= k->id == id;
	}
	l->opens++;
}

bool looks_are_opened(const struct looks *l)
{
	unsigned opened = 0;

	for (uint64_t i = l->count; i-- > oldest(l, LOOKS_LAST);)
		opened += l->look[i % LOOKS].opened;
	return opened >= LOOKS_LAST / 2;
}

void looks_hand_over(const struct looks *l, uint64_t epoch, struct tracker *t, uint64_t now)
{
	for (uint64_t i = oldest(l, LOOKS); i < l->count; i++) {
		const struct look *k = &l->look[i % LOOKS];

		if (k->epoch == epoch && (k->opened || may_be_followed(l, k)))
			tracker_drawn_before(t, k->position, k->id, k->opened, now);
	}
}

void looks_forget(struct looks *l)
{
	l->count = 0;
}
