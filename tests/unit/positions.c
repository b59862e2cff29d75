#include <criterion/criterion.h>

#include "prefetch/order/positions.h"

/* All positions of an index, one after the other, as they are found by looking at each. */
static void expect_all(const struct positions *p, const struct sequence *q, uint32_t index)
{
	uint32_t found = positions_first(p, index);

	for (uint32_t i = 0; i < q->length; i++) {
		if (q->at[i] != index)
			continue;
		cr_assert_eq(found, i, "n %u, index %u: %u, not %u", q->n, index, found, i);
		found = positions_following(p, index, i);
	}
	cr_assert_eq(found, POSITION_NONE, "n %u, index %u: %u is one too many", q->n, index,
		     found);
}

/* A sequence that is short beside its list is kept in another way. */
Test(positions, finds_each_use_of_an_index)
{
	static const uint32_t plain[] = { 7, 2, 9, 0, 4, 6 };
	static const uint32_t repeats[] = { 5, 3, 5, 9, 0, 3, 5, 9, 9 };
	static const struct { const uint32_t *at; uint32_t length, n; } cases[] = {
		{ plain, DL_COUNT(plain), 10 }, { plain, DL_COUNT(plain), 1000 },
		{ repeats, DL_COUNT(repeats), 10 }, { repeats, DL_COUNT(repeats), 1000 },
		{ repeats, DL_COUNT(repeats), UINT32_MAX }, { plain, 0, 10 },
	};

	for (size_t c = 0; c < DL_COUNT(cases); c++) {
		dl_cleanup(sequence_unrefp) struct sequence *q =
			sequence_new(cases[c].length, cases[c].n);
		dl_cleanup(positions_fini) struct positions p = { 0 };

		cr_assert_not_null(q);
		for (uint32_t i = 0; i < q->length; i++)
			q->at[i] = cases[c].at[i];
		cr_assert_eq(positions_init(&p, q), 0);
		for (uint32_t index = 0; index < 10; index++)
			expect_all(&p, q, index);
	}
}
