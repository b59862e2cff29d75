/* What the engine says of itself. */
#include <stdio.h>

#include "prefetch/engine_internal.h"

struct report_ask {
	struct ask ask;
	struct engine_report *ret;
};

static void tell_rule(const struct tracker *t, struct engine_report *ret)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;

	if (tracker_describe_main(t, &text) == 0)
		snprintf(ret->found, sizeof(ret->found), "%.*s", (int)text.len, (char *)text.at);
}

static void report(struct engine *e, struct ask *a)
{
	struct engine_report *r = dl_container_of(a, struct report_ask, ask)->ret;
	const struct course *c = tracker_main(e->tracker);

	snprintf(r->spec, sizeof(r->spec), "%s", e->spec);
	r->state = tracker_state(e->tracker);
	r->plan = plan_report(e->plan);
	r->unfit = tracker_unfit(e->tracker);
	tell_rule(e->tracker, r);
	r->epoch = c ? c->epoch : tracker_standing(e->tracker).next_epoch;
	if (!c)
		return;
	r->position = tracker_position(c);
	r->length = tracker_length(c);
}

int engine_report(struct engine *e, struct engine_report *ret)
{
	struct report_ask a = { .ask.run = report, .ret = ret };

	*ret = (struct engine_report){ .spec = "" };
	return ask(e, &a.ask);
}

struct text_ask {                      /* what the text is made of, outside of the planner */
	struct ask ask;
	bool next;
	struct list *list;
	struct sequence *sequence;
};

static void take_sequence(struct engine *e, struct ask *a)
{
	struct text_ask *t = dl_container_of(a, struct text_ask, ask);
	const struct course *c = tracker_main(e->tracker);
	struct sequence *q = c ? (t->next ? c->next : c->sequence) : NULL;

	if (!q)
		return;
	t->list = list_ref(c->list);
	t->sequence = sequence_ref(q);
}

static int add_path(const struct engine *e, sample_id id, struct buf *path, struct buf *ret)
{
	int r;

	path->len = 0;
	r = manifest_path(e->options.manifest, node_of_sample(id), path);
	if (r == 0)
		r = buf_escape(ret, (struct bytes){ path->at, path->len });
	return r < 0 ? r : buf_append(ret, "\n", 1);
}

int engine_order_text(struct engine *e, bool next, struct buf *ret)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
	struct text_ask a = { .ask.run = take_sequence, .next = next };
	int r = ask(e, &a.ask);

	for (uint32_t i = 0; a.sequence && r == 0 && i < a.sequence->length; i++)
		if (!list_lost_at(a.list, a.sequence->at[i]))
			r = add_path(e, list_at(a.list, a.sequence->at[i]), &path, ret);
	list_unref(a.list);
	sequence_unref(a.sequence);
	return r;
}

struct turn_ask {
	struct ask ask;
	uint64_t turn;
};

static void take_turn(struct engine *e, struct ask *a)
{
	dl_container_of(a, struct turn_ask, ask)->turn = e->turn;
}

int engine_order_turn(struct engine *e, uint64_t *ret)
{
	struct turn_ask a = { .ask.run = take_turn };
	int r = ask(e, &a.ask);

	*ret = a.turn;
	return r;
}

struct describe_ask {
	struct ask ask;
	struct buf *ret;
	int result;
};

static void describe(struct engine *e, struct ask *a)
{
	struct describe_ask *d = dl_container_of(a, struct describe_ask, ask);

	d->result = tracker_describe(e->tracker, d->ret);
}

int engine_order_describe(struct engine *e, struct buf *ret)
{
	struct describe_ask a = { .ask.run = describe, .ret = ret };
	int r = ask(e, &a.ask);

	return r < 0 ? r : a.result;
}
