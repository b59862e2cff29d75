/* What the finder is told: lists, lessons, opens.  On the threads of those who tell it, who shall
 * not wait: so under its lock nothing is done that takes long. */
#include "prefetch/find/finder_internal.h"

bool finder_may_search(const struct finder *f)
{
	enum evidence_stage stage = evidence_stage(&f->evidence);

	return f->list_count > 0 && stage > EVIDENCE_NONE &&
	       (f->tried != f->evidence.turn || f->stage < stage ||
		(f->put_off && !vain_rests(&f->vain)));
}

void finder_drop_lists(struct finder *f)
{
	while (f->list_count > 0)
		list_unref(f->lists[--f->list_count]);
	f->epoch = 0;
}

void finder_call_off(struct finder *f)
{
	dl_assert_held(&f->lock);
	if (f->searching)
		atomic_store(&f->search.stop, true);
	atomic_store(&f->forecast.stop, true);
	sem_post(&f->news);
}

static void take_lists(struct finder *f, struct list *const *lists, size_t count)
{
	finder_drop_lists(f);
	for (size_t i = 0; i < DL_MIN(count, (size_t)SEARCH_LISTS); i++) {
		f->lists[f->list_count++] = list_ref(lists[i]);
		f->epoch = DL_MAX(f->epoch, list_count(lists[i]));
	}
}

void finder_instead(struct finder *f, struct list *const *lists, size_t count)
{
	DL_HOLD(&f->lock);
	take_lists(f, lists, count);
}

void finder_lists(struct finder *f, struct list *const *lists, size_t count)
{
	DL_HOLD(&f->lock);
	take_lists(f, lists, count);
	evidence_clear(&f->evidence);
	f->vain = (struct vain){ 0 };
	finder_call_off(f);
}

void finder_lessons(struct finder *f, const struct lessons *lessons, bool save)
{
	DL_HOLD(&f->lock);
	f->lessons = *lessons;
	f->unsaved |= save;
	f->lesson_turn++;
	sem_post(&f->news);
}

/* The first opens were somebody else's, or the worker that began is, or may be, seen only now. */
static bool began_wrong(struct finder *f)
{
	if (!f->searching || f->compared == f->evidence.turn ||
	    evidence_stage(&f->evidence) <= f->stage)
		return false;
	f->compared = f->evidence.turn;
	return f->stage == EVIDENCE_FULL ||
	       !evidence_same_start(&f->search.evidence, &f->evidence);
}

/* Another job has begun, and the last search knows nothing of it. */
static bool began_beside(const struct finder *f)
{
	const struct evidence *before = &f->search.evidence;

	return f->tried == f->evidence.turn && !f->evidence.held &&
	       f->evidence.reader_count > before->reader_count &&
	       evidence_newcomers(before, &f->evidence);
}

void finder_turn(struct finder *f, const uint32_t *pids, size_t count, bool known)
{
	DL_HOLD(&f->lock);
	evidence_turn(&f->evidence, pids, count);
	if (f->evidence.count > 0 && !known)
		f->evidence.turn++;
	if (!f->searching || f->evidence.turn == f->tried)
		return;
	atomic_store(&f->search.stop, true);
	sem_post(&f->news);
}

void finder_open(struct finder *f, sample_id id, uint32_t pid, bool fits, uint64_t now)
{
	uint64_t turn;

	DL_HOLD(&f->lock);
	if (f->list_count == 0)
		return;
	turn = f->evidence.turn;
	if (vain_open(&f->vain, pid, now) && f->tried == turn && !f->searching)
		evidence_clear(&f->evidence);   /* of another's epoch, or of one that is over */
	evidence_open(&f->evidence, id, pid, fits, f->epoch);
	if (began_beside(f))
		f->evidence.turn++;
	if (f->evidence.turn != turn || began_wrong(f))
		finder_call_off(f);
	if (!f->searching && finder_may_search(f)) {
		atomic_store(&f->forecast.stop, true);
		sem_post(&f->news);
	}
}
