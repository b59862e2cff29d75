/* The threads that code images anew.
 *
 * Two kinds: those for what nobody waits for yet have the least priority, so that they run in the
 * time that nobody else wants; the others take only what a reader waits for.  No reader waits for
 * the former, whose time may not come for long:
 *
 * - What they have in hand when he comes is coded once more by one of the others, since a priority
 *   cannot be raised without a privilege; the first that is ready delivers.  Both make the same.
 * - They leave half of the memory to the others.  What takes more than that is large, and the
 *   others', even if nobody waits for it; one at a time.
 * - While a reader waits for memory, the others take whatever comes: its end makes room.
 *
 * But what takes more than half of the memory waits for what the former have in hand: a file as
 * large as that, and a large image.  For those that come after it there is what it leaves, until
 * they have had as much as there is in all (ration.h).
 */
#include <sched.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "prefetch/source/recoding_internal.h"

static bool is_large(const struct task *t)
{
	const struct recoding *rc = t->recoding;

	return t->size > rc->source_most / 2 || t->need.coding > rc->work.most / 2;
}

int coders_queue(struct task *t)
{
	struct recoding *rc = t->recoding;
	struct fetch *f = t->layer.outer;
	bool large = is_large(t);
	int r = queue_push(large ? &rc->large : &rc->queue, f);

	if (r < 0)
		return r;
	if (!large)
		pthread_cond_signal(&rc->queued);
	if (large || f->due == 0 || reader_waits(&rc->waiting))
		pthread_cond_signal(&rc->urgent);
	return 0;
}

void coders_hurry(struct recoding *rc, sample_id id, uint64_t offset)
{
	queue_hurry(&rc->queue, id, offset, clock_now());
	queue_hurry(&rc->large, id, offset, clock_now());
	for (unsigned i = 0; i < rc->coder_count; i++) {
		struct coder *c = &rc->coders[i];

		if (c->idle && c->task && c->task->layer.inner.id == id && c->task->users == 1)
			c->task->again = true;
	}
	pthread_cond_broadcast(&rc->urgent);
}

/* The memory that it is coded in, and perhaps decoded after that. */
static uint64_t work_of(const struct coder *c, const struct task *t, bool *ret_may_decode)
{
	uint64_t most = c->recoding->work.most / (c->idle ? 2 : 1);

	*ret_may_decode = t->need.decoding <= most;
	return *ret_may_decode ? DL_MAX(t->need.coding, t->need.decoding) : t->need.coding;
}

/* Without the lock: t may go when its last user does. */
static void deliver(struct fetch *outer, struct buf *bytes, int result)
{
	outer->len = result == 0 ? bytes->len : outer->len;
	outer->bytes = buf_take(bytes);
	layer_done(outer, result);
}

/* With the lock, which is dropped meanwhile. */
static void run_task(struct coder *c, struct task *t)
{
	struct recoding *rc = c->recoding;
	struct bytes source = { t->layer.inner.bytes.at, t->layer.inner.bytes.len };
	dl_cleanup(buf_free) struct buf bytes = BUF_EMPTY;
	struct fetch *outer = t->layer.outer;
	bool may_decode, first, last;
	uint64_t work = work_of(c, t, &may_decode);
	int r;

	c->task = t;
	t->users++;
	dl_lock_drop(&rc->lock);
	c->room = c->room ? c->room : recode_room_new(rc->kept);
	dl_lock_take(&rc->lock);
	ration_take(&rc->work, &rc->lock, work, c->idle);
	dl_lock_drop(&rc->lock);
	r = code_image(&(struct coding){ rc->served, &rc->want, c->room, may_decode },
		       t->layer.inner.id, source, &bytes);
	dl_lock_take(&rc->lock);
	ration_give(&rc->work, work, c->idle);
	c->task = NULL;
	first = !t->delivered;
	t->delivered = true;
	last = --t->users == 0;
	dl_lock_drop(&rc->lock);
	if (first)
		deliver(outer, &bytes, r);
	if (last) {
		task_free(t);
		ask_below(rc);
	}
	dl_lock_take(&rc->lock);
}

static void run_large(struct coder *c, struct task *t)
{
	struct recoding *rc = c->recoding;

	rc->large_in_hand = true;
	run_task(c, t);
	rc->large_in_hand = false;
}

/* What an idle thread has in hand and a reader waits for. */
static struct task *next_again(struct recoding *rc)
{
	for (unsigned i = 0; i < rc->coder_count; i++) {
		struct task *t = rc->coders[i].task;

		if (t && t->again && !t->delivered) {
			t->again = false;
			return t;
		}
	}
	return NULL;
}

static bool may_take_any(const struct coder *c)
{
	const struct recoding *rc = c->recoding;

	if (c->idle)
		return !reader_waits(&rc->queue);
	return reader_waits(&rc->queue) || reader_waits(&rc->waiting);
}

static struct task *next_task(struct coder *c)
{
	struct recoding *rc = c->recoding;
	struct fetch *f = may_take_any(c) ? queue_pop(&rc->queue, clock_now()) : NULL;

	if (f && rc->queue.count > 0)
		pthread_cond_signal(&rc->queued);      /* the next may be theirs */
	if (f || c->idle)
		return task_of(f);
	return next_again(rc);
}

/* With the lock, which is dropped meanwhile.  false: there is nothing to do. */
static bool work_on(struct coder *c)
{
	struct recoding *rc = c->recoding;
	struct task *t = next_task(c);

	if (t)
		run_task(c, t);
	else if (!c->idle && !rc->large_in_hand && rc->large.count > 0)
		run_large(c, task_of(queue_pop(&rc->large, clock_now())));
	else
		return false;
	return true;
}

static void end_waiting(struct recoding *rc, struct queue *q)
{
	struct fetch *f;

	while ((f = queue_pop(q, clock_now()))) {
		if (q == &rc->waiting)
			rc->source_bytes += task_of(f)->size;
		dl_lock_drop(&rc->lock);
		task_free(task_of(f));
		layer_done(f, -ESHUTDOWN);
		dl_lock_take(&rc->lock);
	}
}

/* As little as there is: at SCHED_IDLE, who stops the mount could wait for seconds.  Of the thread,
 * not of the process.  If it is refused, it competes with the readers' programs. */
static void become_idle(void)
{
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), 19);
	(void)sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){ 0 });
}

/* With the lock, which is dropped meanwhile. */
static void give_room_back(struct coder *c)
{
	struct recode_room *room = c->room;

	c->room = NULL;
	dl_lock_drop(&c->recoding->lock);
	recode_room_free(room);
	dl_lock_take(&c->recoding->lock);
}

/* With the lock, which is dropped meanwhile.  A reader who waits in turn for memory is heard in
 * time even if the threads of least priority come no further, and so nothing is asked for below. */
static void rest(struct coder *c)
{
	struct recoding *rc = c->recoding;
	uint64_t overdue = rc->waiting.overdue_at;

	if (c->idle)
		dl_cond_wait(&rc->queued, &rc->lock);
	else if (!dl_cond_wait_until(&rc->urgent, &rc->lock, overdue ? overdue : UINT64_MAX)) {
		dl_lock_drop(&rc->lock);
		ask_below(rc);
		dl_lock_take(&rc->lock);
	}
}

static void *coder_main(void *arg)
{
	struct coder *c = arg;
	struct recoding *rc = c->recoding;

	if (c->idle)
		become_idle();
	DL_HOLD(&rc->lock);
	while (!rc->stopping) {
		if (work_on(c))
			continue;
		if (c->room)
			give_room_back(c);
		else
			rest(c);
	}
	end_waiting(rc, &rc->queue);
	end_waiting(rc, &rc->large);
	end_waiting(rc, &rc->waiting);
	if (c->room)
		give_room_back(c);
	return NULL;
}

static int start_coder(struct recoding *rc, bool idle)
{
	struct coder *c = &rc->coders[rc->coder_count];
	int r;

	*c = (struct coder){ .recoding = rc, .idle = idle };
	r = -pthread_create(&c->thread, NULL, coder_main, c);
	rc->coder_count += r == 0;
	return r;
}

int coders_start(struct recoding *rc, unsigned each)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < 2 * each; i++)
		r = start_coder(rc, i < each);
	return r;
}

void coders_join(struct recoding *rc)
{
	for (unsigned i = 0; i < rc->coder_count; i++)
		pthread_join(rc->coders[i].thread, NULL);
}
