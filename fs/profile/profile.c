#include "fs/profile/profile.h"

#include <sched.h>

#include "base/random.h"
#include "fs/profile/measure.h"

#define POOL 4096                      /* files that the source is measured with */

int measure_tell(const struct measure *m, const char *what, uint64_t done, uint64_t all)
{
	if (m->options->progress)
		m->options->progress(m->options->context, what, done, all);
	return m->options->stop && *m->options->stop ? -ECANCELED : 0;
}

/* Reservoir sampling (Vitter's algorithm R), then a shuffle, since the reservoir is not in random
 * order.  The same sample each time. */
static int take_pool(const struct manifest *m, sample_id **ret, size_t *ret_size)
{
	dl_cleanup(dl_freep) sample_id *pool = malloc(POOL * sizeof(*pool));
	struct random random = { 0 };
	uint32_t count = 0, seen = 0;

	if (!pool)
		return -ENOMEM;
	for (sample_id id = 0; id < manifest_entries(m); id++) {
		uint64_t size;
		uint32_t place;

		if (!manifest_sample(m, id, &size) || size == 0)
			continue;
		seen++;
		place = count < POOL ? count++ : random_below(&random, seen);
		if (place < POOL)
			pool[place] = id;
	}
	if (count == 0)
		return -ENODATA;
	random_shuffle(&random, pool, count);
	*ret_size = count;
	*ret = DL_TAKE(pool);
	return 0;
}

static int take_sample(const struct measure *m, struct profile *p)
{
	unsigned count = (unsigned)DL_MIN((size_t)m->options->sample, m->pool_size);

	p->ids = calloc(count, sizeof(*p->ids));
	p->names = calloc(count, sizeof(*p->names));
	p->sizes = calloc(count, sizeof(*p->sizes));
	if (!p->ids || !p->names || !p->sizes)
		return -ENOMEM;
	p->sample = count;
	for (unsigned i = 0; i < count; i++) {
		struct buf path = BUF_EMPTY;
		int r = manifest_path(m->manifest, node_of_sample(m->pool[i]), &path);

		if (r == 0)
			r = buf_append(&path, "", 1);
		if (r < 0) {
			buf_free(&path);
			return r;
		}
		p->names[i] = (char *)path.at;
		p->ids[i] = m->pool[i];
		manifest_sample(m->manifest, m->pool[i], &p->sizes[i]);
		p->size += (double)p->sizes[i] / count;
	}
	return 0;
}

static double cores_here(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

static int measure_with(struct measure *m, struct profile *p)
{
	struct source_options options = { .manifest = m->manifest, .layers = m->options->layers };
	struct manifest_usage usage;
	int r = measure_tell(m, "list of files", 0, 0);

	if (r == 0)
		r = manifest_scan(m->manifest, MANIFEST_THREADS, m->options->stop);
	if (r < 0)
		return r;
	usage = manifest_usage(m->manifest);
	p->files = usage.files;
	p->bytes = usage.bytes;
	p->cores = cores_here();
	r = take_pool(m->manifest, (sample_id **)&m->pool, &m->pool_size);
	if (r == 0)
		r = take_sample(m, p);
	if (r == 0)
		r = source_open(&options, &m->source);
	if (r == 0)
		r = measure_source(m, p);
	return r < 0 ? r : measure_images(m, p);
}

int profile_measure(const struct profile_options *options, struct profile *ret)
{
	struct manifest_options mo = { .source = options->source };
	struct measure m = { .options = options };
	struct profile p = { 0 };
	int r = manifest_open(&mo, &m.manifest);

	if (r == 0)
		r = measure_with(&m, &p);
	source_close(m.source);
	manifest_close(m.manifest);
	free((sample_id *)m.pool);
	if (r < 0)
		profile_fini(&p);
	else
		*ret = p;
	return r;
}

void profile_fini(struct profile *p)
{
	for (unsigned i = 0; i < p->sample; i++)
		free(p->names[i]);
	for (unsigned way = 0; way < p->way_count; way++) {
		free(p->ways[way].images);
		for (unsigned i = 0; i < PROFILE_SHOWN; i++)
			buf_free(&p->ways[way].crops[i].png);
	}
	free(p->names);
	free(p->ids);
	free(p->sizes);
	*p = (struct profile){ 0 };
}

double profile_fetch_rate(const struct profile *p)
{
	double best = 0;

	for (unsigned i = 0; i < p->speed_count; i++)
		best = DL_MAX(best, p->speeds[i].files_s);
	return best;
}
