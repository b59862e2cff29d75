#include "fs/errand.h"

#include <pthread.h>

#include "base/mailbox.h"

#define WAITING_MAX 64

struct errands {
	struct serve *serve;
	struct mailbox *waiting;       /* struct errand * */
	_Atomic bool stopping;
	pthread_t thread;
};

static void *errands_main(void *arg)
{
	struct errands *e = arg;
	struct errand *errand;

	while (mailbox_take(e->waiting, &errand, 1, UINT64_MAX) > 0)
		errand->run(errand, e->serve);
	return NULL;
}

int errands_start(struct serve *s, struct errands **ret)
{
	struct errands *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return -ENOMEM;
	e->serve = s;
	r = mailbox_new(sizeof(struct errand *), WAITING_MAX, &e->waiting);
	if (r == 0)
		r = -pthread_create(&e->thread, NULL, errands_main, e);
	if (r < 0) {
		errands_free(e);
		return r;
	}
	*ret = e;
	return 0;
}

void errands_stop(struct errands *e)
{
	if (!e)
		return;
	e->stopping = true;
	mailbox_close(e->waiting);
	pthread_join(e->thread, NULL);
}

void errands_free(struct errands *e)
{
	if (!e)
		return;
	mailbox_free(e->waiting);
	free(e);
}

int errands_post(struct errands *e, struct errand *errand)
{
	return mailbox_post(e->waiting, &errand, 0);
}

const _Atomic bool *errands_stopping(struct errands *e)
{
	return &e->stopping;
}
