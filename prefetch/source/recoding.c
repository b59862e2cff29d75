/* Images that are coded anew on their way from the source.
 *
 * A whole sample that may be coded comes from below as it is, waits here, and is coded by threads
 * of this layer; what came of it is told to the table of what is served, which hands its size out.
 * Two kinds of threads: those for what nobody waits for yet have the least priority, so that they
 * run in the time that nobody else wants; the others take only what a reader waits for.
 *
 * A reader may come for what an idle thread has in hand, and its priority cannot be raised without
 * a privilege: then another thread codes the same once more, and the first that is ready delivers.
 * Both make the same of it.
 *
 * The memory for all that is bounded by served_room(), and is divided into three: what the threads
 * work in, what they keep from one image to the next, and the bytes of the source that wait for
 * them.  The plan does not know of the latter: it thinks a sample has the size that is served.
 */
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/lock.h"
#include "prefetch/source/coding.h"
#include "prefetch/source/layer.h"
#include "prefetch/source/queue.h"
#include "prefetch/source/ration.h"
#include "prefetch/source/served.h"

#define THREADS_MAX 64u

struct task {
	struct layer_fetch layer;      /* its inner bytes are the source's, until the task ends */
	struct recoding *recoding;
	uint64_t size;                 /* of the source's bytes */
	unsigned users;                /* threads that have it; under the lock, like what follows */
	bool delivered;
	bool again;                    /* a reader waits: it should be coded by one more */
	bool hurried;                  /* a reader came before its bytes did */
	struct task *next;             /* of those that are asked for below */
};

struct coder {                         /* a thread */
	struct recoding *recoding;
	pthread_t thread;
	bool idle;                     /* of the first kind */
	struct task *task;             /* in hand, or NULL */
	struct recode_room *room;      /* while there is something to do; its own */
};

struct recoding {
	struct source source;
	struct served *served;
	struct dl_lock lock;
	struct recode_want want;       /* with what one image may take of the memory */
	size_t kept;                   /* of it, by each thread */
	struct ration work;
	uint64_t source_bytes, source_most;    /* of tasks that were asked for below */
	pthread_cond_t queued, urgent;
	struct queue waiting;          /* for source_bytes; outer fetches, own_: a task's layer */
	struct task *below;            /* asked for there, in no order */
	struct queue queue;            /* as waiting; their source is here */
	struct coder coders[2 * THREADS_MAX];
	unsigned coder_count;
	bool stopping;
};

/* --- Coding ------------------------------------------------------------------------------- */

static struct task *task_of(struct fetch *f)
{
	return f ? dl_container_of(f->own_, struct task, layer) : NULL;
}

/* With the lock.  At least one: it is no larger than the reserve (engine.c), which is less than
 * its share of the memory.
 */
static struct task *next_admitted(struct recoding *rc)
{
	struct task *t = rc->waiting.count ? task_of(rc->waiting.heap[0]) : NULL;

	if (!t || rc->stopping ||
	    (rc->source_bytes > 0 && rc->source_bytes + t->size > rc->source_most))
		return NULL;
	rc->source_bytes += t->size;
	(void)queue_pop(&rc->waiting, clock_now());
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

static void task_free(struct task *t)
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

/* Ask below for what there is room for.  A reader who comes before a task is in the queue there is
 * not heard there. */
static void ask_below(struct recoding *rc)
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

/* With the lock, which is dropped meanwhile. */
static void run_task(struct coder *c, struct task *t)
{
	struct recoding *rc = c->recoding;
	struct bytes source = { t->layer.inner.bytes.at, t->layer.inner.bytes.len };
	struct buf bytes;
	struct fetch *outer = t->layer.outer;  /* t goes when the last of its users does */
	struct recode_need need;
	bool may_decode, first, last;
	int r;

	c->task = t;
	t->users++;
	dl_lock_drop(&rc->lock);
	need = recode_need(&rc->want, source.at, source.len);
	may_decode = need.decoding <= rc->work.most;
	need.decoding = DL_MIN(need.decoding, rc->work.most);
	need.coding = DL_MAX(need.coding, need.decoding);
	c->room = c->room ? c->room : recode_room_new(rc->kept);
	dl_lock_take(&rc->lock);
	ration_take(&rc->work, &rc->lock, need.coding);
	dl_lock_drop(&rc->lock);
	r = code_image(&(struct coding){ rc->served, &rc->want, c->room, may_decode },
		       t->layer.inner.id, source, &bytes);
	dl_lock_take(&rc->lock);
	ration_give(&rc->work, need.coding);
	c->task = NULL;
	first = !t->delivered;
	t->delivered = true;
	last = --t->users == 0;
	dl_lock_drop(&rc->lock);
	if (first) {
		outer->len = r == 0 ? bytes.len : outer->len;
		outer->bytes = bytes;
		layer_done(outer, r);
	} else {
		buf_free(&bytes);
	}
	if (last) {
		task_free(t);
		ask_below(rc);
	}
	dl_lock_take(&rc->lock);
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

static struct task *next_task(struct coder *c)
{
	struct recoding *rc = c->recoding;

	if (c->idle)
		return task_of(queue_pop(&rc->queue, clock_now()));
	if (rc->queue.count > 0 && rc->queue.heap[0]->due == 0)
		return task_of(queue_pop(&rc->queue, clock_now()));
	return next_again(rc);
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

static void *coder_main(void *arg)
{
	struct coder *c = arg;
	struct recoding *rc = c->recoding;

	if (c->idle)
		become_idle();
	DL_HOLD(&rc->lock);
	while (!rc->stopping) {
		struct task *t = next_task(c);

		if (t)
			run_task(c, t);
		else if (c->room)
			give_room_back(c);
		else
			dl_cond_wait(c->idle ? &rc->queued : &rc->urgent, &rc->lock);
	}
	end_waiting(rc, &rc->queue);
	end_waiting(rc, &rc->waiting);
	if (c->room)
		give_room_back(c);
	return NULL;
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
	if (r == 0)
		r = rc->stopping ? -ESHUTDOWN : queue_push(&rc->queue, f);
	if (r < 0)
		return r;
	pthread_cond_signal(&rc->queued);
	if (f->due == 0)
		pthread_cond_signal(&rc->urgent);
	return 0;
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
	int r = queue_task(t);

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
	if (r < 0)
		free(t);
	else
		ask_below(rc);
	return r;
}

static void recoding_hurry(struct source *s, sample_id id, uint64_t offset)
{
	struct recoding *rc = dl_container_of(s, struct recoding, source);

	DL_HOLD(&rc->lock);
	queue_hurry(&rc->waiting, id, offset, clock_now());
	queue_hurry(&rc->queue, id, offset, clock_now());
	(void)hurry_below(rc, id, true);
	for (unsigned i = 0; i < rc->coder_count; i++) {
		struct coder *c = &rc->coders[i];

		if (c->idle && c->task && c->task->layer.inner.id == id && c->task->users == 1)
			c->task->again = true;
	}
	pthread_cond_broadcast(&rc->urgent);
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
	for (unsigned i = 0; i < rc->coder_count; i++)
		pthread_join(rc->coders[i].thread, NULL);
}

static void recoding_close(struct source *s)
{
	struct recoding *rc = dl_container_of(s, struct recoding, source);

	queue_fini(&rc->waiting);
	queue_fini(&rc->queue);
	ration_fini(&rc->work);
	pthread_cond_destroy(&rc->queued);
	pthread_cond_destroy(&rc->urgent);
	dl_lock_fini(&rc->lock);
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
	int r = 0;

	rc->served = s->options->served;
	divide_room(rc, 2 * each);
	dl_lock_init(&rc->lock);
	dl_cond_init(&rc->queued);
	dl_cond_init(&rc->urgent);
	dl_lock_take(&rc->lock);       /* they look at each other */
	for (unsigned i = 0; r == 0 && i < 2 * each; i++)
		r = start_coder(rc, i < each);
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
