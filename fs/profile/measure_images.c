/* What decoding and recoding cost, and what they give: the sample, once for each ratio. */
#include <math.h>
#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "base/lock.h"
#include "fs/profile/measure.h"
#include "fs/profile/picture.h"

#define HANDS_MAX 64
#define TELL_EVERY (CLOCK_S / 5)

struct work {
	const struct measure *m;
	struct profile *p;
	struct dl_lock lock;
	pthread_cond_t changed;
	unsigned next, done, hands;
	int error;                     /* the first one: all stop */
};

/* Of this thread: another one on the machine does not count. */
static double cpu_seconds(void)
{
	return (double)clock_cpu() / CLOCK_S;
}

static struct recode_want want_of(const struct work *k, unsigned way)
{
	const struct profile_way *w = &k->p->ways[way];

	return (struct recode_want){
		.quality_ratio = w->ratio,
		.max_short_side = w->whole ? 0 : k->m->options->max_short_side,
	};
}

/* -EINVAL: not an image that we can decode. */
static int time_decode(struct bytes file, struct picture *ret, double *ret_seconds)
{
	double begin = cpu_seconds();
	int r = picture_decode(file, 3, ret);

	if (r == 0)
		*ret_seconds = cpu_seconds() - begin;
	return r;
}

static double psnr_of(struct bytes source, struct bytes file)
{
	dl_cleanup(picture_fini) struct picture a = { 0 }, b = { 0 };

	if (picture_decode(source, 1, &a) < 0 || picture_decode(file, 1, &b) < 0)
		return 0;
	return a.width == b.width && a.height == b.height ? picture_psnr(&a, &b) : 0;
}

static int show(struct work *k, unsigned way, unsigned image, const struct picture *pixels)
{
	int r;

	if (image >= PROFILE_SHOWN)
		return 0;
	r = picture_crop(pixels, PROFILE_CROP, &k->p->ways[way].crops[image].png);
	return r == -EINVAL ? 0 : r;
}

static int try_way(struct work *k, unsigned way, unsigned image, struct bytes source,
		   struct recode_room *room)
{
	struct profile_image *i = &k->p->ways[way].images[image];
	dl_cleanup(picture_fini) struct picture pixels = { 0 };
	struct recode_want want = want_of(k, way);
	struct bytes served = source;
	struct recoded out = { 0 };
	double begin = cpu_seconds();
	int r;

	i->reason = recode_in(room, &want, source.at, source.len, &out);
	i->recode = cpu_seconds() - begin;
	i->ssim = 1;
	if (i->reason == RECODE_DONE) {
		served = (struct bytes){ out.data, out.size };
		i->ssim = out.ssim;
		i->psnr = psnr_of(source, served);
	}
	i->size = served.len;
	r = time_decode(served, &pixels, &i->decode);
	if (r == 0)
		r = show(k, way, image, &pixels);
	free(out.data);
	return r == -EINVAL ? 0 : r;
}

static int try_image(struct work *k, unsigned image, struct recode_room *room)
{
	dl_cleanup(buf_free) struct buf file = BUF_EMPTY;
	int r = measure_read(k->m, k->p->ids[image], &file);

	for (unsigned way = 0; r == 0 && way < k->p->way_count; way++)
		r = try_way(k, way, image, (struct bytes){ file.at, file.len }, room);
	return r;
}

static void *hand(void *context)
{
	struct recode_room *room = recode_room_new(RECODE_KEPT);       /* as coders have one */
	struct work *k = context;

	dl_lock_take(&k->lock);
	if (!room)
		k->error = -ENOMEM;
	while (k->error == 0 && k->next < k->p->sample) {
		unsigned image = k->next++;
		int r;

		dl_lock_drop(&k->lock);
		r = try_image(k, image, room);
		dl_lock_take(&k->lock);
		k->done++;
		if (r < 0)
			k->error = r;
	}
	k->hands--;
	pthread_cond_signal(&k->changed);
	dl_lock_drop(&k->lock);
	recode_room_free(room);
	return NULL;
}

/* Until all hands are done. */
static void watch(struct work *k)
{
	unsigned done;
	int r;

	dl_lock_take(&k->lock);
	while (k->hands > 0) {
		dl_cond_wait_until(&k->changed, &k->lock, clock_now() + TELL_EVERY);
		done = k->done;
		dl_lock_drop(&k->lock);
		r = measure_tell(k->m, "images", done, k->p->sample);
		dl_lock_take(&k->lock);
		if (r < 0 && k->error == 0)
			k->error = r;
	}
	dl_lock_drop(&k->lock);
}

static int try_all(struct work *k)
{
	unsigned hands = (unsigned)DL_MIN(k->p->cores, (double)HANDS_MAX);
	pthread_t threads[HANDS_MAX];
	unsigned started = 0;
	int r = 0;

	k->hands = hands;
	while (started < hands && r == 0) {
		r = pthread_create(&threads[started], NULL, hand, k);
		started += r == 0;
	}
	dl_lock_take(&k->lock);
	k->hands -= hands - started;
	dl_lock_drop(&k->lock);
	if (started == 0)
		return -r;
	watch(k);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	return k->error;
}

struct sized { uint64_t size; const struct profile_image *image; };

static int by_size(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;

	return (x->size > y->size) - (x->size < y->size);
}

/* Two standard errors of means over one file of each part of a list in the order of sizes, from
 * the differences of neighbours (Cochran, Sampling Techniques, 1977, section 5A.12).  None is left
 * where the sample is all there is. */
static int take_errors(const struct profile *p, struct profile_way *w)
{
	dl_cleanup(dl_freep) struct sized *sorted = calloc(p->sample, sizeof(*sorted));
	double decode = 0, recode = 0, pairs = p->sample - 1;
	double left = p->sample < p->files ? 1 - (double)p->sample / (double)p->files : 0;

	if (!sorted)
		return -ENOMEM;
	for (unsigned i = 0; i < p->sample; i++)
		sorted[i] = (struct sized){ p->sizes[i], &w->images[i] };
	qsort(sorted, p->sample, sizeof(*sorted), by_size);
	for (unsigned i = 1; i < p->sample; i++) {
		const struct profile_image *a = sorted[i - 1].image, *b = sorted[i].image;

		decode += (a->decode - b->decode) * (a->decode - b->decode);
		recode += (a->recode - b->recode) * (a->recode - b->recode);
	}
	if (pairs > 0) {
		w->decode_error = 2 * sqrt(left * decode / 2 / pairs / p->sample);
		w->recode_error = 2 * sqrt(left * recode / 2 / pairs / p->sample);
	}
	return 0;
}

static void sum_up(const struct profile *p, struct profile_way *w)
{
	bool scaled = false;           /* such an image has no PSNR, and what the others have is
					* not that of the sample */

	w->ssim_least = 1;
	for (unsigned i = 0; i < p->sample; i++) {
		const struct profile_image *image = &w->images[i];

		w->size += (double)image->size / p->sample;
		w->decode += image->decode / p->sample;
		w->recode += image->recode / p->sample;
		if (image->reason != RECODE_DONE)
			continue;
		w->recoded++;
		w->ssim += image->ssim;
		w->psnr += image->psnr;
		scaled |= image->psnr == 0;
		w->ssim_least = DL_MIN(w->ssim_least, image->ssim);
	}
	if (w->recoded) {
		w->ssim /= w->recoded;
		w->psnr = scaled ? 0 : w->psnr / w->recoded;
	}
}

int measure_images(const struct measure *m, struct profile *p)
{
	unsigned whole = m->options->max_short_side ? 1 : 0;
	struct work k = { .m = m, .p = p };
	int r;

	for (unsigned way = 0; way < m->options->ratio_count + whole; way++) {
		p->ways[way].whole = way < whole;
		p->ways[way].ratio = way < whole ? 1 : m->options->ratios[way - whole];
		p->ways[way].images = calloc(p->sample, sizeof(struct profile_image));
		if (!p->ways[way].images)
			return -ENOMEM;
		p->way_count = way + 1;
	}
	dl_lock_init(&k.lock);
	dl_cond_init(&k.changed);
	r = try_all(&k);
	pthread_cond_destroy(&k.changed);
	dl_lock_fini(&k.lock);
	for (unsigned way = 0; r == 0 && way < p->way_count; way++) {
		sum_up(p, &p->ways[way]);
		r = take_errors(p, &p->ways[way]);
	}
	for (unsigned i = 0; r == 0 && i < p->sample; i++)
		p->decoded += p->ways[0].images[i].decode > 0;
	return r;
}
