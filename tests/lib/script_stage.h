/* A script with torch.manual_seed(7), or what else is said, whose workers read before a tracker.
 * For one test program only, as tests/lib/stage.h.
 */
#pragma once
#include "tests/lib/stage.h"

enum script { PLAIN, PERSISTENT, VALIDATION, GENERATOR };

/* What epoch e of a script with torch.manual_seed(7) reads. */
static inline struct sequence *epoch_of(enum script script, uint32_t n, uint32_t e)
{
	switch (script) {
	case PLAIN:
		return torch_sequence(n, word_of(7, 3 + 4 * e), 0);
	case PERSISTENT:
		return torch_sequence(n, word_of(7, 3 + 2 * e), 0);
	case VALIDATION:
		return torch_sequence(n, word_of(7, 3 + 6 * e), 0);
	default:
		return torch_sequence(n, 7, 2 + e * (2 + 2 * (uint64_t)(n - 1)));
	}
}

static inline bool same(const struct sequence *a, const struct sequence *b)
{
	return a && b && a->length == b->length &&
	       memcmp(a->at, b->at, a->length * sizeof(a->at[0])) == 0;
}

static inline void read_all(struct stage *s, const struct sequence *q, uint32_t from, uint32_t to,
			    unsigned workers, uint32_t pid)
{
	struct loader l = { .sequence = q, .from = from, .to = to, .workers = workers,
			    .batch = 16, .pid = pid };

	while (loader_open(&l, s))
		;
}

static inline const struct course *main_course(const struct stage *s, const struct sequence *q)
{
	const struct course *c = tracker_main(s->tracker);

	cr_assert_not_null(c, "nothing is followed, of %u samples after %u opens", s->list.count,
			   s->opens);
	cr_assert(same(c->sequence, q), "another order is followed");
	return c;
}

static inline void expect_misses(const struct stage *s, uint32_t most, const char *why)
{
	cr_assert_leq(s->opens - s->verdicts[TRACKER_FITS], most, "%s: %u of %u fit", why,
		      s->verdicts[TRACKER_FITS], s->opens);
}
