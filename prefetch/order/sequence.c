/* What a rule gives: the list indices of one epoch. */
#include <stdatomic.h>
#include <string.h>

#include "prefetch/order/draw.h"
#include "prefetch/order/mt19937.h"
#include "prefetch/order/numpy.h"
#include "prefetch/order/order.h"
#include "prefetch/order/sparse.h"

#define RANDPERM_MAX 214748364u        /* from here on torch >= 2.6 permutes in another way */
#define STD_SHUFFLE_MOST (UINT64_C(1) << 26)

struct sequence *sequence_new(uint32_t length, uint32_t n)
{
	struct sequence *s = malloc(sizeof(*s) + length * sizeof(s->at[0]));

	if (!s)
		return NULL;
	s->refs = 1;
	s->length = length;
	s->n = n;
	s->step = 1;
	s->buffer = 0;
	s->pieces = NULL;
	return s;
}

struct sequence *sequence_ref(struct sequence *s)
{
	atomic_fetch_add(&s->refs, 1);
	return s;
}

void sequence_unref(struct sequence *s)
{
	if (!s || atomic_fetch_sub(&s->refs, 1) > 1)
		return;
	if (s->pieces)
		free(s->pieces->where);
	free(s->pieces);
	free(s);
}

/* How the positions of a distributed epoch come from the permutation: all ranks of this host
 * go step by step, rank r of step k at p[(r + k·world) mod n]. */
struct shares {
	uint32_t world, ranks, steps;
};

static struct shares shares_of(const struct order_spec *s, uint32_t n)
{
	uint32_t steps = n / s->world + (n % s->world != 0 && !s->drop_last);

	return (struct shares){ s->world, s->ranks ? s->rank_count : s->world, steps };
}

static uint32_t share_at(const struct order_spec *s, struct shares h, uint32_t n, uint32_t position)
{
	uint32_t step = position / h.ranks, rank = position % h.ranks;
	uint64_t at = (s->ranks ? s->ranks[rank] : rank) + (uint64_t)step * h.world;

	return (uint32_t)(at % n);
}

static uint32_t length_of(const struct order_spec *s, const struct epoch *e, uint32_t n)
{
	struct shares h;

	if (e->rule != EPOCH_DISTRIBUTED)
		return n;
	h = shares_of(s, n);
	return h.steps * h.ranks;
}

static void start(const struct epoch *e, struct mt19937 *g)
{
	mt19937_seed(g, e->seed);
	mt19937_skip(g, e->skip);
}

/* A shuffle that settles its first entries last. */
static bool is_whole(const struct epoch *e)
{
	return e->shuffle || e->rule == EPOCH_NUMPY;
}

static int shuffle(const struct epoch *e, uint32_t n, struct sequence **ret)
{
	struct sequence *q;

	if ((e->skip + 1) * (uint64_t)n > STD_SHUFFLE_MOST)
		return -ENOTSUP;
	q = sequence_new(n, n);
	if (!q)
		return -ENOMEM;
	if (e->shuffle)
		std_shuffle(e->shuffle, e->seed, e->skip, n, q->at);
	else
		numpy_shuffle(e->seed, n, q->at);
	q->buffer = e->buffer;
	*ret = q;
	return 0;
}

static int distribute(const struct order_spec *s, const struct epoch *e, struct sequence *q)
{
	struct shares h = shares_of(s, q->n);
	uint32_t *p = malloc(q->n * sizeof(*p));
	struct mt19937 g;

	if (!p)
		return -ENOMEM;
	q->step = h.ranks;
	start(e, &g);
	torch_randperm(&g, q->n, p);
	for (uint32_t i = 0; i < q->length; i++)
		q->at[i] = p[share_at(s, h, q->n, i)];
	free(p);
	return 0;
}

int order_sequence(const struct order_spec *s, const struct epoch *e, uint32_t n,
		   struct sequence **ret)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = NULL;
	struct mt19937 g;
	int r = 0;

	if (e->rule == EPOCH_LISTED || e->rule == EPOCH_DRAWN)
		return -EINVAL;
	if (is_whole(e))
		return shuffle(e, n, ret);
	if (e->rule != EPOCH_SEQUENTIAL && n >= RANDPERM_MAX)
		return -ENOTSUP;
	q = sequence_new(length_of(s, e, n), n);
	if (!q)
		return -ENOMEM;
	if (e->rule == EPOCH_SEQUENTIAL) {
		for (uint32_t i = 0; i < n; i++)
			q->at[i] = i;
	} else if (e->rule == EPOCH_TORCH) {
		start(e, &g);
		torch_randperm(&g, n, q->at);
	} else {
		r = distribute(s, e, q);
	}
	if (r < 0)
		return r;
	*ret = DL_TAKE(q);
	return 0;
}

/* The permutation's head that a distributed prefix needs: as far as its furthest position. */
static int distribute_prefix(const struct order_spec *s, const struct epoch *e, struct sequence *q)
{
	struct shares h = shares_of(s, q->n);
	uint64_t need = ((uint64_t)q->length / h.ranks + 1) * h.world;
	uint32_t head = (uint32_t)DL_MIN(need, (uint64_t)q->n);
	uint32_t *p = malloc(head * sizeof(*p));
	struct mt19937 g;
	int r;

	if (!p)
		return -ENOMEM;
	start(e, &g);
	r = sparse_randperm(&g, q->n, head, p);
	for (uint32_t i = 0; r == 0 && i < q->length; i++)
		q->at[i] = p[share_at(s, h, q->n, i)];
	free(p);
	return r;
}

int order_prefix(const struct order_spec *s, const struct epoch *e, uint32_t n, uint32_t length,
		 struct sequence **ret)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = NULL;
	struct mt19937 g;
	int r = 0;

	if (length >= length_of(s, e, n) || e->rule >= EPOCH_LISTED)
		return order_sequence(s, e, n, ret);
	if (is_whole(e)) {
		r = shuffle(e, n, &q);
		if (r < 0)
			return r;
		q->length = length;
		*ret = DL_TAKE(q);
		return 0;
	}
	if (e->rule != EPOCH_SEQUENTIAL && n >= RANDPERM_MAX)
		return -ENOTSUP;
	q = sequence_new(length, n);
	if (!q)
		return -ENOMEM;
	if (e->rule == EPOCH_SEQUENTIAL) {
		for (uint32_t i = 0; i < length; i++)
			q->at[i] = i;
	} else if (e->rule == EPOCH_TORCH) {
		start(e, &g);
		r = sparse_randperm(&g, n, length, q->at);
	} else {
		r = distribute_prefix(s, e, q);
	}
	if (r < 0)
		return r;
	*ret = DL_TAKE(q);
	return 0;
}

static int keep_pieces(struct sequence *q, const uint32_t *begin, uint32_t count,
		       uint32_t reservoir)
{
	struct sequence_pieces *p = malloc(sizeof(*p) + (count + 1) * sizeof(p->begin[0]));

	q->pieces = p;
	if (!p)
		return -ENOMEM;
	p->count = count;
	p->reservoir = reservoir;
	memcpy(p->begin, begin, (count + 1) * sizeof(p->begin[0]));
	p->where = malloc(q->n * sizeof(*p->where) + 1);
	if (!p->where)
		return -ENOMEM;
	for (uint32_t i = 0; i < q->length; i++)
		p->where[q->at[i]] = i;
	return 0;
}

int order_drawn(const struct order_spec *s, const struct epoch *e, uint32_t n,
		const uint32_t *borders, size_t border_count, struct sequence **ret)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = sequence_new(n, n);
	dl_cleanup(dl_freep) uint32_t *begin = NULL;
	uint32_t piece = DL_MIN(s->piece, n);  /* sums with a larger one may overflow */
	struct draw d = {
		.seed = s->seed, .epoch = e->number, .n = n, .piece = DL_MAX(piece, 1u),
		.reservoir = s->reservoir, .borders = borders, .border_count = border_count,
	};
	uint32_t count;
	int r = q ? draw_epoch(&d, q->at, &begin, &count) : -ENOMEM;

	if (r == 0)
		r = keep_pieces(q, begin, count, s->reservoir);
	if (r < 0)
		return r;
	*ret = DL_TAKE(q);
	return 0;
}
