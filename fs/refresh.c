#include "fs/refresh.h"

#include <fcntl.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "fs/control.h"
#include "fs/errand.h"
#include "fs/notify.h"
#include "fs/survey.h"
#include "fs/unreadable.h"

#define DRAIN_NS (10 * CLOCK_S)

struct refreshes {
	struct dl_lock lock;           /* guards what follows */
	uint64_t begun, done;
	int changed;                   /* by the last of them */
	struct refresh_waiter *waiters;
};

int refreshes_start(struct refreshes **ret)
{
	struct refreshes *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	dl_lock_init(&r->lock);
	*ret = r;
	return 0;
}

/* Take out the waiters up to a turn. */
static struct refresh_waiter *take_waiters(struct refreshes *r, uint64_t turn)
{
	struct refresh_waiter *taken = NULL, **at = &r->waiters;

	dl_assert_held(&r->lock);
	while (*at) {
		struct refresh_waiter *w = *at;

		if (w->turn_ > turn) {
			at = &w->next_;
			continue;
		}
		*at = w->next_;
		w->next_ = taken;
		taken = w;
	}
	return taken;
}

static void wake_all(struct refresh_waiter *w, int changed)
{
	while (w) {
		struct refresh_waiter *next = w->next_;

		w->wake(w, changed);
		w = next;
	}
}

void refreshes_stop(struct refreshes *r)
{
	struct refresh_waiter *left;

	dl_lock_take(&r->lock);
	left = take_waiters(r, UINT64_MAX);
	dl_lock_drop(&r->lock);
	wake_all(left, -ESHUTDOWN);
	dl_lock_fini(&r->lock);
	free(r);
}

struct refresh_errand {
	struct errand errand;
	struct refreshes *refreshes;
};

/* A source that is gone, as one that is not mounted for a while, is no source without files: what
 * is known of it stays. */
static int find_source(const struct serve *s)
{
	dl_cleanup(dl_closep) int folder = open(s->options->config->source,
						O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return folder < 0 ? -errno : 0;
}

static int refresh(struct serve *s)
{
	const _Atomic bool *stop = errands_stopping(s->errands);
	int r;

	if (s->stopping)
		return -ESHUTDOWN;
	r = find_source(s);
	if (r < 0)
		return r;
	r = manifest_refresh(s->manifest, MANIFEST_THREADS, true, notify_change(s->notify),
			     stop);
	if (r < 0)
		return r;
	if (!notify_drain(s->notify, clock_now() + DRAIN_NS))
		log_warning("the kernel takes long to forget what changed");
	s->options->shared->checked = true;
	if (r > 0) {
		unreadable_look(s);
		survey_known(s);
		survey_save(s);
	}
	return r;
}

/* What the source says of itself must not be taken for what the mount says: that it is dead, busy,
 * or another's. */
static int refused(int error)
{
	switch (error) {
	case -ENOTCONN:
	case -ECONNABORTED:
	case -ETIMEDOUT:
	case -EACCES:
	case -EPERM:
		return -EIO;
	}
	return error;
}

static void run_refresh(struct errand *errand, struct serve *s)
{
	struct refresh_errand *e = dl_container_of(errand, struct refresh_errand, errand);
	struct refreshes *r = e->refreshes;
	struct refresh_waiter *waiters;
	int changed = refresh(s);

	if (changed < 0 && changed != -ESHUTDOWN)
		log_warning("the refresh failed: %s", strerror(-changed));
	changed = refused(changed);
	dl_lock_take(&r->lock);
	r->done++;
	r->changed = changed;
	waiters = take_waiters(r, r->done);
	dl_lock_drop(&r->lock);
	wake_all(waiters, changed);
	free(e);
}

int refresh_begin(struct serve *s)
{
	struct refreshes *r = control_refreshes(s->control);
	struct refresh_errand *e = malloc(sizeof(*e));
	int error;

	if (!e)
		return -ENOMEM;
	*e = (struct refresh_errand){ .errand.run = run_refresh, .refreshes = r };
	DL_HOLD(&r->lock);
	error = errands_post(s->errands, &e->errand);
	if (error < 0)
		free(e);
	else
		r->begun++;
	return error;
}

static bool is_refreshing(struct refreshes *r)
{
	DL_HOLD(&r->lock);
	return r->done != r->begun;
}

/* A source that takes longer than `verify_ttl` would fill the errands, and users could not tell
 * anything any more. */
int refresh_check(struct serve *s)
{
	return is_refreshing(control_refreshes(s->control)) ? 0 : refresh_begin(s);
}

int refresh_await(struct serve *s, struct refresh_waiter *w, int *ret_changed)
{
	struct refreshes *r = control_refreshes(s->control);

	DL_HOLD(&r->lock);
	if (r->done == r->begun) {
		*ret_changed = r->changed;
		return 1;
	}
	if (w->stopped_)
		return -EINTR;
	w->turn_ = r->begun;
	w->next_ = r->waiters;
	r->waiters = w;
	return 0;
}

bool refresh_stop_waiting(struct serve *s, struct refresh_waiter *w)
{
	struct refreshes *r = control_refreshes(s->control);

	DL_HOLD(&r->lock);
	for (struct refresh_waiter **at = &r->waiters; *at; at = &(*at)->next_)
		if (*at == w) {
			*at = w->next_;
			return true;
		}
	w->stopped_ = true;
	return false;
}
