#include "fs/command.h"

#include <fcntl.h>
#include <stdio.h>
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

struct commands {
	struct serve *serve;
	struct dl_lock lock;           /* guards what follows */
	pthread_cond_t answered;       /* an order was taken or refused */
	bool noted;                    /* one was, at all */
	uint64_t begun, done;          /* refreshes */
	int changed;                   /* by the last of them */
	struct refresh_waiter *waiters;
	bool following;                /* command_follow() is under way */
	char error[COMMAND_TEXT];      /* of what was told last */
	char refused[COMMAND_TEXT], why[COMMAND_TEXT];         /* the order */
};

static struct commands *commands_of(const struct serve *s)
{
	return control_commands(s->control);
}

int commands_start(struct serve *s, struct commands **ret)
{
	struct commands *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->serve = s;
	dl_lock_init(&c->lock);
	dl_cond_init(&c->answered);
	*ret = c;
	return 0;
}

/* Take out the waiters up to a turn. */
static struct refresh_waiter *take_waiters(struct commands *c, uint64_t turn)
{
	struct refresh_waiter *taken = NULL, **at = &c->waiters;

	dl_assert_held(&c->lock);
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

void commands_stop(struct commands *c)
{
	struct refresh_waiter *left;

	dl_lock_take(&c->lock);
	left = take_waiters(c, UINT64_MAX);
	dl_lock_drop(&c->lock);
	wake_all(left, -ESHUTDOWN);
	pthread_cond_destroy(&c->answered);
	dl_lock_fini(&c->lock);
	free(c);
}

void command_note(struct serve *s, const char *spec, int error, const char *why)
{
	const char *text = error == 0 ? "" : *why ? why : strerror(-error);
	struct commands *c = commands_of(s);

	if (error < 0 && !s->stopping)
		log_warning("order %s was refused: %s", spec, text);
	DL_HOLD(&c->lock);
	snprintf(c->error, sizeof(c->error), "%s", text);
	snprintf(c->why, sizeof(c->why), "%s", text);
	snprintf(c->refused, sizeof(c->refused), "%s", error < 0 ? spec : "");
	c->noted = true;
	pthread_cond_broadcast(&c->answered);
}

void command_await_first(struct serve *s, char ret_spec[COMMAND_TEXT], char ret_why[COMMAND_TEXT])
{
	struct commands *c = commands_of(s);
	uint64_t deadline = clock_now() + COMMAND_NS;

	{
		DL_HOLD(&c->lock);
		while (!c->noted && dl_cond_wait_until(&c->answered, &c->lock, deadline))
			;
	}
	command_refused(s, ret_spec, ret_why);
}

void command_refused(struct serve *s, char ret_spec[COMMAND_TEXT], char ret_why[COMMAND_TEXT])
{
	struct commands *c = commands_of(s);

	DL_HOLD(&c->lock);
	memcpy(ret_spec, c->refused, COMMAND_TEXT);
	memcpy(ret_why, c->why, COMMAND_TEXT);
}

int command_error(struct serve *s, struct buf *ret)
{
	struct commands *c = commands_of(s);

	DL_HOLD(&c->lock);
	return buf_append(ret, c->error, strlen(c->error));
}

/* --- Orders ---------------------------------------------------------------------------- */

struct order_errand {                  /* shared by the errand and who waits for it */
	struct errand errand;
	struct commands *commands;
	unsigned refs;                 /* guarded by commands->lock */
	bool answered, followed;
	int result;
	char spec[];
};

static void order_unref(struct order_errand *o)
{
	struct dl_lock *lock = &o->commands->lock;
	bool last;

	dl_lock_take(lock);
	last = --o->refs == 0;
	dl_lock_drop(lock);
	if (last)
		free(o);
}

static void run_order(struct errand *errand, struct serve *s)
{
	struct order_errand *o = dl_container_of(errand, struct order_errand, errand);
	struct commands *c = o->commands;
	char why[160] = "";
	int r = -ESHUTDOWN;

	if (!s->stopping)
		r = engine_order(s->engine, o->spec, s->options->mountpoint, why);
	if (r == 0) {
		shared_set_spec(s->options->shared, o->spec);
		engine_expect(s->engine);      /* who tells an order is about to read */
	}
	command_note(s, o->spec, r, why);
	dl_lock_take(&c->lock);
	o->result = r;
	o->answered = true;
	if (o->followed)
		c->following = false;
	pthread_cond_broadcast(&c->answered);
	dl_lock_drop(&c->lock);
	order_unref(o);
}

static int await_order(struct commands *c, const struct order_errand *o, bool has_file)
{
	uint64_t deadline = clock_now() + COMMAND_NS;

	DL_HOLD(&c->lock);
	while (!o->answered)
		if (!dl_cond_wait_until(&c->answered, &c->lock, deadline))
			return has_file ? -EINPROGRESS : 0;
	return o->result;
}

/* Errors in the text itself are told at once, however busy the errands are. */
static int check_spec(struct serve *s, const char *spec, bool *ret_has_file)
{
	struct order_spec parsed;
	char why[160] = "";
	int r = -EINVAL;

	if (strlen(spec) >= SHARED_SPEC_MAX)
		snprintf(why, sizeof(why), "longer than %d bytes", SHARED_SPEC_MAX - 1);
	else
		r = order_parse(spec, &parsed, why);
	if (r < 0) {
		command_note(s, spec, r, why);
		return r;
	}
	*ret_has_file = parsed.file;
	order_spec_fini(&parsed);
	return 0;
}

static int post_order(struct serve *s, const char *spec, bool followed, struct order_errand **ret)
{
	struct order_errand *o = calloc(1, sizeof(*o) + strlen(spec) + 1);
	int r;

	if (!o)
		return -ENOMEM;
	o->errand.run = run_order;
	o->commands = commands_of(s);
	o->refs = followed ? 1 : 2;
	o->followed = followed;
	strcpy(o->spec, spec);
	r = errands_post(s->errands, &o->errand);
	if (r < 0)
		free(o);
	else
		*ret = o;
	return r;
}

void command_follow(struct serve *s, const char *spec)
{
	struct commands *c = commands_of(s);
	struct order_errand *o;

	DL_HOLD(&c->lock);
	if (!c->following)
		c->following = post_order(s, spec, true, &o) == 0;
}

int command_order(struct serve *s, const char *spec)
{
	struct commands *c = commands_of(s);
	struct order_errand *o;
	bool has_file;
	int r = check_spec(s, spec, &has_file);

	if (r == 0)
		r = post_order(s, spec, false, &o);
	if (r < 0)
		return r;
	r = await_order(c, o, has_file);
	order_unref(o);
	return r;
}

static bool is_epoch(const char *text, uint64_t *ret)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return !errno && !*end && *ret <= ORDER_EPOCHS_MAX;
}

int command_epoch(struct serve *s, const char *number)
{
	struct commands *c = commands_of(s);
	char why[160] = "the epoch is no number, or too large";
	uint64_t epoch;
	int r = -EINVAL;

	if (is_epoch(number, &epoch))
		r = engine_epoch(s->engine, epoch, why);
	if (r == 0)
		engine_expect(s->engine);
	DL_HOLD(&c->lock);
	if (r == 0)
		memcpy(c->error, c->why, sizeof(c->error));
	else if (r == -EINVAL)
		snprintf(c->error, sizeof(c->error), "%s", why);
	return r;
}

/* --- Refresh --------------------------------------------------------------------------- */

struct refresh_errand {
	struct errand errand;
	struct commands *commands;
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

static void run_refresh(struct errand *errand, struct serve *s)
{
	struct refresh_errand *e = dl_container_of(errand, struct refresh_errand, errand);
	struct commands *c = e->commands;
	struct refresh_waiter *waiters;
	int changed = refresh(s);

	if (changed < 0 && changed != -ESHUTDOWN)
		log_warning("the refresh failed: %s", strerror(-changed));
	dl_lock_take(&c->lock);
	c->done++;
	c->changed = changed;
	waiters = take_waiters(c, c->done);
	dl_lock_drop(&c->lock);
	wake_all(waiters, changed);
	free(e);
}

int command_refresh(struct serve *s)
{
	struct commands *c = commands_of(s);
	struct refresh_errand *e = malloc(sizeof(*e));
	int r;

	if (!e)
		return -ENOMEM;
	*e = (struct refresh_errand){ .errand.run = run_refresh, .commands = c };
	DL_HOLD(&c->lock);
	r = errands_post(s->errands, &e->errand);
	if (r < 0)
		free(e);
	else
		c->begun++;
	return r;
}

static bool is_refreshing(struct commands *c)
{
	DL_HOLD(&c->lock);
	return c->done != c->begun;
}

/* A source that takes longer than `verify_ttl` would fill the errands, and users could not tell
 * anything any more. */
int command_check(struct serve *s)
{
	return is_refreshing(commands_of(s)) ? 0 : command_refresh(s);
}

int command_await_refresh(struct serve *s, struct refresh_waiter *w, int *ret_changed)
{
	struct commands *c = commands_of(s);

	DL_HOLD(&c->lock);
	if (c->done == c->begun) {
		*ret_changed = c->changed;
		return 1;
	}
	if (w->stopped_)
		return -EINTR;
	w->turn_ = c->begun;
	w->next_ = c->waiters;
	c->waiters = w;
	return 0;
}

bool command_stop_waiting(struct serve *s, struct refresh_waiter *w)
{
	struct commands *c = commands_of(s);

	DL_HOLD(&c->lock);
	for (struct refresh_waiter **at = &c->waiters; *at; at = &(*at)->next_)
		if (*at == w) {
			*at = w->next_;
			return true;
		}
	w->stopped_ = true;
	return false;
}
