/* The head of a shuffle without its body: of the places behind it only those that were swapped
 * are kept, in a small open hash table. */
#include <string.h>

#include "prefetch/order/mt19937.h"
#include "prefetch/order/sparse.h"

struct slot { uint32_t place, value; };

struct sparse {
	struct slot *slots;
	size_t mask;
};

static uint32_t *value_at(struct sparse *s, uint32_t place)
{
	size_t at = (place * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & s->mask;

	while (s->slots[at].place != UINT32_MAX && s->slots[at].place != place)
		at = (at + 1) & s->mask;
	if (s->slots[at].place != place)
		s->slots[at] = (struct slot){ place, place };
	return &s->slots[at].value;
}

int sparse_randperm(struct mt19937 *g, uint32_t n, uint32_t length, uint32_t *ret)
{
	struct sparse s = { .mask = 63 };

	while (s.mask < (size_t)length * 2)
		s.mask = s.mask * 2 + 1;
	s.slots = malloc((s.mask + 1) * sizeof(*s.slots));
	if (!s.slots)
		return -ENOMEM;
	memset(s.slots, 0xff, (s.mask + 1) * sizeof(*s.slots));
	for (uint32_t i = 0; i < length; i++)
		ret[i] = i;
	for (uint32_t i = 0; i < length; i++) {
		uint32_t z = i + (i + 1 < n ? mt19937_word(g) % (n - i) : 0);
		uint32_t *there = z < length ? &ret[z] : value_at(&s, z), value = *there;

		*there = ret[i];
		ret[i] = value;
	}
	free(s.slots);
	return 0;
}
