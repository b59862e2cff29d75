/* Orders of the epoch view: what must hold for any size, and that they look like shuffles. */
#include <criterion/criterion.h>
#include <string.h>

#include "prefetch/order/draw.h"
#include "prefetch/order/order.h"

#define BORDERS 20

static uint32_t borders[BORDERS];

/* Folders of the same size. */
static struct draw draw_of(uint32_t n, uint32_t folders, uint32_t piece, uint32_t reservoir)
{
	for (uint32_t i = 1; i < folders; i++)
		borders[i - 1] = (uint32_t)((uint64_t)n * i / folders);
	return (struct draw){
		.n = n, .piece = piece, .reservoir = reservoir,
		.borders = borders, .border_count = folders ? folders - 1 : 0,
	};
}

static const struct draw_case {
	uint32_t n, folders, piece, reservoir;
} cases[] = {
	{ 0, 0, 1, 0 }, { 1, 0, 1, 0 }, { 2, 0, 1, 1 }, { 1, 0, 100, 100 }, { 10, 0, 3, 1 },
	{ 100, 20, 7, 30 }, { 1000, 3, 10, 100 }, { 1000, 7, 64, 64 }, { 1000, 0, 1, 1000 },
	{ 1000, 0, 1000, 1000 }, { 1000, 20, 2000, 5000 }, { 20000, 20, 16, 2000 },
	{ 20011, 19, 13, 1999 },
};

static uint32_t piece_of(const uint32_t *pieces, uint32_t count, uint32_t index)
{
	uint32_t k = 0;

	while (k + 1 < count && pieces[k + 1] <= index)
		k++;
	return k;
}

/* All come once; pieces are as long as was said; and whoever reads a piece when the first of it is
 * needed never holds more than the reservoir. */
static void check(const struct draw *d)
{
	dl_cleanup(dl_freep) uint32_t *order = calloc(d->n + 1, sizeof(*order));
	dl_cleanup(dl_freep) uint32_t *pieces = NULL;
	dl_cleanup(dl_freep) bool *seen = calloc(d->n + 1, 1), *read = calloc(d->n + 1, 1);
	uint32_t count = 0, held = 0;

	cr_assert_eq(draw_epoch(d, order, &pieces, &count), 0);
	cr_assert_eq(pieces[count], d->n);
	for (uint32_t k = 0; k < count; k++)
		cr_assert(pieces[k] < pieces[k + 1] && pieces[k + 1] - pieces[k] <= d->piece);
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t k = piece_of(pieces, count, order[i]);

		cr_assert_lt(order[i], d->n);
		cr_assert_not(seen[order[i]], "%u of %u comes twice", order[i], d->n);
		seen[order[i]] = true;
		if (!read[k])
			held += pieces[k + 1] - pieces[k];
		read[k] = true;
		cr_assert(held <= DL_MAX(d->reservoir, d->piece), "%u of %u in %u are held", held,
			  d->n, d->reservoir);
		held--;
	}
}

Test(draw, gives_each_once_out_of_the_reservoir)
{
	for (size_t i = 0; i < DL_COUNT(cases); i++)
		for (uint64_t epoch = 0; epoch < 3; epoch++) {
			const struct draw_case *c = &cases[i];
			struct draw d = draw_of(c->n, c->folders, c->piece, c->reservoir);

			d.epoch = epoch;
			check(&d);
		}
}

static void drawn(const struct draw *d, uint32_t *ret)
{
	dl_cleanup(dl_freep) uint32_t *pieces = NULL;
	uint32_t count;

	cr_assert_eq(draw_epoch(d, ret, &pieces, &count), 0);
}

Test(draw, is_a_function_of_its_arguments)
{
	struct draw d = draw_of(5000, 10, 16, 500);
	uint32_t a[5000], b[5000];

	d.epoch = 70;                          /* six epochs into the second cycle */
	drawn(&d, a);
	drawn(&d, b);
	cr_assert_eq(memcmp(a, b, sizeof(a)), 0);
	d.seed = 1;
	drawn(&d, b);
	cr_assert_neq(memcmp(a, b, sizeof(a)), 0);
	d.seed = 0;
	d.epoch = 71;
	drawn(&d, b);
	cr_assert_neq(memcmp(a, b, sizeof(a)), 0);
}

#define N 20000u
#define FOLDERS 20u
#define EPOCHS 12
#define BATCH 256u

/* Chi-square of the folders in batches: the square of how many standard deviations it is off. */
static double mix_of(const struct draw *d, const uint32_t *order, uint32_t batch)
{
	const uint32_t batches = d->n / batch, folders = (uint32_t)d->border_count + 1;
	double sum = 0, expected = (double)batch / folders, df = (batches - 1) * (folders - 1.0);

	for (uint32_t b = 0; b < batches; b++) {
		uint32_t counts[FOLDERS] = { 0 };

		for (uint32_t i = 0; i < batch; i++)
			counts[order[b * batch + i] / (d->n / folders)]++;
		for (uint32_t f = 0; f < folders; f++)
			sum += (counts[f] - expected) * (counts[f] - expected) / expected;
	}
	return (sum - df) * (sum - df) / (2 * df);
}

/* In however few pieces it is read. */
Test(draw, of_what_the_reservoir_holds_is_a_plain_shuffle)
{
	struct draw d = draw_of(300, 3, 165, 300);
	uint32_t order[300];

	for (d.epoch = 0; d.epoch < 20; d.epoch++) {
		double mix;

		drawn(&d, order);
		mix = mix_of(&d, order, 50);
		cr_assert(mix < 36, "epoch %u: mix %g", (unsigned)d.epoch, mix);
	}
}

static void positions(const uint32_t *order, double *ret)
{
	for (uint32_t i = 0; i < N; i++)
		ret[order[i]] = (i + 0.5) / N - 0.5;
}

/* In standard deviations of what shuffles have. */
static double correlation(const double *a, const double *b)
{
	double sum = 0;

	for (uint32_t i = 0; i < N; i++)
		sum += a[i] * b[i];
	return sum * 12 / __builtin_sqrt(N);
}

/* The numbers are the same in every run: the bounds are those of a uniform shuffle's, at a chance
 * of some 1e-4 to be outside.  With pieces in plain random order the correlations are 8 times as
 * large, and without strata the mix is hundreds away. */
Test(draw, looks_like_a_shuffle)
{
	struct draw d = draw_of(N, FOLDERS, 64, 24 * 64);
	dl_cleanup(dl_freep) uint32_t *order = calloc(N, sizeof(*order));
	static double at[EPOCHS][N], storage[N];
	double squares = 0;

	for (uint32_t i = 0; i < N; i++)
		storage[i] = (i + 0.5) / N - 0.5;
	for (d.epoch = 0; d.epoch < EPOCHS; d.epoch++) {
		double mix, along;

		drawn(&d, order);
		positions(order, at[d.epoch]);
		mix = mix_of(&d, order, BATCH);
		along = correlation(at[d.epoch], storage);
		cr_assert(mix < 16, "epoch %u: mix %g", (unsigned)d.epoch, mix);
		cr_assert(along > -5 && along < 5, "epoch %u is along storage: %g",
			  (unsigned)d.epoch, along);
		for (uint64_t e = 0; e < d.epoch; e++) {
			double c = correlation(at[e], at[d.epoch]);

			cr_assert(c > -4.5 && c < 4.5, "epochs %u, %u: %g", (unsigned)e,
				  (unsigned)d.epoch, c);
			squares += c * c;
		}
	}
	squares /= EPOCHS * (EPOCHS - 1) / 2;
	cr_assert(squares > 0.5 && squares < 1.7, "mean square %g, not 1", squares);
}

Test(draw, is_a_spec)
{
	struct order_spec s;
	struct epoch e[ORDER_BRANCHES];
	struct sequence *q;
	char why[160] = "";

	cr_assert_eq(order_parse("drawn:epoch=3,piece=10,reservoir=100", &s, why), 0, "%s", why);
	cr_assert_eq(order_first(&s, 1000, e), 1);
	cr_assert_eq(e[0].rule, EPOCH_DRAWN);
	cr_assert_eq(e[0].number, 3);
	cr_assert_eq(order_next(&s, 1000, &e[0], e), 1);
	cr_assert_eq(e[0].number, 4);
	cr_assert_eq(order_sequence(&s, &e[0], 1000, &q), -EINVAL);
	cr_assert_eq(order_drawn(&s, &e[0], 1000, NULL, 0, &q), 0);
	for (uint32_t i = 0; i < 1000; i++)
		cr_assert_eq(q->pieces->where[q->at[i]], i);
	cr_assert_eq(q->pieces->begin[q->pieces->count], 1000);
	sequence_unref(q);
	order_spec_fini(&s);
	cr_assert_eq(order_parse("drawn:piece=0", &s, why), -EINVAL);
	cr_assert_eq(order_parse("drawn:root=x", &s, why), -EINVAL);
}
