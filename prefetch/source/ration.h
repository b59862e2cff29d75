/* A bounded amount of something, handed out first come, first served.
 *
 * Thread-safety: the owner's lock; ration_take() drops it while it waits.
 */
#pragma once
#include <pthread.h>
#include "base/lock.h"

struct ration {
	uint64_t most, used;
	uint64_t tickets, turn;        /* given out to those who came; whose turn it is */
	pthread_cond_t changed;
};

void ration_init(struct ration *r, uint64_t most);
/* Wait for so much; what is more than `most` is given to one who is alone. */
void ration_take(struct ration *r, struct dl_lock *lock, uint64_t amount);
void ration_give(struct ration *r, uint64_t amount);
void ration_fini(struct ration *r);
