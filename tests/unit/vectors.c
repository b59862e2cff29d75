/* Each vector's epochs come out as one chain of order_first() and order_next(). */
#include <criterion/criterion.h>
#include <string.h>

#include "prefetch/order/order.h"
#include "tests/data/shuffles.h"
#include "tests/data/vectors.h"

#define EPOCHS DL_COUNT(vectors[0].epochs)

static uint64_t hash_of(const struct sequence *q)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (uint32_t i = 0; i < q->length; i++)
		h = (h ^ q->at[i]) * UINT64_C(0x100000001b3);
	return h;
}

static bool gives(const struct order_spec *s, const struct epoch *e, const struct vector *v,
		  size_t number)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = NULL;
	dl_cleanup(sequence_unrefp) struct sequence *beginning = NULL;

	cr_assert_eq(order_sequence(s, e, v->n, &q), 0);
	if (q->length != v->epochs[number].length || hash_of(q) != v->epochs[number].hash)
		return false;
	for (uint32_t i = 0; i < DL_MIN(q->length, 4u); i++)
		cr_assert_eq(q->at[i], v->epochs[number].first[i]);
	cr_assert(q->length == 0 || q->at[q->length - 1] == v->epochs[number].last);
	cr_assert_eq(order_prefix(s, e, v->n, 100, &beginning), 0);
	for (uint32_t i = 0; i < DL_MIN(beginning->length, q->length); i++)
		cr_assert_eq(beginning->at[i], q->at[i], "%s, n %u: the beginning differs at %u",
			     v->spec, v->n, i);
	return true;
}

static bool follows(const struct order_spec *s, const struct epoch *e, size_t count,
		    const struct vector *v, size_t number)
{
	struct epoch next[ORDER_BRANCHES];

	for (size_t i = 0; i < count; i++) {
		if (!gives(s, &e[i], v, number))
			continue;
		if (number + 1 == EPOCHS || v->epochs[number + 1].length == 0)
			return true;
		if (follows(s, next, order_next(s, v->n, &e[i], next), v, number + 1))
			return true;
	}
	return false;
}

Test(vectors, are_what_torch_reads)
{
	for (size_t i = 0; i < DL_COUNT(vectors); i++) {
		dl_cleanup(order_spec_fini) struct order_spec s = { 0 };
		struct epoch e[ORDER_BRANCHES];
		char error[160];

		cr_assert_eq(order_parse(vectors[i].spec, &s, error), 0, "%s: %s",
			     vectors[i].spec, error);
		cr_assert(follows(&s, e, order_first(&s, vectors[i].n, e), &vectors[i], 0),
			  "%s, n %u", vectors[i].spec, vectors[i].n);
	}
}

/* A shuffle that settles its first entries last: what begins it is part of the whole. */
static void expect_shuffle(struct epoch e, uint32_t n, const uint32_t first[3], uint64_t hash)
{
	struct order_spec s = { .kind = ORDER_AUTO };
	dl_cleanup(sequence_unrefp) struct sequence *q = NULL;
	dl_cleanup(sequence_unrefp) struct sequence *beginning = NULL;

	cr_assert_eq(order_sequence(&s, &e, n, &q), 0);
	cr_assert_eq(q->length, n);
	cr_assert_eq(memcmp(q->at, first, DL_MIN(n, 3u) * sizeof(q->at[0])), 0, "n %u", n);
	cr_assert_eq(hash_of(q), hash, "n %u", n);
	cr_assert_eq(q->buffer, e.buffer);
	cr_assert_eq(order_prefix(&s, &e, n, 5, &beginning), 0);
	cr_assert_eq(beginning->length, DL_MIN(n, 5u));
	cr_assert_eq(memcmp(beginning->at, q->at, beginning->length * sizeof(q->at[0])), 0);
}

Test(vectors, are_what_std_shuffle_makes)
{
	for (size_t i = 0; i < DL_COUNT(shuffles); i++) {
		const struct shuffled *v = &shuffles[i];

		expect_shuffle((struct epoch){ .rule = EPOCH_TORCH, .seed = STD_SHUFFLE_SEED,
					       .skip = v->epoch, .shuffle = v->how },
			       v->n, v->first, v->hash);
	}
}

Test(vectors, are_what_numpy_makes)
{
	for (size_t i = 0; i < DL_COUNT(numpy_shuffles); i++) {
		const struct numpy_shuffled *v = &numpy_shuffles[i];

		expect_shuffle((struct epoch){ .rule = EPOCH_NUMPY, .seed = v->seed, .buffer = 64 },
			       v->n, v->first, v->hash);
	}
}

Test(vectors, refuse_a_std_shuffle_that_takes_long)
{
	struct order_spec s = { .kind = ORDER_AUTO };
	struct epoch e = { .rule = EPOCH_TORCH, .skip = 1 << 20, .shuffle = STD_SHUFFLE_EACH };
	dl_cleanup(sequence_unrefp) struct sequence *q = NULL;

	cr_assert_eq(order_sequence(&s, &e, 1000, &q), -ENOTSUP);
	cr_assert_eq(order_prefix(&s, &e, 1000, 10, &q), -ENOTSUP);
}
