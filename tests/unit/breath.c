/* How often a search looks around: this file has its spare_rest(). */
#include "tests/lib/stage.h"

#include "prefetch/search.h"
#include "prefetch/spare.h"

#define N 2000u
#define SEEDS_AT_ONCE 32768u            /* of all 2^32: half a millisecond */
#define FIRST_SMALL 38u                 /* the first of the pieces that try small seeds */

static struct evidence opens;
static unsigned breaths;

void spare_rest(struct spare *s, const _Atomic bool *stop)
{
	(void)s;
	(void)stop;
	breaths++;
}

static bool latest(void *context, struct evidence *ret)
{
	(void)context;
	*ret = opens;
	return true;
}

/* How often it looks around in a piece, of a search for what no seed explains. */
static unsigned breaths_of(uint32_t piece, bool gentle)
{
	static struct search s;
	struct stage stage = { .list = { 1, FIRST_ID, N }, .random = { 7 } };

	evidence_clear(&opens);
	for (unsigned i = 0; i < 64; i++)
		evidence_open(&opens, FIRST_ID + stage_draw(&stage, N), 50, false, N);
	s = (struct search){ .evidence = opens, .latest = latest, .gentle = gentle };
	search_init(&s);
	s.lists[s.list_count++] = list_ref(&stage.list);
	cr_assert(search_prepare(&s));
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
	cr_expect_geq(breaths_of(FIRST_SMALL, true), 16, "small seeds: %u", breaths);
	cr_expect_geq(breaths_of(all - 2, true), 16, "numpy's: %u", breaths);
	cr_expect_geq(breaths_of(all, true), (1u << 20) / SEEDS_AT_ONCE, "all seeds: %u", breaths);
	cr_expect_eq(breaths_of(all, false), 0, "that shall be hasty");
}
