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

void ration_take(struct ration *r, struct dl_lock *lock, uint64_t amount)
{
	uint64_t ticket = r->tickets++;

	dl_assert_held(lock);
	while (r->turn != ticket || (r->used > 0 && r->used + amount > r->most))
		dl_cond_wait(&r->changed, lock);
	r->turn++;
	r->used += amount;
	pthread_cond_broadcast(&r->changed);
}

void ration_give(struct ration *r, uint64_t amount)
{
	r->used -= amount;
	pthread_cond_broadcast(&r->changed);
}
