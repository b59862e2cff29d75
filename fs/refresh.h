/* Looking for changes of the source, one after the other, as errands; and who waits for that.
 * Thread-safety: every call on any thread.
 */
#pragma once
#include "fs/serve.h"

struct refreshes;
int refreshes_start(struct refreshes **ret) DL_MUST_CHECK;
void refreshes_stop(struct refreshes *r);      /* who waits is woken with -ESHUTDOWN */

/* Begin to look. */
int refresh_begin(struct serve *s) DL_MUST_CHECK;
/* The same, for who asks again and again: not while one is to be done already. */
int refresh_check(struct serve *s) DL_MUST_CHECK;

/* When all refreshes are over that were begun so far, how many folders changed in the last,
 * or its error: 1 and *ret_changed now, or 0 and wake() is called exactly once, on another
 * thread and with no lock held.
 */
struct refresh_waiter {
	void (*wake)(struct refresh_waiter *w, int changed);
	uint64_t turn_;
	bool stopped_;
	struct refresh_waiter *next_;
};
/* -EINTR: refresh_stop_waiting() came before. */
int refresh_await(struct serve *s, struct refresh_waiter *w, int *ret_changed)
	DL_MUST_CHECK;
/* true: w will not be woken any more.  false: it was, or is just being woken; or it does not wait
 * yet, and then never will. */
bool refresh_stop_waiting(struct serve *s, struct refresh_waiter *w) DL_MUST_CHECK;
