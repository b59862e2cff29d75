#include "prefetch/order/std_shuffle.h"

#include "prefetch/order/mt19937.h"

/* --- std::mt19937_64: Nishimura 2000, "Tables of 64-bit Mersenne Twisters" -------------- */

#define N 312u
#define M 156u
#define UPPER (~UINT64_C(0) << 31)

struct mt64 {
	uint64_t state[N];
	unsigned next;
};

static void mt64_seed(struct mt64 *g, uint64_t seed)
{
	g->state[0] = seed;
	for (unsigned i = 1; i < N; i++)
		g->state[i] = UINT64_C(6364136223846793005) *
			(g->state[i - 1] ^ g->state[i - 1] >> 62) + i;
	g->next = N;
}

static uint64_t mt64_word(struct mt64 *g)
{
	uint64_t *s = g->state, y;

	if (g->next == N) {
		for (unsigned i = 0; i < N; i++) {
			y = (s[i] & UPPER) | (s[(i + 1) % N] & ~UPPER);
			s[i] = s[(i + M) % N] ^ y >> 1 ^
				(y & 1 ? UINT64_C(0xb5026f5aa96619e9) : 0);
		}
		g->next = 0;
	}
	y = s[g->next++];
	y ^= y >> 29 & UINT64_C(0x5555555555555555);
	y ^= y << 17 & UINT64_C(0x71d67fffeda60000);
	y ^= y << 37 & UINT64_C(0xfff7eee000000000);
	return y ^ y >> 43;
}

/* --- A number below a bound ------------------------------------------------------------- */

struct source {
	enum { MULTIPLY, DIVIDE, WIDE } how;
	struct mt19937 narrow;
	struct mt64 wide;
};

/* Lemire 2019, "Fast random integer generation in an interval". */
static uint64_t multiplied(struct source *g, uint32_t bound)
{
	uint64_t product = mt19937_word(&g->narrow) * (uint64_t)bound;

	if ((uint32_t)product < bound)
		while ((uint32_t)product < -bound % bound)
			product = mt19937_word(&g->narrow) * (uint64_t)bound;
	return product >> 32;
}

static uint64_t multiplied_wide(struct source *g, uint64_t bound)
{
	unsigned __int128 product = (unsigned __int128)mt64_word(&g->wide) * bound;

	if ((uint64_t)product < bound)
		while ((uint64_t)product < -bound % bound)
			product = (unsigned __int128)mt64_word(&g->wide) * bound;
	return (uint64_t)(product >> 64);
}

static uint64_t divided(struct source *g, uint32_t bound)
{
	uint32_t scale = UINT32_MAX / bound, word;

	do
		word = mt19937_word(&g->narrow);
	while (word >= bound * scale);
	return word / scale;
}

static uint64_t below(struct source *g, uint64_t bound)
{
	switch (g->how) {
	case MULTIPLY:
		return multiplied(g, (uint32_t)bound);
	case DIVIDE:
		return divided(g, (uint32_t)bound);
	case WIDE:
		break;
	}
	return multiplied_wide(g, bound);
}

/* --- The shuffle ------------------------------------------------------------------------ */

static void swap(uint32_t *at, uint64_t i, uint64_t k)
{
	uint32_t kept = at[i];

	at[i] = at[k];
	at[k] = kept;
}

static void shuffle(struct source *g, uint32_t n, uint32_t *at)
{
	uint64_t most = g->how == WIDE ? UINT64_MAX : UINT32_MAX, i = 1;

	if (n < 2)
		return;
	if (most / n < n) {
		for (; i < n; i++)
			swap(at, i, below(g, i + 1));
		return;
	}
	if (n % 2 == 0)
		swap(at, i++, below(g, 2));
	for (; i < n; i += 2) {
		uint64_t two = below(g, (i + 1) * (i + 2));

		swap(at, i, two / (i + 2));
		swap(at, i + 1, two % (i + 2));
	}
}

void std_shuffle(enum std_shuffle how, uint32_t seed, uint64_t epoch, uint32_t n, uint32_t *ret)
{
	bool each = how >= STD_SHUFFLE_EACH;
	struct source g = { .how = how == STD_SHUFFLE ? MULTIPLY
			    : how == STD_SHUFFLE_EACH ? WIDE : DIVIDE };

	for (uint32_t i = 0; i < n; i++)
		ret[i] = i;
	for (uint64_t number = 1; number <= (each ? epoch + 1 : 1); number++) {
		if (g.how == WIDE)
			mt64_seed(&g.wide, seed + (number << 32));
		else
			mt19937_seed(&g.narrow, (uint32_t)(seed + (each ? number : 0)));
		shuffle(&g, n, ret);
	}
}
