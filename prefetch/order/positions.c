#include "prefetch/order/positions.h"

#include <string.h>

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int init_sorted(struct positions *p, const struct sequence *q)
{
	p->sorted = malloc(q->length * sizeof(*p->sorted) + 1);
	if (!p->sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < q->length; i++)
		p->sorted[i] = (uint64_t)q->at[i] << 32 | i;
	qsort(p->sorted, q->length, sizeof(*p->sorted), by_value);
	return 0;
}

static int init_direct(struct positions *p, const struct sequence *q)
{
	bool repeats = false;

	p->first = malloc((size_t)q->n * sizeof(*p->first) + 1);
	p->following = malloc((size_t)q->length * sizeof(*p->following) + 1);
	if (!p->first || !p->following)
		return -ENOMEM;
	memset(p->first, 0xff, (size_t)q->n * sizeof(*p->first));
	for (uint32_t i = q->length; i-- > 0;) {
		uint32_t *first = &p->first[q->at[i]];

		p->following[i] = *first;
		repeats |= *first != POSITION_NONE;
		*first = i;
	}
	if (!repeats) {
		free(p->following);
		p->following = NULL;
	}
	return 0;
}

int positions_init(struct positions *p, const struct sequence *q)
{
	int r;

	*p = (struct positions){ .count = q->length };
	r = q->length < q->n / 8 ? init_sorted(p, q) : init_direct(p, q);
	if (r < 0)
		positions_fini(p);
	return r;
}

void positions_fini(struct positions *p)
{
	free(p->first);
	free(p->following);
	free(p->sorted);
	*p = (struct positions){ 0 };
}

/* The first of `sorted` that is not below key. */
static uint32_t search(const struct positions *p, uint64_t key)
{
	uint32_t low = 0, high = p->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (p->sorted[mid] < key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static uint32_t at_or_after(const struct positions *p, uint64_t key)
{
	uint32_t at = search(p, key);

	if (at == p->count || p->sorted[at] >> 32 != key >> 32)
		return POSITION_NONE;
	return (uint32_t)p->sorted[at];
}

uint32_t positions_first(const struct positions *p, uint32_t index)
{
	return p->first ? p->first[index] : at_or_after(p, (uint64_t)index << 32);
}

uint32_t positions_following(const struct positions *p, uint32_t index, uint32_t position)
{
	if (p->sorted)
		return at_or_after(p, ((uint64_t)index << 32 | position) + 1);
	return p->following ? p->following[position] : POSITION_NONE;
}
