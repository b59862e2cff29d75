/* How often a search looks around: this file has its spare_rest(). */
#include "prefetch/find/forecast.h"
#include "prefetch/find/search_internal.h"
#include "tests/lib/search_stage.h"

#define N 2000u
#define SEEDS_AT_ONCE 32768u            /* of all 2^32: half a millisecond */
#define WORDS_AT_ONCE (1u << 21)        /* of a generator's: the same */

static unsigned breaths;

void spare_rest(struct spare *s, const _Atomic bool *stop)
{
	(void)s;
	(void)stop;
	breaths++;
}

/* How often it looks around in a piece, of a search for what no seed explains. */
static unsigned breaths_of(uint32_t piece, bool gentle)
{
	static struct search s;
	struct stage stage = { .list = { 1, FIRST_ID, N }, .random = { 7 } };

	evidence_clear(&by_now);
	for (unsigned i = 0; i < 64; i++)
		evidence_open(&by_now, FIRST_ID + stage_draw(&stage, N), 50, false, N);
	begin_search(&s, &stage.list);
	s.gentle = gentle;
	s.next = piece;
	s.end = piece + 1;
	breaths = 0;
	search_run(&s);
	cr_assert(!s.claimed);
	search_fini(&s);
	return breaths;
}

Test(breath, is_taken_within_each_kind_of_work)
{
	uint32_t all = search_piece(0);

	cr_expect_geq(breaths_of(0, true), 4, "constants: %u", breaths);
	cr_expect_geq(breaths_of(2, true), 16, "popular numbers: %u", breaths);
	cr_expect_geq(breaths_of(SMALL_PIECES_FROM, true), 16, "small seeds: %u", breaths);
	cr_expect_geq(breaths_of(all - 2, true), 16, "numpy's: %u", breaths);
	cr_expect_geq(breaths_of(all, true), (1u << 20) / SEEDS_AT_ONCE, "all seeds: %u", breaths);
	cr_expect_eq(breaths_of(all, false), 0, "that shall be hasty");
}

/* One seed's words take as long as a hundred such. */
Test(breath, is_taken_within_a_seed_whose_words_are_gone_through)
{
	struct forecast f = { .first.seed = 1, .second.seed = 2, .seeds = { 42 }, .count = 1 };

	f.kernel = seeds_fastest();
	breaths = 0;
	forecast_run(&f);
	cr_assert(!f.claimed);
	cr_expect_geq(breaths, (1u << 28) / WORDS_AT_ONCE, "%u", breaths);
}
