#include "prefetch/order/draw.h"

#include <assert.h>

#include "prefetch/order/draw_internal.h"

struct draws {
	const struct draw *draw;
	struct random random;
	struct stratum *strata;
	uint32_t count, total;         /* strata, and their pieces */
	uint32_t *order;               /* of pieces */
	uint32_t *pool;                /* `piece` places for each stratum */
};

/* --- Strata ---------------------------------------------------------------------------- */

static uint32_t parts_of(uint32_t samples, uint32_t length)
{
	return DL_MAX((uint32_t)(((uint64_t)samples + length / 2) / length), 1u);
}

/* Cut what lies between two borders into equal parts. */
static void cut(struct draws *s, uint32_t begin, uint32_t end, uint32_t parts)
{
	for (uint32_t i = 0; i < parts; i++)
		s->strata[s->count++] = (struct stratum){
			.begin = begin + (uint32_t)((uint64_t)(end - begin) * i / parts),
			.end = begin + (uint32_t)((uint64_t)(end - begin) * (i + 1) / parts),
		};
}

/* Strata of about this length each; what is small between its borders goes together with what
 * follows.  Returns how many; makes them if there is a place for them. */
static uint32_t cut_all(struct draws *s, uint32_t length)
{
	const struct draw *d = s->draw;
	uint32_t begin = 0, count = 0;

	for (size_t i = 0; i <= d->border_count; i++) {
		uint32_t end = i < d->border_count ? d->borders[i] : d->n;

		if (end <= begin || (end < d->n && end - begin < length / 2))
			continue;
		if (s->strata)
			cut(s, begin, end, parts_of(end - begin, length));
		count += parts_of(end - begin, length);
		begin = end;
	}
	return count;
}

static void divide_strata(struct draws *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		struct stratum *t = &s->strata[i];

		t->pieces = (t->end - t->begin + s->draw->piece - 1) / s->draw->piece;
		t->first = s->total;
		s->total += t->pieces;
	}
}

static int make_strata(struct draws *s)
{
	const struct draw *d = s->draw;
	uint32_t most = DL_MAX(d->reservoir / d->piece, 1u);
	uint32_t length = DL_MAX((d->n + most - 1) / most, d->piece);
	uint32_t count;

	while ((count = cut_all(s, length)) > most && length < 2 * d->n)   /* then all is one */
		length += length / 32 + 1;
	s->strata = calloc(count, sizeof(*s->strata));
	s->pool = calloc((size_t)count * d->piece, sizeof(*s->pool));
	if (!s->strata || !s->pool)
		return -ENOMEM;
	cut_all(s, length);
	assert(s->count == count);
	divide_strata(s);
	s->order = calloc(s->total, sizeof(*s->order));
	if (!s->order)
		return -ENOMEM;
	return pieces_order(d, s->strata, s->count, s->total, s->order);
}

/* --- Giving out ------------------------------------------------------------------------ */

static uint32_t piece_begin(const struct stratum *t, uint32_t piece)
{
	return t->begin + (uint32_t)((uint64_t)(t->end - t->begin) * piece / t->pieces);
}

static uint32_t *pool_of(const struct draws *s, uint32_t stratum)
{
	return s->pool + (size_t)stratum * s->draw->piece;
}

static void take_next_piece(struct draws *s, uint32_t stratum)
{
	struct stratum *t = &s->strata[stratum];
	uint32_t piece = s->order[t->first + t->given++];
	uint32_t at = piece_begin(t, piece), end = piece_begin(t, piece + 1);

	while (at < end)
		pool_of(s, stratum)[t->left++] = at++;
}

static uint32_t give(struct draws *s, uint32_t stratum)
{
	struct stratum *t = &s->strata[stratum];
	uint32_t *pool = pool_of(s, stratum), *at, given;

	if (t->left == 0)
		take_next_piece(s, stratum);
	at = &pool[random_below(&s->random, t->left)];
	given = *at;
	*at = pool[--t->left];
	return given;
}

static void fini(struct draws *s)
{
	free(s->strata);
	free(s->order);
	free(s->pool);
}

static int list_pieces(const struct draws *s, uint32_t **ret)
{
	uint32_t *begin = malloc((s->total + 1) * sizeof(*begin));

	if (!begin)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->count; i++)
		for (uint32_t k = 0; k < s->strata[i].pieces; k++)
			begin[s->strata[i].first + k] = piece_begin(&s->strata[i], k);
	begin[s->total] = s->draw->n;
	*ret = begin;
	return 0;
}

int draw_epoch(const struct draw *d, uint32_t *ret, uint32_t **ret_pieces, uint32_t *ret_count)
{
	dl_cleanup(fini) struct draws s = {
		.draw = d, .random = random_of(d->seed, d->epoch, 0),
	};
	bool all = d->reservoir >= d->n;       /* is held at once: any order will do */
	int r = d->n > 0 ? make_strata(&s) : 0;

	if (r == 0)
		r = list_pieces(&s, ret_pieces);
	if (r < 0)
		return r;
	*ret_count = s.total;
	for (uint32_t i = 0; i < s.count; i++)
		for (uint32_t k = s.strata[i].begin; k < s.strata[i].end; k++)
			ret[k] = all ? k : i;
	random_shuffle(&s.random, ret, d->n);
	for (uint32_t k = 0; k < d->n && !all; k++)
		ret[k] = give(&s, ret[k]);
	return 0;
}
