/* The epoch view's orders in the tracker.  Which epoch is read is not found out but known: readers
 * ask what its entries are. */
#include "prefetch/order/tracker_internal.h"

#define LEFT 16u                       /* entries of another epoch in a row: this one is left */

/* Drawn as a whole, at once; the last two are remembered, since each is asked for several times. */
int drawn_sequence(struct tracker *t, struct list *list, const struct epoch *e,
		   struct sequence **ret)
{
	struct drawn *d = &t->drawn[e->number % DL_COUNT(t->drawn)];
	const uint32_t *borders;
	size_t count;
	int r;

	if (d->sequence && d->list == list && d->number == e->number) {
		*ret = sequence_ref(d->sequence);
		return 0;
	}
	borders = list_borders(list, &count);
	r = order_drawn(&t->spec, e, list_count(list), borders, count, ret);
	if (r < 0)
		return r;
	sequence_unref(d->sequence);
	*d = (struct drawn){ .list = list, .number = e->number, .sequence = sequence_ref(*ret) };
	return 0;
}

void drawn_forget(struct tracker *t)
{
	for (size_t i = 0; i < DL_COUNT(t->drawn); i++) {
		sequence_unref(t->drawn[i].sequence);
		t->drawn[i] = (struct drawn){ .list = NULL };
	}
	t->outside = 0;
}

bool tracker_drawn(struct tracker *t, uint64_t epoch)
{
	struct epoch rule = { .rule = EPOCH_DRAWN, .number = epoch };
	const struct follow *main = t->job_count ? t->jobs[0] : NULL;
	struct follow *f;

	if (t->spec.kind != ORDER_DRAWN || !main || main->rule.number == epoch) {
		t->outside = 0;
		return false;
	}
	t->outside++;
	if (t->outside < LEFT && !(epoch == main->rule.number + 1 && follow_nearly_done(main)))
		return false;
	if (follow_from(t, main->course.list, &rule, t->opens, 0, &f) < 0)
		return false;
	t->outside = 0;
	replace_main(t, f);
	return true;
}
