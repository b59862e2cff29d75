#include "prefetch/order/numpy.h"

#include "prefetch/order/mt19937_abreast.h"

#define N MT19937_WORDS
#define BITS 64
#define CERTAINTY 16u                  /* e to the power of it: are refuted for one that is not */
#define MOVES 64u                      /* four times what is expected of a seed */

static uint32_t mask_of(uint32_t i)
{
	return i > 0 ? UINT32_MAX >> __builtin_clz(i) : 0;
}

/* --- The shuffle ------------------------------------------------------------------------ */

void numpy_shuffle(uint32_t seed, uint32_t n, uint32_t *ret)
{
	uint32_t state[MT19937_ABREAST][N], words[N], k = N;

	mt19937_abreast(seed, state);
	for (uint32_t i = 0; i < n; i++)
		ret[i] = i;
	for (uint32_t i = n > 0 ? n - 1 : 0; i > 0;) {
		uint32_t kept = ret[i], at;

		if (k == N) {
			mt19937_block(state[0], words);
			k = 0;
		}
		at = words[k++] & mask_of(i);
		if (at > i)
			continue;
		ret[i--] = ret[at];
		ret[at] = kept;
	}
}

/* --- The search ------------------------------------------------------------------------- */

struct watched {
	uint64_t *at;                  /* a bit for each place: one of the first ones is there */
	struct move { uint32_t from, to; } moves[MOVES];       /* done since the seed began */
	unsigned move_count;
};

static bool is_at(const struct watched *w, uint32_t place)
{
	return w->at[place / BITS] >> (place % BITS) & 1;
}

static void turn(struct watched *w, uint32_t place)
{
	w->at[place / BITS] ^= UINT64_C(1) << (place % BITS);
}

/* Place i takes what is at `at`, which takes what was at i. */
static bool move(struct watched *w, uint32_t i, uint32_t at)
{
	if (w->move_count == MOVES)
		return false;
	w->moves[w->move_count++] = (struct move){ i, at };
	turn(w, i);
	turn(w, at);
	return true;
}

static void move_back(struct watched *w)
{
	while (w->move_count > 0) {
		const struct move *m = &w->moves[--w->move_count];

		turn(w, m->from);
		turn(w, m->to);
	}
}

/* None of them is taken to one of the places from `end` on.  Whether a word fits is anybody's
 * guess, so nothing branches on it. */
static bool stay(struct watched *w, uint32_t n, uint32_t end, uint32_t state[N])
{
	uint32_t words[N], i = n - 1;

	while (i >= end) {
		uint32_t k = 0;

		mt19937_block(state, words);
		while (k < N && i >= end) {
			uint32_t mask = mask_of(i), least = DL_MAX(end, (mask >> 1) + 1);

			for (; k < N && i >= least; k++) {
				uint32_t at = words[k] & mask, fits = at <= i;

				if (fits & (uint32_t)is_at(w, at))
					return false;
				if ((fits & (uint32_t)is_at(w, i)) && !move(w, i, at))
					return true;
				i -= fits;
			}
		}
	}
	return true;
}

static size_t watch(struct watched *w, const uint32_t *first, size_t count, size_t most)
{
	size_t watched = 0;

	for (size_t i = 0; i < count && watched < most; i++)
		if (!is_at(w, first[i])) {
			turn(w, first[i]);
			watched++;
		}
	return watched;
}

int numpy_search(uint32_t n, const uint32_t *first, size_t count, uint32_t from, uint32_t to,
		 const _Atomic bool *stop, void (*hit)(void *context, uint32_t seed),
		 void *context)
{
	/* One more word: a draw that does not fit may be looked for beyond n. */
	dl_cleanup(dl_freep) uint64_t *at = calloc(mask_of(n) / BITS + 1, sizeof(*at));
	struct watched w = { .at = at };
	uint32_t state[MT19937_ABREAST][N], draws;
	size_t watched;

	if (!at)
		return -ENOMEM;
	watched = watch(&w, first, count, DL_MIN(n / 4, NUMPY_FIRST_MOST));
	if (watched < NUMPY_FIRST_LEAST)
		return 0;
	draws = (uint32_t)DL_MIN((uint64_t)CERTAINTY * n / watched, (uint64_t)n / 2);
	for (; from < to && !atomic_load_explicit(stop, memory_order_relaxed);
	     from += MT19937_ABREAST) {
		mt19937_abreast(from, state);
		for (uint32_t l = 0; l < DL_MIN(to - from, MT19937_ABREAST); l++) {
			if (stay(&w, n, n - draws, state[l]))
				hit(context, from + l);
			move_back(&w);
		}
	}
	return 0;
}
