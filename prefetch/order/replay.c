#include "prefetch/order/replay.h"

#include <string.h>

#define FEWEST 64u                      /* opens of an epoch that is worth it, ... */
#define FEWEST_SHARE 2u                 /* ... and this part of the list */
#define BEGINNING 32u                   /* opens by one of which the next epoch is known */

static uint32_t count_of(const struct replay *r)
{
	return (uint32_t)(r->at.len / sizeof(uint32_t));
}

static bool is_seen(const struct replay *r, uint32_t index)
{
	return r->seen[index / 64] >> (index % 64) & 1;
}

static bool at_beginning(const struct replay *r, uint32_t index)
{
	const uint32_t *at = (const void *)r->at.at;

	for (uint32_t i = 0; i < DL_MIN(count_of(r), BEGINNING); i++)
		if (at[i] == index)
			return true;
	return false;
}

static bool is_enough(const struct replay *r)
{
	return count_of(r) >= DL_MAX(list_count(r->list) / FEWEST_SHARE, FEWEST);
}

static struct sequence *sequence_of(const struct replay *r)
{
	struct sequence *q = sequence_new(count_of(r), list_count(r->list));

	if (q) {
		memcpy(q->at, r->at.at, r->at.len);
		q->step = 1;
	}
	return q;
}

static bool begin(struct replay *r, struct list *list)
{
	r->seen = calloc(list_count(list) / 64 + 1, sizeof(*r->seen));
	if (r->seen)
		r->list = list_ref(list);
	return r->seen;
}

static void add(struct replay *r, uint32_t index)
{
	if (buf_append(&r->at, &index, sizeof(index)) == 0)
		r->seen[index / 64] |= UINT64_C(1) << (index % 64);
}

struct sequence *replay_open(struct replay *r, struct list *list, uint32_t index)
{
	struct sequence *epoch = NULL;

	if (r->list && r->list != list)
		return NULL;
	if (r->list && is_seen(r, index)) {
		bool first = at_beginning(r, index);

		if (!first && ++r->again <= count_of(r) + FEWEST)
			return NULL;
		if (first && is_enough(r))
			epoch = sequence_of(r);
		replay_fini(r);
	}
	if (r->list || begin(r, list))
		add(r, index);
	if (!epoch && count_of(r) == list_count(list) && is_enough(r)) {
		epoch = sequence_of(r);
		replay_fini(r);
	}
	return epoch;
}

void replay_move(struct replay *r, struct list *list)
{
	struct replay old = *r;
	const uint32_t *at = (const void *)old.at.at;
	uint32_t index;

	*r = (struct replay){ .again = old.again };
	for (uint32_t i = 0; i < count_of(&old); i++)
		if (list_index(list, list_at(old.list, at[i]), &index) &&
		    (r->list || begin(r, list)))
			add(r, index);
	replay_fini(&old);
}

void replay_fini(struct replay *r)
{
	list_unref(r->list);
	buf_free(&r->at);
	free(r->seen);
	*r = (struct replay){ 0 };
}
