/* The lead: for each course, the first sample ahead of its reader that is not held. */
#include <string.h>

#include "prefetch/plan/internal.h"

#define PROVISIONAL_LEAD 64u
#define WALK_LEAD 16u
#define LOOK 4096u                     /* positions passed over in one call, per course */

static void way_fini(struct way *w)
{
	list_unref(w->list);
	sequence_unref(w->sequence);
	sequence_unref(w->next);
	*w = (struct way){ 0 };
}

static struct way way_of(const struct course *c)
{
	return (struct way){
		.list = list_ref(c->list), .sequence = sequence_ref(c->sequence),
		.next = c->next ? sequence_ref(c->next) : NULL,
		.opened = c->opened, .positions = c->positions,
		.front = c->front, .reach = c->reach,
		.provisional = c->provisional, .sequential = c->sequential,
		.cursor = c->front,
	};
}

/* Where the lead of this course stood, if it was there before. */
static uint32_t old_cursor(const struct plan *p, const struct course *c)
{
	for (size_t i = 0; i < p->way_count; i++) {
		const struct way *w = &p->ways[i];

		if (w->sequence == c->sequence && w->list == c->list && c->front >= w->front)
			return DL_MAX(w->cursor, c->front);
	}
	return c->front;
}

void ahead_courses(struct plan *p, const struct course *courses, size_t count)
{
	struct way now[TRACKER_COURSES];

	for (size_t i = 0; i < count; i++) {
		now[i] = way_of(&courses[i]);
		now[i].cursor = old_cursor(p, &courses[i]);
	}
	for (size_t i = 0; i < p->way_count; i++)
		way_fini(&p->ways[i]);
	memcpy(p->ways, now, count * sizeof(now[0]));
	p->way_count = count;
}

void ahead_again(struct plan *p)
{
	for (size_t i = 0; i < p->way_count; i++)
		p->ways[i].cursor = p->ways[i].front;
}

static bool opened_at(const struct way *w, uint32_t position)
{
	return w->opened[position / 64] >> (position % 64) & 1;
}

/* The sample at a position, which may be one of the next epoch; SAMPLE_NONE: opened already. */
static sample_id sample_at(const struct way *w, uint32_t position)
{
	uint32_t length = w->sequence->length;

	if (position >= length)
		return list_at(w->list, w->next->at[position - length]);
	return opened_at(w, position) ? SAMPLE_NONE : list_at(w->list, w->sequence->at[position]);
}

static uint64_t end_of(const struct way *w)
{
	return (uint64_t)w->sequence->length + (w->next ? w->next->length : 0);
}

/* How far ahead of its readers a course's lead shall go. */
static uint64_t target_of(const struct plan *p, const struct way *w)
{
	uint32_t lead = p->lead;

	if (w->provisional)
		lead = DL_MIN(lead, PROVISIONAL_LEAD);
	if (w->sequential)
		lead = DL_MIN(lead, WALK_LEAD + w->reach);
	return (uint64_t)DL_MAX(w->front, w->reach) + lead;
}

static bool may_be_fetched(struct plan *p, sample_id id)
{
	uint64_t size;

	if (id == SAMPLE_NONE || held_find(&p->held, id))
		return false;
	return p->sizes.size(p->sizes.context, id, &size) && size > 0 &&
		size <= p->limits.whole && size <= p->limits.room;
}

/* Move the cursor to the first position that wants a fetch; false: none before `end`. */
static bool find_wanted(struct plan *p, struct way *w, uint64_t end)
{
	end = DL_MIN(end, end_of(w));
	for (uint32_t looked = 0; w->cursor < end && looked < LOOK; looked++) {
		if (may_be_fetched(p, sample_at(w, w->cursor)))
			return true;
		w->cursor++;
	}
	if (w->cursor < end)
		p->wake = 0;                   /* more to look through: ask again */
	return false;
}

sample_id ahead_next(struct plan *p, uint64_t *ret_due, bool *ret_deeper, uint64_t now)
{
	struct way *soonest = NULL;
	uint64_t due = DUE_NEVER;

	(void)now;
	for (int deeper = 0; deeper < 2 && !soonest; deeper++) {
		if (deeper && p->fetching > 0)
			break;                 /* the source has enough to do */
		for (size_t i = 0; i < p->way_count; i++) {
			struct way *w = &p->ways[i];

			if (deeper && (w->provisional || p->limits.lead > 0))
				continue;
			if (!find_wanted(p, w, deeper ? UINT32_MAX : target_of(p, w)))
				continue;
			if (w->cursor - w->front < due) {
				due = w->cursor - w->front;
				soonest = w;
				*ret_deeper = deeper;
			}
		}
	}
	if (!soonest)
		return SAMPLE_NONE;
	*ret_due = due;
	return sample_at(soonest, soonest->cursor);
}

/* --- No order known ------------------------------------------------------------------- */

/* A sample belongs to the reservoir if its hash is below the share that fits: a uniform choice
 * that needs no memory and can be read in the order of the storage. */
static bool in_reservoir(const struct plan *p, sample_id id)
{
	uint64_t hash = (id + 1) * UINT64_C(0x9e3779b97f4a7c15);
	double share;

	hash ^= hash >> 29;
	hash *= UINT64_C(0xbf58476d1ce4e5b9);
	share = (double)p->limits.room / (double)(p->total_bytes + 1) * 0.9;
	return (double)(hash >> 32) < share * 4294967296.0;
}

sample_id fill_next(struct plan *p)
{
	if (!p->fill || p->way_count > 0 || !p->source_idle)
		return SAMPLE_NONE;
	for (uint32_t looked = 0; p->fill_cursor < p->sizes.count && looked < LOOK; looked++) {
		sample_id id = p->fill_cursor++;

		if (in_reservoir(p, id) && may_be_fetched(p, id))
			return id;
	}
	if (p->fill_cursor < p->sizes.count)
		p->wake = 0;
	return SAMPLE_NONE;
}
