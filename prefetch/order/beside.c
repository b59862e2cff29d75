/* A validation set beside training: fewer files, and none of those that the main job reads; they
 * are read between its epochs, or in their midst, and come again. */
#include "prefetch/order/tracker_internal.h"

#define PAUSE 64u                       /* opens of others in a row: its epoch is over */

/* Lists are of folders, which lie in each other or apart. */
static bool shares_files(const struct list *list, const struct list *other)
{
	uint32_t n = list_count(list), index;

	return list_index(other, list_at(list, 0), &index) ||
	       list_index(other, list_at(list, n - 1), &index);
}

/* What was believed of its list before makes way. */
static size_t place_of(const struct tracker *t, const struct list *list)
{
	size_t i = 1;

	while (i < t->job_count &&
	       !(t->jobs[i]->beside && shares_files(list, t->jobs[i]->course.list)))
		i++;
	return i;
}

bool follow_beside(struct tracker *t, struct follow *f, uint32_t world)
{
	const struct list *list = f->course.list;
	size_t i = place_of(t, list);

	if (t->job_count == 0 || i == JOBS ||
	    (f->rule.rule == EPOCH_DISTRIBUTED && world != t->spec.world) ||
	    list_count(list) >= list_count(t->jobs[0]->course.list) ||
	    shares_files(list, t->jobs[0]->course.list))
		return false;
	if (i < t->job_count)
		follow_free(t->jobs[i]);
	else
		t->job_count++;
	t->jobs[i] = f;
	f->beside = true;
	f->course.sequential = true;
	return true;
}

/* A list that was shuffled once; and ranks of a validation set forget set_epoch(). */
static bool comes_again(const struct epoch *e)
{
	return e->rule == EPOCH_NUMPY || e->rule == EPOCH_DISTRIBUTED ||
	       (e->shuffle && e->shuffle < STD_SHUFFLE_EACH);
}

/* All was read; or nearly, as its first opens were not seen, and others read since. */
static bool is_over(struct follow *f)
{
	f->paused = f->opened_count == f->counted ? f->paused + 1 : 0;
	f->counted = f->opened_count;
	return follow_finished(f) || (follow_nearly_done(f) && f->paused >= PAUSE);
}

static void begin_anew(struct follow *f)
{
	follow_jump(f, 0);
	f->opened_count = f->counted = 0;
	f->course.epoch++;
}

/* Nobody has come to the main job for two epochs of this one: it was another script's.  Of several
 * validation sets each is read once. */
static void promote(struct tracker *t, size_t i)
{
	struct follow *f = take_job(t, i);

	follow_free(take_job(t, 0));
	start_main(t, f);
}

static void end_beside(struct tracker *t, size_t i)
{
	const struct list *list = t->jobs[i]->course.list;

	if (t->alone == list)
		promote(t, i);
	else if (comes_again(&t->jobs[i]->rule))
		begin_anew(t->jobs[i]);
	else
		follow_free(take_job(t, i));
	t->alone = t->jobs[0]->course.list == list ? NULL : list;
}

void restart_finished(struct tracker *t)
{
	for (size_t i = 0; i < t->walk_count; i++)
		if (follow_finished(t->walks[i]))
			begin_anew(t->walks[i]);
	for (size_t i = t->job_count; i-- > 1;)
		if (t->jobs[i]->beside && is_over(t->jobs[i]))
			end_beside(t, i);
	if (t->job_count > 0 && t->jobs[0]->opened_count != t->jobs[0]->counted) {
		t->jobs[0]->counted = t->jobs[0]->opened_count;
		t->alone = NULL;
	}
}
