/* Whose opens are those that were explained, and whose are left. */
#include "prefetch/order/score.h"
#include "prefetch/find/search_internal.h"

#define GOES_ON 8u                      /* positions from one open of a process to its next */
#define OTHERS 32u                      /* opens that an order leaves unexplained, ... */
#define OTHERS_PART 8                   /* ... a part of all: somebody else's */

static uint32_t position_of(const struct found *f, const struct positions *positions,
			    sample_id id)
{
	uint32_t index;

	return list_index(f->list, id, &index) ? positions_first(positions, index) : POSITION_NONE;
}

/* In batches, or of several workers one each; who is one of the ranks reads for no other. */
static bool goes_on(const struct found *f, uint32_t position, uint32_t before)
{
	uint32_t step = DL_MAX(f->world, 1u);
	uint32_t back = GOES_ON * f->buffer, on = back + GOES_ON * step;

	return position != POSITION_NONE && before != POSITION_NONE &&
	       position + back > before && position <= before + on &&
	       position % step == before % step;
}

static bool reads(const struct found *f, const struct positions *positions,
		  const struct evidence *e, uint32_t pid)
{
	uint32_t before = POSITION_NONE, opens = 0, on = 0;

	for (size_t i = 0; i < e->count; i++) {
		uint32_t p;

		if (e->opens[i].pid != pid)
			continue;
		p = position_of(f, positions, e->opens[i].id);
		opens++;
		on += goes_on(f, p, before);
		before = p;
	}
	return on > 0 && on * 2 >= opens - 1;
}

/* What those opened who read it, if that may be all of their epoch: others' is left out. */
static uint64_t opened_of(const struct found *f, const struct positions *positions,
			  const struct evidence *e)
{
	uint64_t opens = 0;

	if (e->seen < list_count(f->list) / DL_MAX(f->world, 1u))
		return 0;
	for (size_t i = 0; i < e->reader_count; i++)
		if (e->readers[i].pid != 0 && reads(f, positions, e, e->readers[i].pid))
			opens += e->readers[i].opens;
	return opens;
}

void search_ranks(const struct evidence *e, const struct positions *positions, struct found *f)
{
	uint32_t opens[SEEDS_WORLD_MAX] = { 0 }, sum = 0;

	f->rank_count = 0;
	f->opened = opened_of(f, positions, e);
	for (size_t i = 0; f->world > 0 && i < e->count; i++) {
		uint32_t p = position_of(f, positions, e->opens[i].id);

		if (p == POSITION_NONE)
			continue;
		opens[p % f->world]++;
		sum++;
	}
	for (uint32_t r = 0; r < f->world; r++)
		if (opens[r] > 1 && opens[r] * f->world * 8 >= sum)
			f->ranks[f->rank_count++] = r;
	if (f->rank_count == f->world)
		f->rank_count = 0;
}

/* Mark what this order goes through.  How many are left that no order that was found does, and of
 * which none of the neighbours in this one were opened?  A batch's first are not left. */
static size_t explain(const struct found *f, const struct positions *positions, struct evidence *e)
{
	struct scale scale = { list_count(f->list), DL_MAX(f->world, 1u), f->buffer };
	bool opened[SEARCH_HEAD + 2 * SEEDS_WORLD_MAX] = { false };
	struct score score = { 0 };
	size_t left = 0;

	for (size_t i = 0; i < e->count; i++) {
		uint32_t p = position_of(f, positions, e->opens[i].id);

		if (p != POSITION_NONE)
			opened[SEEDS_WORLD_MAX + p] = true;
		if (e->opens[i].explained)
			continue;
		e->opens[i].explained = score_open(&score, p, scale);
	}
	for (size_t i = 0; i < e->count; i++) {
		uint32_t p = position_of(f, positions, e->opens[i].id);
		const bool *at = &opened[SEEDS_WORLD_MAX + (p == POSITION_NONE ? 0 : p)];

		left += !e->opens[i].explained &&
			(p == POSITION_NONE || !(at[-(int)scale.step] || at[scale.step]));
	}
	return left;
}

static void acquit_opens(const struct found *f, const struct positions *positions,
			 struct evidence *e)
{
	size_t left = explain(f, positions, e);

	if (left < OTHERS || left * OTHERS_PART < e->count)
		evidence_acquit(e, 0);
	else
		evidence_go_on(e);
}

void search_acquit(const struct found *f, const struct positions *positions, struct evidence *e)
{
	uint64_t turn = e->turn;
	bool any = false;

	if (!evidence_has_pids(e)) {
		acquit_opens(f, positions, e);
		return;
	}
	for (size_t i = e->reader_count; i-- > 0;)
		if (e->readers[i].pid != 0 && reads(f, positions, e, e->readers[i].pid)) {
			evidence_acquit(e, e->readers[i].pid);
			any = true;
		}
	if (any && e->turn == turn)
		e->turn++;
}
