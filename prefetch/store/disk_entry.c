#include "prefetch/store/disk_entry.h"

#include <string.h>

#include "base/sum.h"

static uint64_t sum(const struct disk_key *key, const struct entry_packed *p)
{
	return sum_of(p, offsetof(struct entry_packed, sum), sum_of(key, sizeof(*key), 0));
}

struct entry_packed entry_pack(const struct record *r, struct place place)
{
	struct entry_packed p = {
		.place = place, .length = r->length, .stored = r->stored, .id = r->id,
	};

	p.sum = sum(&r->key, &p);
	return p;
}

bool entry_unpack(const struct disk_key *key, const void *at, size_t len, struct record *ret,
		  struct place *ret_place)
{
	struct entry_packed p;

	if (len != sizeof(p))
		return false;
	memcpy(&p, at, sizeof(p));
	if (p.sum != sum(key, &p))
		return false;
	*ret = (struct record){ *key, p.id, p.length, p.stored };
	*ret_place = p.place;
	return true;
}
