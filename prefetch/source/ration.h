/* A bounded amount of something, handed out first come, first served; but those who are modest
 * leave half of it to the others, and let them go first.
 *
 * Thread-safety: the owner's lock; ration_take() drops it while it waits.
 */
#pragma once
#include <pthread.h>
#include "base/lock.h"

struct ration {
	uint64_t most, used;
	uint64_t modest;               /* of what is used: by the modest */
	/* Of the others [0] and of the modest [1]: given out to those who came; whose turn it is */
	uint64_t tickets[2], turn[2];
	pthread_cond_t changed;
};

void ration_init(struct ration *r, uint64_t most);
/* Wait for so much; what is more than `most` is given to one who is alone.  The modest ask for half
 * of it at most. */
void ration_take(struct ration *r, struct dl_lock *lock, uint64_t amount, bool modest);
void ration_give(struct ration *r, uint64_t amount, bool modest);
void ration_fini(struct ration *r);
