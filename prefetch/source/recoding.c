/* Images that are coded anew on their way from the source.
 *
 * A whole sample that may be coded comes from below as it is, waits here, and is coded by threads
 * of this layer (coders.c); what came of it is told to the table of what is served, which hands its
 * size out.
 *
 * The memory for all that is bounded by served_room(), and is divided into three: what the threads
 * work in, what they keep from one image to the next, and the bytes of the source that wait for
 * them, of which half is for those that readers wait for.  The plan does not know of the latter: it
 * thinks a sample has the size that is served.
 */
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "prefetch/source/recoding_internal.h"

/* --- To below ----------------------------------------------------------------------------- */

/* With the lock.  At least one: it is no larger than the reserve (engine.c), which is less than
 * its share of the memory.
 */
static struct task *next_admitted(struct recoding *rc)
{
	uint64_t now = clock_now();
	struct task *t = task_of(queue_first(&rc->waiting, now));
	uint64_t most = rc->source_most / (reader_waits(&rc->waiting) ? 1 : 2);

	if (!t || rc->stopping || (rc->source_bytes > 0 && rc->source_bytes + t->size > most))
		return NULL;
	rc->source_bytes += t->size;
	(void)queue_pop(&rc->waiting, now);
	t->layer.inner.due = t->layer.outer->due;      /* a reader may have come */
	t->layer.inner.hurried_ = t->layer.outer->hurried_;
	t->hurried = t->layer.outer->hurried_ > 0;
	t->next = rc->below;
	rc->below = t;
	return t;
}

/* With the lock. */
static void leave_below(struct task *t)
{
	struct task **at = &t->recoding->below;

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
}

void task_free(struct task *t)
{
	{
		DL_HOLD(&t->recoding->lock);
		t->recoding->source_bytes -= t->size;
	}
	buf_free(&t->layer.inner.bytes);
	free(t);
}

/* With the lock. */
static bool hurry_below(struct recoding *rc, sample_id id, bool hurry)
{
	bool any = false;

	for (struct task *t = rc->below; t; t = t->next) {
		if (t->layer.inner.id != id)
			continue;
		t->hurried |= hurry;
		any |= t->hurried;
	}
	return any;
}

/* A reader who comes before a task is in the queue there is not heard there. */
void ask_below(struct recoding *rc)
{
	for (;;) {
		struct fetch *outer;
		struct task *t;
		sample_id id;
		bool hurried;
		int r;

		dl_lock_take(&rc->lock);
		t = next_admitted(rc);
		dl_lock_drop(&rc->lock);
		if (!t)
			return;
		outer = t->layer.outer;
		id = outer->id;
		r = source_submit(rc->source.next, &t->layer.inner);   /* 0: t may be gone */
		dl_lock_take(&rc->lock);
		hurried = hurry_below(rc, id, false);
		if (r < 0)
			leave_below(t);
		dl_lock_drop(&rc->lock);
		if (hurried)
			source_hurry(rc->source.next, id, 0);
		if (r == 0)
			continue;
		task_free(t);
		layer_done(outer, r);
	}
}

/* --- From below --------------------------------------------------------------------------- */

static int queue_task(struct task *t)
{
	struct recoding *rc = t->recoding;
	struct fetch *f = t->layer.outer;
	int r = t->layer.inner.result;

	DL_HOLD(&rc->lock);
	leave_below(t);
	if (t->hurried)
		f->due = 0;
	f->in_turn = false;            /* that was about the way from the source */
	if (r < 0)
		return r;
	return rc->stopping ? -ESHUTDOWN : coders_queue(t);
}

/* Its attributes shall be seen nevertheless. */
static void note_unreadable(struct served *s, sample_id id)
{
	if (served_tell(s, id, RECODE_UNREADABLE, NULL) < 0)
		return;                /* it could be read once, and has its size */
}

/* On a thread of the source below. */
static void on_inner(struct fetch *inner)
{
	struct task *t = dl_container_of(inner, struct task, layer.inner);
	struct recoding *rc = t->recoding;
	struct fetch *outer = t->layer.outer;
	int r;

	if (inner->result == 0)
		t->need = recode_need(&rc->want, inner->bytes.at, inner->bytes.len);
	r = queue_task(t);
	if (r == 0)
		return;
	if (r == -EACCES || r == -EPERM)
		note_unreadable(rc->served, inner->id);
	task_free(t);
	layer_done(outer, r);
	ask_below(rc);
}

static bool is_coded(const struct recoding *rc, const struct fetch *f)
{
	struct served_file file;

	return f->whole && served_wants(rc->served, f->id) &&
		served_ask(rc->served, f->id, &file) == 0 && file.state != SERVED_AS_IT_IS;
}

static int recoding_submit(struct source *s, struct fetch *f)
{
	struct recoding *rc = dl_container_of(s, struct recoding, source);
	struct task *t;
	int r;

	if (!is_coded(rc, f))
		return source_submit(s->next, f);
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->recoding = rc;
	(void)manifest_sample(s->manifest, f->id, &t->size);
	layer_fetch_init(&t->layer, f, on_inner);
	f->own_ = &t->layer;
	dl_lock_take(&rc->lock);
	r = rc->stopping ? -ESHUTDOWN : queue_push(&rc->waiting, f);
	dl_lock_drop(&rc->lock);
	if (r < 0) {
		free(t);
		return r;
	}
	ask_below(rc);
	dl_lock_take(&rc->lock);
	if (reader_waits(&rc->waiting) || rc->waiting.overdue_at)
		pthread_cond_broadcast(&rc->urgent);
	dl_lock_drop(&rc->lock);
	return 0;
}

static void recoding_hurry(struct source *s, sample_id id, uint64_t offset)
{
	struct recoding *rc = dl_container_of(s, struct recoding, source);

	dl_lock_take(&rc->lock);
	queue_hurry(&rc->waiting, id, offset, clock_now());
	(void)hurry_below(rc, id, true);
	coders_hurry(rc, id, offset);
	dl_lock_drop(&rc->lock);
	ask_below(rc);                 /* there is more room for one who is waited for */
}

static unsigned recoding_depth(const struct source *s)
{
	return source_depth(s->next) + dl_container_of(s, struct recoding, source)->coder_count;
}

static void recoding_stop(struct source *s)
{
	struct recoding *rc = dl_container_of(s, struct recoding, source);

	dl_lock_take(&rc->lock);
	rc->stopping = true;
	pthread_cond_broadcast(&rc->queued);
	pthread_cond_broadcast(&rc->urgent);
	dl_lock_drop(&rc->lock);
	coders_join(rc);
}

static void recoding_close(struct source *s)
{
	struct recoding *rc = dl_container_of(s, struct recoding, source);

	queue_fini(&rc->waiting);
	queue_fini(&rc->queue);
	queue_fini(&rc->large);
	ration_fini(&rc->work);
	pthread_cond_destroy(&rc->queued);
	pthread_cond_destroy(&rc->urgent);
	dl_lock_fini(&rc->lock);
}

/* A quarter for what waits, an eighth for what is kept. */
static void divide_room(struct recoding *rc, unsigned coders)
{
	uint64_t room = served_room(rc->served);

	rc->want = *served_wish(rc->served);
	rc->source_most = room / 4;
	rc->kept = (size_t)DL_MIN(room / 8 / coders, RECODE_KEPT);
	rc->want.limits.memory = room - room / 4 - rc->kept * coders;
	ration_init(&rc->work, rc->want.limits.memory);
}

static int recoding_open(struct source *s)
{
	struct recoding *rc = dl_container_of(s, struct recoding, source);
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned each = cores < 1 ? 1 : (unsigned)DL_MIN(cores, (long)THREADS_MAX);
	int r;

	rc->served = s->options->served;
	divide_room(rc, 2 * each);
	dl_lock_init(&rc->lock);
	dl_cond_init(&rc->queued);
	dl_cond_init(&rc->urgent);
	dl_lock_take(&rc->lock);       /* they look at each other */
	r = coders_start(rc, each);
	dl_lock_drop(&rc->lock);
	if (r < 0) {
		recoding_stop(s);
		recoding_close(s);
	}
	return r;
}

const struct source_ops source_recoding = {
	.name = "recoding",
	.size = sizeof(struct recoding),
	.open = recoding_open,
	.submit = recoding_submit,
	.hurry = recoding_hurry,
	.depth = recoding_depth,
	.stop = recoding_stop,
	.close = recoding_close,
};
