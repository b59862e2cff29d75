#include "fs/command.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "fs/control.h"
#include "fs/errand.h"

struct commands {
	struct dl_lock lock;           /* guards what follows */
	pthread_cond_t answered;       /* an order was taken or refused */
	bool noted;                    /* one was, at all */
	bool following;                /* command_follow() is under way */
	char error[COMMAND_TEXT];      /* of what was told last */
	char refused[COMMAND_TEXT], why[COMMAND_TEXT];         /* the order */
};

static struct commands *commands_of(const struct serve *s)
{
	return control_commands(s->control);
}

int commands_start(struct commands **ret)
{
	struct commands *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	dl_lock_init(&c->lock);
	dl_cond_init(&c->answered);
	*ret = c;
	return 0;
}

void commands_stop(struct commands *c)
{
	if (!c)
		return;
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

int command_unknown(struct serve *s, const char *name)
{
	struct commands *c = commands_of(s);

	DL_HOLD(&c->lock);
	snprintf(c->error, sizeof(c->error), "%.60s cannot be set; user.dlfs.order, epoch, "
		 "refresh, warm, drop and cancel can", name);
	return -EINVAL;
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
