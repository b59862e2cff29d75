/* A bounded amount of something, handed out in the order in which it was asked for.  Who asks for
 * more than is left does not hold up those after him for whom it is enough, until they have had as
 * much as there is in all since he came: then he is the next.  Those who are modest leave half of
 * it to the others, and let them go first.
 *
 * Thread-safety: the owner's lock; ration_take() drops it while it waits.
 */
#pragma once
#include <pthread.h>
#include "base/lock.h"

struct ration_waiter;

struct ration {
	uint64_t most, used;
	uint64_t modest;               /* of what is used: by the modest */
	struct ration_waiter *waiting[2];      /* the others [0], the modest [1]; in order */
	pthread_cond_t changed;
};

void ration_init(struct ration *r, uint64_t most);
/* Wait for so much; what is more than `most` is given to one who is alone.  The modest ask for half
 * of it at most. */
void ration_take(struct ration *r, struct dl_lock *lock, uint64_t amount, bool modest);
void ration_give(struct ration *r, uint64_t amount, bool modest);
void ration_fini(struct ration *r);
