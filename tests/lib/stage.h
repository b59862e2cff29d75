/* A stage for the tracker: simulated DataLoaders, and a list that is a double (consecutive
 * ids).  For one test program only: it defines what the list library would.
 */
#pragma once
#include <criterion/criterion.h>
#include <string.h>

#include "base/random.h"
#include "prefetch/order/mt19937.h"
#include "prefetch/order/tracker.h"

struct list {
	uint32_t refs, first, count;   /* ids from first on */
};
static const uint64_t *lost_files;     /* of all lists */

static unsigned list_refs_taken;       /* so often: each sequence that is followed takes one */
struct list *list_ref(struct list *l) { l->refs++; list_refs_taken++; return l; }
void list_unref(struct list *l) { if (l) l->refs--; }
uint32_t list_count(const struct list *l) { return l->count; }
const uint32_t *list_borders(const struct list *l, size_t *ret)
{
	(void)l;
	*ret = 0;
	return NULL;
}
const uint64_t *list_lost(const struct list *l) { (void)l; return lost_files; }
enum list_kind list_kind(const struct list *l) { (void)l; return LIST_IMAGE_FOLDER; }
node_id list_root(const struct list *l) { return l->first; }
sample_id list_at(const struct list *l, uint32_t index) { return l->first + index; }

bool list_index(const struct list *l, sample_id id, uint32_t *ret_index)
{
	if (id < l->first || id - l->first >= l->count)
		return false;
	*ret_index = id - l->first;
	return true;
}

#define FIRST_ID 100u                  /* of the training list */
#define SECOND 1000000000ull

struct stage {
	struct tracker *tracker;
	struct order_spec spec;
	struct list list;
	struct random random;
	uint64_t now;
	uint32_t opens, verdicts[3];
};

static inline uint32_t stage_draw(struct stage *s, uint32_t n)
{
	return random_below(&s->random, n);
}

static inline void stage_open(struct stage *s, const char *spec, uint32_t n,
			      struct list_epochs *listed)
{
	struct list *list = &s->list;
	char error[160];

	*s = (struct stage){ .list = { 1, FIRST_ID, n }, .random = { 1 }, .now = SECOND };
	cr_assert_eq(order_parse(spec, &s->spec, error), 0, "%s", error);
	cr_assert_eq(tracker_new(&s->tracker), 0);
	cr_assert_eq(tracker_order(s->tracker, &s->spec, &list, 1, listed), 0);
}

static inline void stage_close(struct stage *s)
{
	tracker_free(s->tracker);
	order_spec_fini(&s->spec);
	cr_assert_eq(s->list.refs, 1u, "refs of the list are left: %u", s->list.refs);
}

static inline void check_courses(const struct tracker *t)
{
	const struct course *c;
	size_t count = tracker_courses(t, &c);

	cr_assert_leq(count, (size_t)TRACKER_COURSES);
	for (size_t i = 0; i < count; i++) {
		cr_assert(c[i].list && c[i].sequence && c[i].opened);
		cr_assert_leq(c[i].front, c[i].sequence->length);
		cr_assert_leq(c[i].reach, c[i].sequence->length);
	}
}

static inline enum tracker_verdict stage_see(struct stage *s, sample_id id, uint32_t pid)
{
	enum tracker_verdict v = tracker_open(s->tracker, id, pid, s->now += 1000);

	s->opens++;
	s->verdicts[v]++;
	while (tracker_work(s->tracker))
		;
	check_courses(s->tracker);
	return v;
}

static inline void forget_verdicts(struct stage *s)
{
	s->opens = 0;
	memset(s->verdicts, 0, sizeof(s->verdicts));
}

/* --- DataLoader: workers take batches in turn, prefetch_factor each ------------------- */

#define PREFETCH 2

struct loader {
	const struct sequence *sequence;
	uint32_t from, to;             /* positions */
	unsigned workers, batch;
	uint32_t pid;                  /* of worker 0; 0: unknown */
	uint32_t done[32], consumed;   /* opens of each worker; batches that the loop has had */
};

static inline uint32_t items_of(const struct loader *l, uint32_t batch)
{
	uint64_t start = l->from + (uint64_t)batch * l->batch;

	return start >= l->to ? 0 : (uint32_t)DL_MIN(l->to - start, (uint64_t)l->batch);
}

static inline bool has_work(const struct loader *l, unsigned worker)
{
	uint32_t batch = worker + l->workers * (l->done[worker] / l->batch);

	return batch < l->consumed + PREFETCH * l->workers &&
	       l->done[worker] % l->batch < items_of(l, batch);
}

static inline bool is_read(const struct loader *l, uint32_t batch)
{
	uint32_t items = items_of(l, batch);

	return items > 0 && l->done[batch % l->workers] >= batch / l->workers * l->batch + items;
}

/* The next position of a worker that has work. */
static inline void worker_step(struct loader *l, unsigned worker, uint32_t *ret_position,
			       uint32_t *ret_pid)
{
	*ret_position = l->done[worker] % l->batch + l->from +
			(worker + l->workers * (l->done[worker] / l->batch)) * l->batch;
	*ret_pid = l->pid ? l->pid + worker : 0;
	l->done[worker]++;
}

/* The next position that some worker opens; false: all is read. */
static inline bool loader_step(struct loader *l, struct stage *s, uint32_t *ret_position,
			uint32_t *ret_pid)
{
	unsigned with_work = 0, worker, chosen;

	l->workers = DL_MAX(l->workers, 1u);
	while (is_read(l, l->consumed))
		l->consumed++;
	for (worker = 0; worker < l->workers; worker++)
		with_work += has_work(l, worker);
	if (with_work == 0)
		return false;
	chosen = stage_draw(s, with_work);
	for (worker = 0; !has_work(l, worker) || chosen-- > 0; worker++)
		;
	worker_step(l, worker, ret_position, ret_pid);
	return true;
}

static inline bool loader_open(struct loader *l, struct stage *s)
{
	uint32_t position, pid;

	if (!loader_step(l, s, &position, &pid))
		return false;
	stage_see(s, list_at(&s->list, l->sequence->at[position]), pid);
	return true;
}

static inline void loader_read(struct loader *l, struct stage *s, uint32_t opens)
{
	while (opens-- > 0)
		cr_assert(loader_open(l, s));
}

/* All of a sequence, by two workers. */
static inline struct loader loader_of(const struct sequence *q, uint32_t pid)
{
	return (struct loader){ .sequence = q, .to = q->length, .workers = 2, .batch = 16,
				.pid = pid };
}

static inline struct sequence *torch_sequence(uint32_t n, uint32_t seed, uint64_t skip)
{
	struct order_spec s = { .kind = ORDER_TORCH };
	struct epoch e = { .rule = EPOCH_TORCH, .seed = seed, .skip = skip };
	struct sequence *q;

	cr_assert_eq(order_sequence(&s, &e, n, &q), 0);
	return q;
}

/* What a DistributedSampler gives to one of its ranks. */
static inline struct sequence *rank_sequence(uint32_t n, uint32_t seed, uint32_t world,
					     uint32_t rank)
{
	struct order_spec s = {
		.kind = ORDER_TORCH_DISTRIBUTED, .world = world, .ranks = &rank, .rank_count = 1,
	};
	struct epoch e = { .rule = EPOCH_DISTRIBUTED, .seed = seed };
	struct sequence *q;

	cr_assert_eq(order_sequence(&s, &e, n, &q), 0);
	return q;
}

/* --- tf.data's Dataset.shuffle(size): a buffer is filled with the next of the input; each that is
 * taken, any of them, makes room for one more ------------------------------------------ */

struct buffer {
	const struct sequence *sequence;
	uint32_t size, next;           /* the next position of the input */
	uint32_t at[2048], count;
};

/* The next index that is read; false: all were. */
static inline bool buffer_step(struct buffer *b, struct stage *s, uint32_t *ret)
{
	uint32_t taken;

	while (b->count < b->size && b->next < b->sequence->length)
		b->at[b->count++] = b->sequence->at[b->next++];
	if (b->count == 0)
		return false;
	taken = stage_draw(s, b->count);
	*ret = b->at[taken];
	b->at[taken] = b->at[--b->count];
	return true;
}

static inline struct sequence *numpy_sequence(uint32_t n, uint32_t seed)
{
	struct order_spec s = { .kind = ORDER_AUTO };
	struct epoch e = { .rule = EPOCH_NUMPY, .seed = seed };
	struct sequence *q;

	cr_assert_eq(order_sequence(&s, &e, n, &q), 0);
	return q;
}

static inline uint32_t word_of(uint32_t seed, uint64_t word)
{
	struct mt19937 g;

	mt19937_seed(&g, seed);
	mt19937_skip(&g, word);
	return mt19937_word(&g);
}
