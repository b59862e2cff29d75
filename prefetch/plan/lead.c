/* How far ahead of its reader a course is planned. */
#include "prefetch/plan/plan_internal.h"

#define LEAD_MIN 8u
#define LEAD_FIRST 32u
#define LEAD_PROVISIONAL UINT64_C(64)
#define LEAD_UNPROVEN UINT64_C(16)
#define DEEPEST (UINT64_C(1) << 20)     /* positions: each takes a little memory of its own */
#define GUESS_SHARE 16                  /* of the room, for each that may come while none is read */

static uint64_t samples_in(const struct plan *p, uint64_t bytes)
{
	return bytes / DL_MAX(p->mean, UINT64_C(1));
}

/* A quarter of the room is left to what was used: it is either kept, or still being read. */
static uint64_t cap(const struct plan *p)
{
	return DL_MAX(samples_in(p, p->limits.room / 4 * 3), UINT64_C(1));
}

void lead_start(struct plan *p)
{
	p->target = p->limits.lead ? p->limits.lead : DL_MAX(p->limits.depth * 2, LEAD_FIRST);
}

uint64_t lead_share(const struct plan *p)
{
	return cap(p) / DL_MAX(p->full_courses, 1u);
}

static uint32_t lead_of(const struct plan *p, const struct slot *s)
{
	uint64_t proven = DL_MAX(s->front - s->start, LEAD_UNPROVEN);
	uint64_t lead = DL_MIN((uint64_t)p->target, lead_share(p));

	if (s->provisional)
		lead = DL_MIN(lead, LEAD_PROVISIONAL);
	if (s->sequential)
		lead = DL_MIN(lead, proven);
	return (uint32_t)DL_MAX(lead, UINT64_C(1));
}

uint64_t lead_end(const struct plan *p, const struct slot *s)
{
	uint64_t ranks = s->sequence->step, present = DL_MAX(s->present, 1u);

	return DL_MAX(s->reach, s->front) + lead_of(p, s) * ranks / present;
}

uint64_t lead_free(const struct plan *p)
{
	return p->limits.room > p->held ? p->limits.room - p->held : 0;
}

bool lead_deeper(const struct plan *p, const struct slot *s)
{
	uint64_t deepest = DEEPEST;

	if (s->provisional)
		deepest = p->full_courses ? 0 : samples_in(p, p->limits.room / GUESS_SHARE);
	if (!p->source_idle || p->limits.lead || s->cursor >= s->front + deepest)
		return false;
	if (s->sequential && s->front - s->start < p->target)
		return false;
	return !link_empty(&p->stale) || lead_free(p) + p->spent > 2 * p->mean;
}

bool plan_in_pieces(const struct plan *p)
{
	for (unsigned i = 0; i < TRACKER_COURSES; i++)
		if (p->slots[i].list && p->slots[i].sequence->pieces)
			return true;
	return false;
}

uint64_t lead_kept_share(const struct plan *p)
{
	uint64_t lead = DL_MIN(PLAN_SPENT_OPENS * p->mean, p->limits.room / 8);

	if (p->total_bytes && p->total_bytes <= p->limits.room)
		return p->limits.room;
	/* Single samples that were kept would not spare the next epoch the piece they are in. */
	if (plan_in_pieces(p))
		return 0;
	for (unsigned i = 0; i < TRACKER_COURSES; i++)
		if (p->slots[i].list && !p->slots[i].provisional)
			lead += lead_of(p, &p->slots[i]) * p->mean;
	return p->limits.room - DL_MIN(lead, p->limits.room);
}

/* Late reads come in bunches: the new depth must have had time to show. */
void lead_grow(struct plan *p)
{
	uint64_t twice;

	if (p->limits.lead || p->opens - p->opens_grown < p->target)
		return;
	twice = DL_MIN(p->target * UINT64_C(2), cap(p));
	p->target = DL_MAX((uint32_t)twice, LEAD_MIN);
	p->opens_grown = p->opens;
}

void lead_shrink(struct plan *p)
{
	if (p->limits.lead || p->opens < p->opens_shrunk)
		return;
	p->target = DL_MAX(p->target - p->target / 4, LEAD_MIN);
	p->opens_shrunk = p->opens + p->target / 4;
	p->opens_grown = p->opens;
}
