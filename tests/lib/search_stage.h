/* A stage for the search: what was opened by now, and a search over one list that judges by it.
 * For one test program only, as tests/lib/stage.h.
 */
#pragma once
#include "prefetch/find/search.h"
#include "tests/lib/stage.h"

static struct evidence by_now;

static inline bool latest(void *context, struct evidence *ret)
{
	(void)context;
	*ret = by_now;
	return true;
}

/* Ready to run; search_fini() lets the list go. */
static inline void begin_search(struct search *s, struct list *list)
{
	*s = (struct search){ .evidence = by_now, .latest = latest };
	search_init(s);
	s->lists[s->list_count++] = list_ref(list);
	cr_assert(search_prepare(s), "n %u: nothing to search", list->count);
}

static inline void find_ranks(struct found *f)
{
	dl_cleanup(positions_fini) struct positions positions = { 0 };

	cr_assert_eq(search_positions(f, &positions), 0);
	search_ranks(&by_now, &positions, f);
}

static inline void acquit(const struct found *f)
{
	dl_cleanup(positions_fini) struct positions positions = { 0 };

	cr_assert_eq(search_positions(f, &positions), 0);
	search_acquit(f, &positions, &by_now);
}
