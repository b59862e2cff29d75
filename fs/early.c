#include "fs/early.h"

#include <string.h>

#include "base/lock.h"

struct parked_lookup {
	struct parked_lookup *next;
	struct early *early;
	fuse_req_t req;
	fuse_ino_t parent;
	bool interrupted;              /* before it was in the list */
	char name[];
};

struct early {
	struct dl_lock lock;           /* guards the list */
	struct parked_lookup *parked;
};

int early_start(struct early **ret)
{
	struct early *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	dl_lock_init(&e->lock);
	*ret = e;
	return 0;
}

static struct parked_lookup *take_all(struct early *e)
{
	DL_HOLD(&e->lock);
	return DL_TAKE(e->parked);
}

static bool take(struct early *e, struct parked_lookup *which)
{
	DL_HOLD(&e->lock);
	for (struct parked_lookup **at = &e->parked; *at; at = &(*at)->next)
		if (*at == which) {
			*at = which->next;
			return true;
		}
	which->interrupted = true;
	return false;
}

static bool put(struct early *e, struct parked_lookup *p)
{
	DL_HOLD(&e->lock);
	if (p->interrupted)
		return false;
	p->next = e->parked;
	e->parked = p;
	return true;
}

/* Who waits was killed, or hit Ctrl-C. */
static void on_interrupt(fuse_req_t req, void *data)
{
	struct parked_lookup *p = data;

	if (take(p->early, p)) {
		fuse_reply_err(req, EINTR);
		free(p);
	}
}

void early_answer(struct serve *s)
{
	struct parked_lookup *p = take_all(s->early), *next;

	for (; p; p = next) {
		next = p->next;
		fuse_req_interrupt_func(p->req, NULL, NULL);   /* waits for one that runs */
		if (manifest_scanned(s->manifest))
			serve_ops.lookup(p->req, p->parent, p->name);
		else
			fuse_reply_err(p->req, EIO);
		free(p);
	}
}

bool early_park(struct serve *s, fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct parked_lookup *p = malloc(sizeof(*p) + strlen(name) + 1);

	if (!p || manifest_scanned(s->manifest)) {
		free(p);
		return false;
	}
	*p = (struct parked_lookup){ .early = s->early, .req = req, .parent = parent };
	strcpy(p->name, name);
	fuse_req_interrupt_func(req, on_interrupt, p);
	if (!put(s->early, p)) {
		fuse_reply_err(req, EINTR);
		free(p);
	}
	/* The answers may be under way already. */
	if (manifest_scanned(s->manifest) || s->unread)
		early_answer(s);
	return true;
}

void early_stop(struct early *e)
{
	struct parked_lookup *p, *next;

	if (!e)
		return;
	for (p = take_all(e); p; p = next) {
		next = p->next;
		fuse_req_interrupt_func(p->req, NULL, NULL);
		fuse_reply_err(p->req, ESHUTDOWN);
		free(p);
	}
	dl_lock_fini(&e->lock);
	free(e);
}
