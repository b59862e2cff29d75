/* What to hold while nobody knows what comes next: a uniform sample of all; what was asked for. */
#include <string.h>

#include "base/random.h"
#include "prefetch/plan/plan_internal.h"

#define LOOKS 65536                    /* ids in one call */

/* Each id is in or out on its own, so no region is favoured. */
static bool is_chosen(const struct plan *p, sample_id id)
{
	double share;

	if (p->total_bytes <= p->limits.room)
		return true;
	share = (double)p->limits.room / (double)p->total_bytes;
	return (double)(random_mix(id + RANDOM_STEP) >> 11) * 0x1p-53 < share;
}

static bool can_hold(const struct plan *p, sample_id id, uint64_t *ret_size)
{
	return !held_find(p, id) && p->sizes.size(p->sizes.context, id, ret_size) &&
		*ret_size > 0 && *ret_size <= p->limits.whole && *ret_size <= p->limits.room;
}

struct held *fill_next(struct plan *p)
{
	uint64_t size;

	p->fill_full = false;
	for (unsigned n = 0; n < LOOKS && p->fill < p->sizes.count; n++) {
		sample_id id = p->fill;

		if (!is_chosen(p, id) || !can_hold(p, id, &size)) {
			p->fill++;
			continue;
		}
		p->fill_full = size > lead_free(p);
		if (p->fill_full)
			return NULL;
		p->fill++;
		return held_new(p, id, size);
	}
	return NULL;
}

bool fill_goes_on(const struct plan *p)
{
	if (!p->may_fill || p->fill_full || p->fill >= p->sizes.count || plan_is_resting(p))
		return false;
	for (unsigned i = 0; i < TRACKER_COURSES; i++)
		if (p->slots[i].list)
			return false;
	return true;
}

int plan_warm(struct plan *p, const sample_id *ids, size_t count)
{
	if (p->warm_full) {
		p->warm_full = false;
		return -ENOSPC;
	}
	if (p->warm_at < p->warm_count)
		return -EAGAIN;
	p->warm_at = 0;
	p->warm_count = (uint32_t)DL_MIN(count, (size_t)PLAN_WARM);
	if (p->warm_count > 0)
		memcpy(p->warm, ids, p->warm_count * sizeof(*ids));
	return (int)p->warm_count;
}

/* Needed by a course that does not fetch it now. */
static struct held *find_resting(const struct plan *p, sample_id id)
{
	struct held *h = plan_is_resting(p) ? held_find(p, id) : NULL;

	return h && h->state == HELD_WAIT && h->failures == 0 ? h : NULL;
}

void warm_give_up(struct plan *p)
{
	p->warm_full |= p->warm_at < p->warm_count;
	p->warm_at = p->warm_count;
}

struct held *warm_next(struct plan *p)
{
	uint64_t size;

	while (p->warm_at < p->warm_count) {
		sample_id id = p->warm[p->warm_at];
		struct held *h = find_resting(p, id);

		if (h) {
			size = h->size;
		} else if (!can_hold(p, id, &size)) {
			p->warm_at++;
			continue;
		}
		if (size > lead_free(p) || p->kept + size > lead_kept_share(p)) {
			warm_give_up(p);
			return NULL;
		}
		p->warm_at++;
		return h ? h : held_new(p, id, size);
	}
	return NULL;
}
