#include "prefetch/source/ration.h"

void ration_init(struct ration *r, uint64_t most)
{
	*r = (struct ration){ .most = most };
	dl_cond_init(&r->changed);
}

void ration_fini(struct ration *r)
{
	pthread_cond_destroy(&r->changed);
}

static bool is_there(const struct ration *r, uint64_t amount, bool modest)
{
	if (r->used > 0 && r->used + amount > r->most)
		return false;
	if (!modest)
		return true;
	return r->turn[0] == r->tickets[0] && r->modest + amount <= r->most / 2;
}

void ration_take(struct ration *r, struct dl_lock *lock, uint64_t amount, bool modest)
{
	uint64_t ticket = r->tickets[modest]++;

	dl_assert_held(lock);
	assert(!modest || amount <= r->most / 2);
	while (r->turn[modest] != ticket || !is_there(r, amount, modest))
		dl_cond_wait(&r->changed, lock);
	r->turn[modest]++;
	r->used += amount;
	r->modest += modest ? amount : 0;
	pthread_cond_broadcast(&r->changed);
}

void ration_give(struct ration *r, uint64_t amount, bool modest)
{
	r->used -= amount;
	r->modest -= modest ? amount : 0;
	pthread_cond_broadcast(&r->changed);
}
