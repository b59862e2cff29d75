#include "prefetch/judge.h"

#include <string.h>

#define JUDGE_PAUSE_NS (50 * CLOCK_MS)

static void settle_one(struct judge *j)
{
	const struct judged *o = &j->ring[j->first++ % JUDGE_RING];

	j->unopened -= !o->opened;
	if (!o->opened && o->asked)
		return;
	if (!o->opened)
		stats_add(&j->stats->opens, 1);
	if (o->late) {
		stats_add(&j->stats->late, 1);
		return;
	}
	stats_add(&j->stats->hits, 1);
	stats_add(o->memory ? &j->stats->hits_memory : &j->stats->hits_page_cache, 1);
}

static uint64_t *bucket_of(struct judge *j, sample_id id)
{
	return &j->newest[(id * UINT32_C(2654435761)) >> (32 - JUDGE_BUCKET_BITS)];
}

/* Who is gone may have counted an open, or a hit, and no more: at most one either way. */
static void reconcile(struct stats *s, uint64_t waiting)
{
	uint64_t opens = stats_get(&s->opens);
	uint64_t judged = stats_get(&s->hits) + stats_get(&s->late) + waiting;

	if (opens > judged) {
		stats_add(&s->hits, opens - judged);
		stats_add(&s->hits_page_cache, opens - judged);
	} else {
		stats_add(&s->opens, judged - opens);
	}
}

void judge_init(struct judge *j, struct stats *stats)
{
	uint64_t opened = 0;

	j->stats = stats;
	if (j->end == 0)
		j->first = j->end = 1;
	memset(j->newest, 0, sizeof(j->newest));
	for (uint64_t i = j->first; i < j->end; i++) {
		struct judged *o = &j->ring[i % JUDGE_RING];

		o->before = *bucket_of(j, o->id);
		*bucket_of(j, o->id) = i;
		opened += o->opened;
	}
	j->unopened = (uint32_t)(j->end - j->first - opened);
	reconcile(stats, opened);
}

static struct judged *add(struct judge *j, sample_id id, uint64_t now)
{
	struct judged *o;

	if (j->end - j->first == JUDGE_RING)
		settle_one(j);
	o = &j->ring[j->end % JUDGE_RING];
	*o = (struct judged){ .id = id, .time = now, .before = *bucket_of(j, id) };
	*bucket_of(j, id) = j->end++;
	j->unopened++;
	return o;
}

/* The newest of this sample that is still to be judged. */
static struct judged *find(struct judge *j, sample_id id)
{
	for (uint64_t i = *bucket_of(j, id); i >= j->first && i > 0;) {
		struct judged *o = &j->ring[i % JUDGE_RING];

		if (o->id == id)
			return o;
		i = o->before;
	}
	return NULL;
}

void judge_open(struct judge *j, sample_id id, bool memory, uint64_t now)
{
	struct judged *o = j->unopened > 0 ? find(j, id) : NULL;

	stats_add(&j->stats->opens, 1);
	if (!o || o->opened) {
		o = add(j, id, now);
		o->memory = memory;
	}                              /* else its READ was faster than its report */
	o->opened = true;
	j->unopened--;
}

bool judge_late(struct judge *j, sample_id id, uint64_t now)
{
	struct judged *o = find(j, id);

	if (o && o->late && !o->asked)
		return false;
	if (!o)
		o = add(j, id, now);
	o->late = true;
	o->asked = false;
	return true;
}

void judge_asked(struct judge *j, sample_id id, uint64_t now)
{
	struct judged *o = find(j, id);

	if (o && o->late)
		return;
	if (!o)
		o = add(j, id, now);
	o->late = true;
	o->asked = true;
}

/* Opens come one after the other: to wake up for each would cost more than all the rest. */
uint64_t judge_settle(struct judge *j, uint64_t now)
{
	while (j->first < j->end && j->ring[j->first % JUDGE_RING].time + JUDGE_NS <= now)
		settle_one(j);
	if (j->first == j->end)
		return UINT64_MAX;
	return DL_MAX(j->ring[j->first % JUDGE_RING].time + JUDGE_NS, now + JUDGE_PAUSE_NS);
}
