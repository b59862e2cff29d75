#include "fs/profile/profile.h"

#include <sched.h>

#include "base/file.h"
#include "base/random.h"
#include "fs/profile/measure.h"

#define SAMPLE_BYTES (40 * MiB)
#define SAMPLE_LEAST UINT64_C(100)
#define SAMPLE_MOST UINT64_C(400)

int measure_tell(const struct measure *m, const char *what, uint64_t done, uint64_t all)
{
	if (m->options->progress)
		m->options->progress(m->options->context, what, done, all);
	return m->options->stop && *m->options->stop ? -ECANCELED : 0;
}

struct drawn { uint64_t key; uint32_t id; };

static int by_key(const void *a, const void *b)
{
	const struct drawn *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* All files that have content.  Numbers of entries depend on how the threads of the scan took
 * turns; inodes do not. */
static int draw_all(const struct manifest *m, struct drawn **ret, size_t *ret_count)
{
	uint32_t entries = manifest_entries(m);
	dl_cleanup(dl_freep) struct drawn *all = calloc(entries + UINT64_C(1), sizeof(*all));
	size_t count = 0;

	if (!all)
		return -ENOMEM;
	for (sample_id id = 0; id < entries; id++) {
		struct attr attr;
		uint64_t size;

		if (manifest_sample(m, id, &size) && size > 0 &&
		    manifest_attr(m, node_of_sample(id), &attr) == 0)
			all[count++] = (struct drawn){ random_mix(attr.ino + RANDOM_STEP), id };
	}
	*ret_count = count;
	*ret = DL_TAKE(all);
	return 0;
}

/* Why there is none. */
static int no_file(struct manifest *m)
{
	uint64_t folders = manifest_usage(m).folders;
	struct manifest_dirent d;

	for (node_id folder = NODE_ROOT; folder < NODE_ROOT + folders; folder++)
		if (manifest_next(m, folder, 0, &d) == -EACCES)
			return -EACCES;
	return -ENODATA;
}

/* The files with the least keys: a uniform sample in random order, and the same one each time. */
static int take_pool(struct manifest *m, sample_id **ret, size_t *ret_size)
{
	dl_cleanup(dl_freep) struct drawn *all = NULL;
	sample_id *pool;
	size_t count;
	int r = draw_all(m, &all, &count);

	if (r < 0)
		return r;
	if (count == 0)
		return no_file(m);
	qsort(all, count, sizeof(*all), by_key);
	count = DL_MIN(count, (size_t)PROFILE_POOL);
	pool = malloc(count * sizeof(*pool));
	if (!pool)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		pool[i] = all[i].id;
	*ret_size = count;
	*ret = pool;
	return 0;
}

/* One of each part of the pool, which is in the order of sizes for that: what an image costs goes
 * by its size, so such a sample is nearer to the whole than any files (stratified sampling). */
static int pick(const struct measure *m, sample_id *ids, uint32_t count)
{
	dl_cleanup(dl_freep) struct drawn *sized = calloc(m->pool_size, sizeof(*sized));
	struct random random = { 0 };

	if (!sized)
		return -ENOMEM;
	for (size_t i = 0; i < m->pool_size; i++) {
		sized[i].id = (uint32_t)i;            /* equal ones stay in their order */
		manifest_sample(m->manifest, m->pool[i], &sized[i].key);
	}
	qsort(sized, m->pool_size, sizeof(*sized), by_key);
	for (uint32_t i = 0; i < count; i++) {
		size_t from = m->pool_size * i / count, to = m->pool_size * (i + 1) / count;

		ids[i] = m->pool[sized[from + random_below(&random, (uint32_t)(to - from))].id];
	}
	random_shuffle(&random, ids, count);
	return 0;
}

/* As many as are measured in some seconds, large or small. */
static unsigned usual_sample(const struct profile *p)
{
	uint64_t mean = p->bytes / p->files + 1, fit = DL_MIN(SAMPLE_BYTES / mean, SAMPLE_MOST);

	return (unsigned)DL_MAX(fit, SAMPLE_LEAST);
}

static int take_sample(const struct measure *m, struct profile *p)
{
	unsigned wanted = m->options->sample ? m->options->sample : usual_sample(p);
	unsigned count = (unsigned)DL_MIN((size_t)wanted, m->pool_size);
	int r;

	p->ids = calloc(count, sizeof(*p->ids));
	p->names = calloc(count, sizeof(*p->names));
	p->sizes = calloc(count, sizeof(*p->sizes));
	if (!p->ids || !p->names || !p->sizes)
		return -ENOMEM;
	p->sample = count;
	r = pick(m, p->ids, count);
	for (unsigned i = 0; r == 0 && i < count; i++) {
		struct buf path = BUF_EMPTY;

		r = manifest_path(m->manifest, node_of_sample(p->ids[i]), &path);
		if (r < 0) {
			buf_free(&path);
			return r;
		}
		p->names[i] = (char *)path.at;
		manifest_sample(m->manifest, p->ids[i], &p->sizes[i]);
		p->size += (double)p->sizes[i] / count;
	}
	return r;
}

static double cores_here(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* As sched(7) has it. */
static bool has_autogroup(void)
{
	static const char at[] = "/proc/sys/kernel/sched_autogroup_enabled";
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;

	return file_read(at, 16, &text) == 0 && text.len > 0 && text.at[0] == '1';
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
	p->apart = has_autogroup();
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
