#include "fs/errand.h"

#include <pthread.h>

#include "base/lock.h"

#define WAITING_MAX 64

struct errands {
	struct serve *serve;
	struct dl_lock lock;           /* guards the queue */
	pthread_cond_t queued;
	struct errand *first, **last;
	unsigned waiting;
	bool closed;
	_Atomic bool stopping;
	pthread_t thread;
};

static struct errand *take(struct errands *e)
{
	struct errand *first;

	DL_HOLD(&e->lock);
	while (!e->first && !e->closed)
		dl_cond_wait(&e->queued, &e->lock);
	first = e->first;
	if (first) {
		e->first = first->next_;
		e->waiting--;
		if (!e->first)
			e->last = &e->first;
	}
	return first;
}

static void *errands_main(void *arg)
{
	struct errands *e = arg;
	struct errand *errand;

	while ((errand = take(e)))
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
	e->last = &e->first;
	dl_lock_init(&e->lock);
	dl_cond_init(&e->queued);
	r = -pthread_create(&e->thread, NULL, errands_main, e);
	if (r < 0) {
		free(e);
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
	{
		DL_HOLD(&e->lock);
		e->closed = true;
		pthread_cond_broadcast(&e->queued);
	}
	pthread_join(e->thread, NULL);
}

void errands_free(struct errands *e)
{
	if (!e)
		return;
	pthread_cond_destroy(&e->queued);
	dl_lock_fini(&e->lock);
	free(e);
}

int errands_post(struct errands *e, struct errand *errand)
{
	DL_HOLD(&e->lock);
	if (e->closed)
		return -ESHUTDOWN;
	if (e->waiting == WAITING_MAX)
		return -EAGAIN;
	errand->next_ = NULL;
	*e->last = errand;
	e->last = &errand->next_;
	e->waiting++;
	pthread_cond_signal(&e->queued);
	return 0;
}

const _Atomic bool *errands_stopping(struct errands *e)
{
	return &e->stopping;
}
