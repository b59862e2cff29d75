/* Samples that are kept on a local disk, in front of a source that is slower.
 *
 * What is there is read from there, by threads of this layer; what the disk cannot give after all
 * comes from below, and what comes from below is kept.  A large sample comes in parts, each of
 * which is kept by itself, for all that ask for just the same.
 *
 * The disk is a local one: of what hangs there no fetch is given up.
 *
 * While the manifest may be an old one, or knows a newer version than that which is asked for (the
 * reader opened it before), the source is asked first whether it is still the right one, by a fetch
 * of no bytes.
 *
 * A file that has just changed may change again without a trace, within one tick of the clock that
 * its times come from.  So it is not kept before that tick is surely over.
 */
#include "base/clock.h"
#include "base/lock.h"
#include "base/sum.h"
#include "prefetch/source/kept_key.h"
#include "prefetch/source/layer.h"
#include "prefetch/source/meter.h"
#include "prefetch/source/queue.h"
#include "prefetch/source/served.h"
#include "prefetch/store/disk.h"

#define THREADS 4u

struct kept_fetch {
	struct layer_fetch layer;
	struct kept *kept;
	struct disk_key key;
	struct disk_identity identity;
	int64_t asked;                 /* clock_wall() */
};

struct kept_thread {
	struct kept *kept;
	pthread_t thread;
	sample_id id;                  /* what it has in hand, or SAMPLE_NONE; under the lock */
	uint64_t offset, len;
	bool hurried;                  /* meanwhile; under the lock */
};

struct kept {
	struct source source;
	struct disk *disk;
	struct meter *meter;
	const _Atomic bool *current;
	struct served *served;
	int64_t settle_ns;
	struct dl_lock lock;
	pthread_cond_t changed;
	struct queue queue;
	struct kept_thread threads[THREADS];
	unsigned thread_count;
	bool stopping;
};

/* --- From below --------------------------------------------------------------------------- */

/* Some sources have no ctime. */
static bool is_settled(const struct kept_fetch *kf)
{
	const struct disk_identity *id = &kf->identity;
	int64_t changed = id->ctime_ns ? id->ctime_ns : id->mtime_ns;

	return kf->asked - kf->kept->settle_ns >= changed;
}

/* On a thread of the source below. */
static void on_inner(struct fetch *inner)
{
	struct kept_fetch *kf = dl_container_of(inner, struct kept_fetch, layer.inner);
	struct fetch *outer = kf->layer.outer;
	int result = layer_fetch_move(&kf->layer);

	meter_ended(kf->kept->meter, result == 0 ? outer->bytes.len : 0);
	if (result == 0 && is_settled(kf))
		outer->stored = disk_put(kf->kept->disk, &kf->key, &kf->identity,
					 (struct bytes){ outer->bytes.at, outer->bytes.len });
	free(kf);
	layer_done(outer, result);
}

/* On failure kf is gone, and the fetch not taken. */
static int submit_below(struct kept_fetch *kf)
{
	int r = source_submit(kf->kept->source.next, &kf->layer.inner);

	if (r < 0)
		free(kf);
	return r;
}

static int ask_below(struct kept_fetch *kf, struct fetch *f)
{
	struct meter *meter = kf->kept->meter;
	int r;

	layer_fetch_init(&kf->layer, f, on_inner);
	meter_began(meter);
	r = submit_below(kf);
	if (r < 0)
		meter_ended(meter, 0);
	return r;
}

/* --- From the disk ------------------------------------------------------------------------ */

/* Is that what is served of it?  The disk may know what the table does not any more. */
static int check_served(struct kept *k, const struct fetch *f, size_t len)
{
	struct recoded coded = { .size = len };
	struct served_file file;

	if (!served_wants(k->served, f->id))
		return len == f->len ? 0 : -EIO;
	if (served_ask(k->served, f->id, &file) < 0)
		return -EIO;
	if (file.state == SERVED_UNKNOWN)      /* as it is, or not?  That must be tried. */
		return len != f->len ? served_tell(k->served, f->id, RECODE_DONE, &coded) : -EIO;
	return len == file.size ? 0 : -EIO;
}

static int get(struct kept_fetch *kf, struct fetch *f)
{
	struct kept *k = kf->kept;
	dl_cleanup(buf_free) struct buf bytes = BUF_EMPTY;
	int r = disk_get(k->disk, &kf->key, &kf->identity, &bytes);

	if (r == 0)
		r = check_served(k, f, bytes.len);
	if (r < 0)
		return r;
	f->len = bytes.len;
	f->bytes = buf_take(&bytes);
	return 0;
}

/* True: the disk has given it.  False: somebody else has it now. */
static bool serve(struct fetch *f, bool stopping)
{
	struct kept_fetch *kf = dl_container_of(f->own_, struct kept_fetch, layer);
	int r = stopping ? -ESHUTDOWN : get(kf, f);

	if (r == 0 || stopping) {
		f->kept = f->stored = r == 0;
		free(kf);
		layer_done(f, r);
		return true;
	}
	r = ask_below(kf, f);
	if (r < 0)
		layer_done(f, r);
	return false;
}

/* With the lock, which is dropped meanwhile.  A reader that came while the disk was asked is told
 * to the source below once that has the fetch. */
static void take(struct kept_thread *t, struct fetch *f)
{
	struct kept *k = t->kept;
	bool served, stopping = k->stopping;
	sample_id id = f->id;

	t->id = id;
	t->offset = f->offset;
	t->len = f->len;
	t->hurried = false;
	dl_lock_drop(&k->lock);
	served = serve(f, stopping);
	dl_lock_take(&k->lock);
	t->id = SAMPLE_NONE;
	if (served || !t->hurried)
		return;
	dl_lock_drop(&k->lock);
	source_hurry(k->source.next, id, t->offset);
	dl_lock_take(&k->lock);
}

static void *run(void *arg)
{
	struct kept_thread *t = arg;
	struct kept *k = t->kept;
	struct fetch *f;

	DL_HOLD(&k->lock);
	for (;;) {
		f = queue_pop(&k->queue, clock_now());
		if (f)
			take(t, f);
		else if (k->stopping)
			return NULL;
		else
			dl_cond_wait(&k->changed, &k->lock);
	}
}

static int ask_disk(struct kept_fetch *kf, struct fetch *f)
{
	struct kept *k = kf->kept;
	int r = -ESHUTDOWN;

	f->own_ = &kf->layer;
	dl_lock_take(&k->lock);
	if (!k->stopping)
		r = queue_push(&k->queue, f);
	if (r == 0)
		pthread_cond_signal(&k->changed);
	dl_lock_drop(&k->lock);
	if (r < 0)
		free(kf);
	return r;
}

/* On a thread of the source below. */
static void on_version(struct fetch *inner)
{
	struct kept_fetch *kf = dl_container_of(inner, struct kept_fetch, layer.inner);
	struct fetch *outer = kf->layer.outer;
	int r = inner->result;

	if (inner->hurried_)
		outer->due = 0;
	if (r < 0)
		free(kf);
	else
		r = ask_disk(kf, outer);
	if (r < 0)
		layer_done(outer, r);
}

static int ask_version(struct kept_fetch *kf, struct fetch *f)
{
	layer_fetch_init(&kf->layer, f, on_version);
	kf->layer.inner.len = 0;
	kf->layer.inner.whole = false;
	return submit_below(kf);
}

/* --- The layer ---------------------------------------------------------------------------- */

static uint64_t part_of(const struct fetch *f, const struct attr *a)
{
	const uint64_t part[2] = { f->offset, f->len };

	return f->len == a->size ? 0 : sum_of(part, sizeof(part), 0);
}

/* NULL: no memory, or this is none for the disk. */
static struct kept_fetch *new_fetch(struct kept *k, const struct fetch *f)
{
	dl_cleanup(dl_freep) struct kept_fetch *kf = NULL;
	struct attr a;

	if (f->len == 0 || manifest_attr(k->source.manifest, node_of_sample(f->id), &a) < 0 ||
	    (!f->whole && served_wants(k->served, f->id)))
		return NULL;
	kf = calloc(1, sizeof(*kf));
	if (!kf || kept_key(k->source.manifest, f->id, &kf->key) < 0)
		return NULL;
	kf->kept = k;
	kf->key.part = part_of(f, &a);
	kf->identity = kept_identity(k->served, f->id, &a);
	kf->asked = clock_wall();
	return DL_TAKE(kf);
}

/* In this order: once it is current, all that had changed by then has a newer version. */
static bool is_trusted(const struct kept *k, sample_id id)
{
	return *k->current && manifest_is_newest(k->source.manifest, id);
}

static int kept_submit(struct source *s, struct fetch *f)
{
	struct kept *k = dl_container_of(s, struct kept, source);
	struct kept_fetch *kf = new_fetch(k, f);

	if (!kf)
		return source_submit(s->next, f);
	if (!disk_has(k->disk, &kf->key, &kf->identity))
		return ask_below(kf, f);
	return is_trusted(k, f->id) ? ask_disk(kf, f) : ask_version(kf, f);
}

static void kept_hurry(struct source *s, sample_id id, uint64_t offset)
{
	struct kept *k = dl_container_of(s, struct kept, source);

	DL_HOLD(&k->lock);
	queue_hurry(&k->queue, id, offset, clock_now());
	for (unsigned i = 0; i < k->thread_count; i++) {
		struct kept_thread *t = &k->threads[i];

		t->hurried |= t->id == id && offset >= t->offset && offset - t->offset < t->len;
	}
}

static unsigned kept_depth(const struct source *s)
{
	return source_depth(s->next) + THREADS;
}

static void kept_stop(struct source *s)
{
	struct kept *k = dl_container_of(s, struct kept, source);

	dl_lock_take(&k->lock);
	k->stopping = true;
	pthread_cond_broadcast(&k->changed);
	dl_lock_drop(&k->lock);
	for (unsigned i = 0; i < k->thread_count; i++)
		pthread_join(k->threads[i].thread, NULL);
}

static void kept_close(struct source *s)
{
	struct kept *k = dl_container_of(s, struct kept, source);

	queue_fini(&k->queue);
	pthread_cond_destroy(&k->changed);
	dl_lock_fini(&k->lock);
}

static int kept_open(struct source *s)
{
	struct kept *k = dl_container_of(s, struct kept, source);
	int r = 0;

	k->disk = s->options->disk;
	k->meter = s->options->meter;
	k->current = s->options->current;
	k->served = s->options->served;
	k->settle_ns = (int64_t)s->options->settle;
	dl_lock_init(&k->lock);
	dl_cond_init(&k->changed);
	while (r == 0 && k->thread_count < THREADS) {
		struct kept_thread *t = &k->threads[k->thread_count];

		*t = (struct kept_thread){ .kept = k, .id = SAMPLE_NONE };
		r = -pthread_create(&t->thread, NULL, run, t);
		k->thread_count += r == 0;
	}
	if (r < 0) {
		kept_stop(s);
		kept_close(s);
	}
	return r;
}

const struct source_ops source_kept = {
	.name = "kept",
	.size = sizeof(struct kept),
	.open = kept_open,
	.submit = kept_submit,
	.hurry = kept_hurry,
	.depth = kept_depth,
	.stop = kept_stop,
	.close = kept_close,
};
