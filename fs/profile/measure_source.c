/* How fast the source is with so many fetches at once. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/lock.h"
#include "fs/profile/measure.h"

#define LONG_ENOUGH (CLOCK_S * 3 / 2)
#define FETCHES 1024                   /* of one run, at most */

struct landed { uint64_t began, ended, bytes; };

struct run {
	struct dl_lock lock;
	pthread_cond_t changed;
	unsigned flying;
	size_t count;
	int error;
	struct landed landed[FETCHES]; /* in the order in which they ended */
};

struct probe {
	struct fetch fetch;
	struct run *run;
	uint64_t began;
};

static void land(struct fetch *f)
{
	struct probe *probe = dl_container_of(f, struct probe, fetch);
	struct run *run = probe->run;

	{
		DL_HOLD(&run->lock);
		if (f->result < 0 && f->result != -ENOENT && f->result != -ESTALE)
			run->error = f->result;
		if (f->result == 0)
			run->landed[run->count++] = (struct landed){ probe->began, clock_now(),
								     f->len };
		run->flying--;
		pthread_cond_signal(&run->changed);
	}
	buf_free(&f->bytes);
	free(probe);
}

static int launch(const struct measure *m, struct run *run, sample_id id)
{
	struct probe *probe;
	uint64_t size;
	int r;

	if (!manifest_sample(m->manifest, id, &size) || size == 0)
		return 0;
	probe = calloc(1, sizeof(*probe));
	if (!probe)
		return -ENOMEM;
	probe->run = run;
	probe->fetch = (struct fetch){ .id = id, .len = DL_MIN(size, MEASURE_WHOLE), .due = 1,
				       .done = land };
	{
		DL_HOLD(&run->lock);
		run->flying++;
	}
	probe->began = clock_now();
	r = source_submit(m->source, &probe->fetch);
	if (r < 0) {
		probe->fetch.result = r;
		land(&probe->fetch);
	}
	return r;
}

static size_t await(struct run *run, unsigned flying)
{
	DL_HOLD(&run->lock);
	while (run->flying > flying)
		dl_cond_wait(&run->changed, &run->lock);
	return run->count;
}

/* Keep `parallel` of them in the air.  Returns how many had landed when the last one started:
 * after that there are fewer at once.  */
static size_t fly(const struct measure *m, struct run *run, unsigned parallel,
		  const sample_id *ids, size_t count)
{
	uint64_t end = clock_now() + LONG_ENOUGH;
	size_t landed = 0;

	for (size_t i = 0; i < count && clock_now() < end; i++) {
		landed = await(run, parallel - 1);
		if (launch(m, run, ids[i]) < 0)
			break;
	}
	await(run, 0);
	return landed;
}

static int by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void take_latency(const struct run *run, struct profile_speed *ret)
{
	double took[FETCHES];

	for (size_t i = 0; i < run->count; i++)
		took[i] = (double)(run->landed[i].ended - run->landed[i].began) / CLOCK_S;
	qsort(took, run->count, sizeof(took[0]), by_time);
	ret->median = took[run->count / 2];
	ret->slow = took[run->count - 1 - run->count / 100];
}

/* From when `from` of them had landed (all are in the air by then) until `to`. */
static void take_speed(const struct run *run, size_t from, size_t to, struct profile_speed *ret)
{
	uint64_t begin = from ? run->landed[from - 1].ended : run->landed[0].began, bytes = 0;
	double seconds;

	for (size_t i = from; i < to; i++)
		bytes += run->landed[i].bytes;
	seconds = (double)(run->landed[to - 1].ended - begin) / CLOCK_S;
	seconds = DL_MAX(seconds, 1e-9);
	ret->files_s = (double)(to - from) / seconds;
	ret->bytes_s = (double)bytes / seconds;
}

/* Of all threads: those of the source work as well. */
static double process_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / CLOCK_S;
}

/* Take it out of the page cache of the source, so that the next read is a real one. */
static void cool(const struct measure *m, sample_id id)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
	dl_cleanup(dl_closep) int fd = -1;

	if (manifest_path(m->manifest, node_of_sample(id), &path) < 0)
		return;
	fd = openat(manifest_root_fd(m->manifest), (char *)path.at,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

static int measure_speed(const struct measure *m, unsigned parallel, const sample_id *ids,
			 size_t count, struct profile_speed *ret)
{
	dl_cleanup(dl_freep) struct run *run = calloc(1, sizeof(*run));
	double began;
	size_t landed;
	int r;

	if (!run)
		return -ENOMEM;
	dl_lock_init(&run->lock);
	dl_cond_init(&run->changed);
	for (size_t i = 0; i < count; i++)
		cool(m, ids[i]);
	began = process_seconds();
	landed = fly(m, run, parallel, ids, count);
	r = run->count ? 0 : run->error ? run->error : -ENODATA;
	pthread_cond_destroy(&run->changed);
	dl_lock_fini(&run->lock);
	if (r < 0)
		return r;
	*ret = (struct profile_speed){
		.parallel = parallel, .fetches = run->count,
		.cpu = (process_seconds() - began) / (double)run->count,
	};
	take_latency(run, ret);
	if (landed > 2 * parallel)
		take_speed(run, parallel, landed, ret);
	else
		take_speed(run, 0, run->count, ret);
	return 0;
}

/* Each run has files of its own, as long as there are enough: what was read once is in caches
 * below us as well. */
int measure_source(const struct measure *m, struct profile *p)
{
	size_t own = DL_MAX(m->pool_size / PROFILE_SPEEDS, (size_t)1);
	size_t share = DL_MIN(own, (size_t)FETCHES);
	unsigned parallel = 1;
	char what[64];
	int r;

	for (unsigned i = 0; i < PROFILE_SPEEDS; i++, parallel *= 4) {
		snprintf(what, sizeof(what), "source, %u at once", parallel);
		r = measure_tell(m, what, i, PROFILE_SPEEDS);
		if (r == 0)
			r = measure_speed(m, parallel, m->pool + i * share % m->pool_size, share,
					  &p->speeds[i]);
		if (r < 0)
			return r;
		p->speed_count = i + 1;
	}
	return 0;
}

/* --- One file ------------------------------------------------------------------------- */

struct waiter {
	struct fetch fetch;
	struct dl_lock lock;
	pthread_cond_t changed;
	bool done;
};

static void wake(struct fetch *f)
{
	struct waiter *w = dl_container_of(f, struct waiter, fetch);

	DL_HOLD(&w->lock);
	w->done = true;
	pthread_cond_signal(&w->changed);
}

int measure_read(const struct measure *m, sample_id id, struct buf *ret)
{
	struct waiter w = { .fetch = { .id = id, .done = wake } };
	uint64_t size;
	int r;

	if (!manifest_sample(m->manifest, id, &size))
		return -ENOENT;
	if (size == 0)
		return 0;
	w.fetch.len = DL_MIN(size, MEASURE_WHOLE);
	dl_lock_init(&w.lock);
	dl_cond_init(&w.changed);
	r = source_submit(m->source, &w.fetch);
	dl_lock_take(&w.lock);
	while (r == 0 && !w.done)
		dl_cond_wait(&w.changed, &w.lock);
	dl_lock_drop(&w.lock);
	pthread_cond_destroy(&w.changed);
	dl_lock_fini(&w.lock);
	if (r == 0)
		r = w.fetch.result;
	if (r == 0)
		*ret = buf_take(&w.fetch.bytes);
	return r;
}
