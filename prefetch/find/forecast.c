#include "prefetch/find/forecast.h"

#include "prefetch/find/spare.h"

#define WORDS (UINT64_C(1) << 26)       /* drawn before the first epoch: models of 60 M weights */
#define WORDS_POPULAR (UINT64_C(1) << 28)
#define POPULAR 16u
#define EPOCHS 128u                     /* that are foretold at once */
#define STRIDE_PERSISTENT 2u            /* of a loader whose workers stay */

static bool is_drawn(const struct lesson *e)
{
	return e->n != 0 && e->world == 0 && e->skip == 0 && e->buffer == 0 &&
	       e->seed >= ORDER_SEEDS_CHOSEN;
}

bool forecast_prepare(struct forecast *f, const struct lessons *l)
{
	const struct lesson *last = &l->at[l->count - DL_MIN(l->count, (size_t)2)];
	struct chain known = f->known;

	if (l->count < 2 || !is_drawn(&last[0]) || !is_drawn(&last[1]) || last[0].n != last[1].n ||
	    lessons_after(l, &last[1]))
		return false;
	*f = (struct forecast){ .first = last[0], .second = last[1], .known = known };
	f->kernel = seeds_fastest();
	f->seeds[0] = known.seed;
	f->count = 1 + chain_popular(f->seeds + 1);
	return true;
}

struct worker {
	struct forecast *f;
	struct spare spare;
};

static bool go_on(void *context)
{
	struct worker *w = context;

	spare_rest(&w->spare, &w->f->stop);
	return !w->f->stop;
}

void forecast_run(struct forecast *f)
{
	struct worker w = { .f = f };
	uint32_t i;

	while (!f->stop && (i = f->next++) < f->count) {
		uint64_t words = i <= POPULAR ? WORDS_POPULAR : WORDS;
		struct chain found;

		if (!chain_find(f->kernel, f->first.seed, f->second.seed, &f->seeds[i], 1, words,
				go_on, &w, &found) ||
		    atomic_exchange(&f->claimed, true))
			continue;
		f->found = found;
		f->stop = true;
	}
}

static void teach_run(const struct forecast *f, struct chain c, struct lessons *l)
{
	struct lesson run[EPOCHS];
	uint32_t seeds[EPOCHS];

	c.word += f->found.stride;     /* from the second epoch on */
	chain_seeds(&c, seeds, EPOCHS);
	for (uint32_t i = 0; i < EPOCHS; i++) {
		run[i] = f->second;
		run[i].seed = seeds[i];
	}
	lessons_insert(l, run, EPOCHS);
}

void forecast_teach(const struct forecast *f, struct lessons *l)
{
	struct chain c = f->found;

	c.stride = STRIDE_PERSISTENT;
	if (f->found.stride != STRIDE_PERSISTENT)
		teach_run(f, c, l);
	teach_run(f, f->found, l);     /* the one that counts comes last */
}
