/* Keras' image_dataset_from_directory(): np.random.RandomState(seed).shuffle() of its list, with a
 * seed below 10^6 unless the user has one, and then tf.data's shuffle with a buffer of eight
 * batches, which the newer versions have before the files are read, and the older ones after.
 * Whatever the buffer does, the first files of the list are opened first.  One process reads
 * them. */
#include "prefetch/order/numpy.h"
#include "prefetch/order/positions.h"
#include "prefetch/find/search_internal.h"

#define BUFFER_LEAST 64u                /* what threads that read at the same time amount to */
#define MANY 65536u
#define FEW 20u                         /* one in so many opens may be somebody else's */

struct candidate {
	struct search *s;
	size_t list;
	uint32_t first[NUMPY_FIRST_MOST];      /* as they were opened */
	size_t count;
};

/* The least buffer that would have let nearly all of them through so early; 0: none. */
static uint32_t buffer_of(const struct candidate *c, const struct positions *positions)
{
	for (uint32_t buffer = BUFFER_LEAST; buffer <= NUMPY_BUFFER_MOST; buffer *= 2) {
		size_t others = 0;

		for (size_t i = 0; i < c->count; i++)
			others += positions_first(positions, c->first[i]) >= i + buffer;
		if (others * FEW <= c->count)
			return buffer;
	}
	return 0;
}

static void hit(void *context, uint32_t seed)
{
	struct candidate *c = context;
	struct found f = search_plain(c->s, c->list, seed, 0);
	const struct order_spec none = { .kind = ORDER_AUTO };
	const struct epoch rule = { .rule = EPOCH_NUMPY, .seed = seed };
	dl_cleanup(sequence_unrefp) struct sequence *q = NULL;
	dl_cleanup(positions_fini) struct positions positions = { 0 };

	if (order_prefix(&none, &rule, list_count(f.list), NUMPY_FIRST_MOST + NUMPY_BUFFER_MOST,
			 &q) < 0 ||
	    positions_init(&positions, q) < 0)
		return;
	f.buffer = buffer_of(c, &positions);
	if (f.buffer > 0)
		search_consider(c->s, f, 1, 1);
}

static void gather(struct candidate *c, const struct evidence *e)
{
	const struct list *list = c->s->lists[c->list];

	for (size_t i = 0; i < e->count && c->count < NUMPY_FIRST_MOST; i++)
		c->count += list_index(list, e->opens[i].id, &c->first[c->count]);
}

/* false: there is no memory. */
static bool search_range(struct candidate *c, uint32_t from, uint32_t to, struct spare *spare)
{
	struct search *s = c->s;
	int r = 0;

	for (; r == 0 && from < to && !s->stop; from += NUMPY_BREATH) {
		search_breathe(s, spare);
		r = numpy_search(list_count(s->lists[c->list]), c->first, c->count, from,
				 DL_MIN(from + NUMPY_BREATH, to), &s->stop, hit, c);
	}
	return r == 0;
}

/* Without pids it may be many that read, and so little that nobody shall wait for it; but of few
 * files all seeds are tried in a second. */
static bool is_too_early(const struct evidence *e, uint32_t n)
{
	return n > MANY && !evidence_has_pids(e) && e->count < e->ample;
}

void search_numpy(struct search *s, uint32_t piece, struct spare *spare)
{
	uint32_t from = piece * NUMPY_PIECE, to = DL_MIN(from + NUMPY_PIECE, NUMPY_SEEDS);
	struct evidence e;

	/* What has come by now: the more, the less a seed costs. */
	if (s->evidence.reader_count != 1 || !s->latest(s->context, &e))
		return;
	for (size_t l = 0; l < s->list_count && !s->stop; l++) {
		struct candidate c = { .s = s, .list = l };

		if (s->parts[l].first_count == 0 || is_too_early(&e, list_count(s->lists[l])))
			continue;
		gather(&c, &e);
		if (!search_range(&c, from, to, spare))
			return;
	}
}
