#include "fs/sized.h"

#include <sys/stat.h>

#include "base/clock.h"
#include "fs/control.h"

struct parked_size {
	struct waiter waiter;
	struct serve *serve;
	fuse_req_t req;
	struct attr attr;
	void (*reply)(fuse_req_t req, struct serve *s, const struct attr *a);
	uint64_t since;
};

bool sized(struct serve *s, struct attr *a)
{
	struct served_file f;

	if (!s->served || !S_ISREG(a->mode) || control_is(a->node) ||
	    served_ask(s->served, node_sample(a->node), &f) < 0)
		return true;
	a->size = f.size;
	return f.state != SERVED_UNKNOWN;
}

static void reply_lookup(fuse_req_t req, struct serve *s, const struct attr *a)
{
	struct fuse_entry_param e;

	fill_entry(s, a, &e);
	fuse_reply_entry(req, &e);
}

static void reply_getattr(fuse_req_t req, struct serve *s, const struct attr *a)
{
	struct stat st;

	fill_stat(s, a, &st);
	fuse_reply_attr(req, &st, attr_seconds(s, a));
}

/* What could not be read may have its size nevertheless. */
static void on_wake(struct waiter *w, int result, struct entry *e)
{
	struct parked_size *p = dl_container_of(w, struct parked_size, waiter);

	if (e) {                       /* others may wait for the room */
		engine_spent(p->serve->engine, store_block(e));
		store_unpin(e);
	}
	stats_add(&p->serve->stats->wait_ns, clock_now() - p->since);
	if (p->reply == reply_lookup)  /* its open comes next */
		engine_asked(p->serve->engine, node_sample(p->attr.node));
	if (sized(p->serve, &p->attr))
		p->reply(p->req, p->serve, &p->attr);
	else
		fuse_reply_err(p->req, serve_error(result < 0 ? result : -ESTALE));
	free(p);
}

static void answer(fuse_req_t req, struct serve *s, const struct attr *a,
		   void (*reply)(fuse_req_t req, struct serve *s, const struct attr *a))
{
	struct attr known = *a;
	struct parked_size *p;
	struct entry *e;
	int r;

	if (sized(s, &known)) {
		reply(req, s, &known);
		return;
	}
	p = malloc(sizeof(*p));
	if (!p) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	*p = (struct parked_size){
		.waiter.wake = on_wake, .serve = s, .req = req, .attr = *a, .reply = reply,
		.since = clock_now(),
	};
	if (reply == reply_getattr)    /* its open may have been before, and its time runs out */
		engine_asked(s->engine, node_sample(a->node));
	r = engine_fetch(s->engine, node_sample(a->node), &p->waiter, &e);
	if (r != 0)
		on_wake(&p->waiter, DL_MIN(r, 0), r > 0 ? e : NULL);
}

void sized_lookup(fuse_req_t req, struct serve *s, const struct attr *a)
{
	answer(req, s, a, reply_lookup);
}

void sized_getattr(fuse_req_t req, struct serve *s, const struct attr *a)
{
	answer(req, s, a, reply_getattr);
}
