/* What to hold while nobody knows what comes next: a uniform sample of all. */
#include "prefetch/plan/plan_internal.h"

#define LOOKS 65536                    /* ids in one call */

/* splitmix64's finaliser: each id is in or out on its own, so no region is favoured. */
static uint64_t spread(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static bool is_chosen(const struct plan *p, sample_id id)
{
	double share;

	if (p->total_bytes <= p->limits.room)
		return true;
	share = (double)p->limits.room / (double)p->total_bytes;
	return (double)(spread(id) >> 11) * 0x1p-53 < share;
}

struct held *fill_next(struct plan *p)
{
	uint64_t size;

	for (unsigned n = 0; n < LOOKS && p->fill < p->sizes.count; n++) {
		sample_id id = p->fill;

		if (!is_chosen(p, id) || held_find(p, id) ||
		    !p->sizes.size(p->sizes.context, id, &size) || size == 0 ||
		    size > p->limits.whole || size > p->limits.room) {
			p->fill++;
			continue;
		}
		if (size > lead_free(p))
			return NULL;
		p->fill++;
		return held_new(p, id, size);
	}
	return NULL;
}
