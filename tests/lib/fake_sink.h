/* A sink that the test drives: it keeps the jobs that it got, in that order, and each is finished
 * when and how the test says.
 *
 * Thread-safety: every call on any thread, except init and fini.
 */
#pragma once
#include "base/lock.h"
#include "prefetch/engine.h"

#define FAKE_JOBS 1024u

struct fake_job {
	sample_id id;
	bool drop;
	int result;                    /* as it was finished */
	struct sink_job *out;          /* NULL: finished */
};

struct fake_sink {
	struct sink sink;
	struct dl_lock lock;           /* guards everything below */
	struct fake_job jobs[FAKE_JOBS];
	unsigned count;
};

static inline void fake_sink_take(struct sink *s, struct sink_job *j)
{
	struct fake_sink *k = dl_container_of(s, struct fake_sink, sink);

	DL_HOLD(&k->lock);
	assert(k->count < FAKE_JOBS);
	k->jobs[k->count++] = (struct fake_job){ .id = j->id, .drop = !j->entry, .out = j };
}

static inline void fake_sink_init(struct fake_sink *k)
{
	*k = (struct fake_sink){ .sink = { .push = fake_sink_take, .drop = fake_sink_take } };
	dl_lock_init(&k->lock);
}

static inline void fake_sink_fini(struct fake_sink *k)
{
	dl_lock_fini(&k->lock);
}

static inline unsigned fake_sink_count(struct fake_sink *k)
{
	DL_HOLD(&k->lock);
	return k->count;
}

static inline struct fake_job fake_sink_at(struct fake_sink *k, unsigned i)
{
	DL_HOLD(&k->lock);
	assert(i < k->count);
	return k->jobs[i];
}

static inline void fake_sink_end(struct fake_sink *k, unsigned i, int result)
{
	struct sink_job *out;

	{
		DL_HOLD(&k->lock);
		assert(i < k->count && k->jobs[i].out);
		out = DL_TAKE(k->jobs[i].out);
		k->jobs[i].result = result;
	}
	out->result = result;
	out->finished(out);
}

/* All that are out end well, in their order. */
static inline void fake_sink_end_all(struct fake_sink *k)
{
	for (unsigned i = 0; i < fake_sink_count(k); i++)
		if (fake_sink_at(k, i).out)
			fake_sink_end(k, i, 0);
}
