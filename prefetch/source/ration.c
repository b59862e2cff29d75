#include "prefetch/source/ration.h"

struct ration_waiter {                 /* on its thread's stack */
	uint64_t passed;               /* had by those who came after it */
	struct ration_waiter *next;
};

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
	return !modest || (!r->waiting[0] && r->modest + amount <= r->most / 2);
}

/* May it go before those who came earlier? */
static bool may_pass(const struct ration *r, const struct ration_waiter *w, uint64_t amount,
		     bool modest)
{
	for (const struct ration_waiter *at = r->waiting[modest]; at != w; at = at->next)
		if (at->passed + amount > r->most)
			return false;
	return true;
}

static void leave(struct ration *r, struct ration_waiter *w, uint64_t amount, bool modest)
{
	struct ration_waiter **at = &r->waiting[modest];

	for (; *at != w; at = &(*at)->next)
		(*at)->passed += amount;
	*at = w->next;
}

void ration_take(struct ration *r, struct dl_lock *lock, uint64_t amount, bool modest)
{
	struct ration_waiter w = { .passed = 0 }, **end = &r->waiting[modest];

	dl_assert_held(lock);
	assert(!modest || amount <= r->most / 2);
	while (*end)
		end = &(*end)->next;
	*end = &w;
	while (!is_there(r, amount, modest) || !may_pass(r, &w, amount, modest))
		dl_cond_wait(&r->changed, lock);
	leave(r, &w, amount, modest);
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
