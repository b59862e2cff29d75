/* A queue of small fixed-size messages in front of one thread that owns private data.
 *
 * Thread-safety: post from any thread; take from the one owner.
 * Cost: one short lock and, when the owner sleeps, one wake-up.
 */
#pragma once
#include "base/lock.h"

struct mailbox;

/* item: bytes a message has; limit: messages that may wait. */
int mailbox_new(size_t item, size_t limit, struct mailbox **ret) DL_MUST_CHECK;
void mailbox_free(struct mailbox *m);  /* NULL is fine; what waits is dropped */

/* Copy *message in.  spare: messages for which there must still be room afterwards, so that
 * what may be lost leaves room for what must not.  -EAGAIN: there is not, nothing posted;
 * -ESHUTDOWN: closed; -ENOMEM. */
int mailbox_post(struct mailbox *m, const void *message, size_t spare) DL_MUST_CHECK;
/* So many, one after the other in memory: all of them or none, and one wake-up. */
int mailbox_post_all(struct mailbox *m, const void *messages, size_t count, size_t spare)
	DL_MUST_CHECK;

/* Move up to max waiting messages to at; wait for the first until deadline (clock_now();
 * UINT64_MAX: for ever; 0: do not wait).  Returns how many; 0: deadline, or closed and empty.
 */
size_t mailbox_take(struct mailbox *m, void *at, size_t max, uint64_t deadline);

/* Wake the owner; from now on posts say -ESHUTDOWN and take() does not wait. */
void mailbox_close(struct mailbox *m);
bool mailbox_closed(struct mailbox *m);
size_t mailbox_waiting(struct mailbox *m);     /* messages */
