/* One thread for what may take long and must not be done by a request thread: it runs
 * errands one after the other, in the order they came.
 * Thread-safety: every call on any thread, but start and stop. */
#pragma once
#include "fs/serve.h"

struct errands;
struct errand {
	void (*run)(struct errand *e, struct serve *s);        /* frees e */
};
int errands_start(struct serve *s, struct errands **ret) DL_MUST_CHECK;
void errands_stop(struct errands *e);  /* what waits is run with s->stopping set */
void errands_free(struct errands *e);  /* when nobody can post any more; NULL is fine */
/* -EAGAIN: 64 wait; -ESHUTDOWN, -ENOMEM.  On failure the errand is still the caller's. */
int errands_post(struct errands *e, struct errand *errand) DL_MUST_CHECK;
/* Stop flag for scans. */
const _Atomic bool *errands_stopping(struct errands *e);
