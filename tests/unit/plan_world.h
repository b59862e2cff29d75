/* What the tests of the plan share: a list without a manifest, orders, jobs.  For one file of a
 * program: it stands in for prefetch/manifest/list.c. */
#pragma once
#include <criterion/criterion.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "prefetch/manifest/list.h"
#include "prefetch/plan/plan.h"

#define SIZE 1000u
#define MAX 8000u

/* A list whose index is the sample's id: the plan asks for nothing else. */
struct list { unsigned refs; };
struct list *list_ref(struct list *l) { l->refs++; return l; }
void list_unref(struct list *l) { if (l) l->refs--; }
sample_id list_at(const struct list *l, uint32_t index) { (void)l; return index; }

static uint64_t sizes[MAX];

static inline bool size_of(const void *context, sample_id id, uint64_t *ret)
{
	(void)context;
	if (id >= MAX || sizes[id] == UINT64_MAX)
		return false;
	*ret = sizes[id];
	return true;
}

static struct random random_state;

static inline uint32_t rnd(uint32_t n)
{
	return random_below(&random_state, n);
}

static inline void setup(void)
{
	random_state = (struct random){ 7 };
	for (unsigned i = 0; i < MAX; i++)
		sizes[i] = SIZE;
}

static inline struct sequence *in_order(uint32_t n)
{
	struct sequence *s = sequence_new(n, n);

	cr_assert(s);
	for (uint32_t i = 0; i < n; i++)
		s->at[i] = i;
	return s;
}

static inline struct sequence *shuffled(uint32_t n)
{
	struct sequence *s = in_order(n);

	random_shuffle(&random_state, s->at, n);
	return s;
}

static inline struct plan *plan_of(uint64_t room, uint32_t lead, uint32_t depth, uint32_t n)
{
	struct plan_limits limits = {
		.room = room, .whole = 100 * SIZE, .lead = lead, .depth = depth,
	};
	struct plan_sizes how = { .size = size_of, .count = n };
	struct plan *p;

	cr_assert_eq(plan_new(&limits, &how, &p), 0);
	plan_grown(p, n, (uint64_t)n * SIZE);
	return p;
}

/* One job: a course, and the bitmap it stands on. */
struct job {
	struct list *list;
	struct course course;
	uint64_t opened[MAX / 64 + 2];
};

static inline void job_start(struct job *j, struct list *list, struct sequence *sequence,
			     uint32_t pid)
{
	*j = (struct job){ .list = list };
	j->course = (struct course){ .list = list, .sequence = sequence, .opened = j->opened,
				     .pid = pid };
}

static inline void job_open(struct job *j, uint32_t position)
{
	j->opened[position / 64] |= UINT64_C(1) << (position % 64);
	j->course.reach = DL_MAX(j->course.reach, position + 1);
	while (j->course.front < j->course.sequence->length &&
	       j->opened[j->course.front / 64] >> (j->course.front % 64) & 1)
		j->course.front++;
}

static inline void job_read(struct job *j, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		job_open(j, i);
}

static inline void job_roll(struct job *j, struct sequence *next)
{
	sequence_unref(j->course.sequence);
	j->course.sequence = j->course.next;
	j->course.next = next;
	j->course.front = j->course.reach = 0;
	memset(j->opened, 0, sizeof(j->opened));
}

static inline void job_end(struct job *j)
{
	sequence_unref(j->course.sequence);
	sequence_unref(j->course.next);
}

#define JOBS 4u

static inline void jobs_tell(struct plan *p, const struct job *jobs, size_t count, uint64_t now)
{
	struct course courses[JOBS];

	for (size_t i = 0; i < count; i++)
		courses[i] = jobs[i].course;
	plan_courses(p, courses, count, now);
}

/* The usual scene: a plan, and one job that reads a sequence. */
struct scene {
	struct list list;
	struct plan *p;
	struct job j;
};

/* Takes both; returns the plan. */
static inline struct plan *scene_start(struct scene *s, struct plan *p, struct sequence *sequence)
{
	*s = (struct scene){ .p = p };
	job_start(&s->j, &s->list, sequence, 1);
	return p;
}

static inline void scene_tell(struct scene *s, uint64_t now)
{
	jobs_tell(s->p, &s->j, 1, now);
}

static inline void scene_end(struct scene *s)
{
	plan_free(s->p);
	job_end(&s->j);
	cr_assert_eq(s->list.refs, 0, "the plan keeps a list");
}

static inline void check(struct plan *p)
{
	struct plan_report r = plan_report(p);

	cr_assert(plan_check(p));
	cr_assert_leq(r.held, r.room);
}

/* Carry out steps at once until there are none, noting the fetches. */
static inline unsigned run(struct plan *p, uint64_t now, sample_id *fetched, unsigned max)
{
	unsigned n = 0;

	for (unsigned guard = 0; guard < 20000; guard++) {
		struct plan_step s = plan_next(p, now);

		check(p);
		if (s.verb == PLAN_IDLE)
			return n;
		if (s.verb == PLAN_DROP) {
			plan_dropped(p, s.id);
			continue;
		}
		plan_fetched(p, s.id, 1000000);
		if (n < max)
			fetched[n] = s.id;
		n++;
	}
	cr_assert_fail("the plan never comes to rest");
	return n;
}
