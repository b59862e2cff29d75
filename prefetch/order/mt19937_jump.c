/* Far ahead in MT19937, in a few milliseconds wherever that is: Haramoto, Matsumoto, Nishimura,
 * Panneton, L'Ecuyer, "Efficient Jump Ahead for F2-Linear Random Number Generators", 2008.
 *
 * Each bit of the words y[1], y[2], ... obeys one linear recurrence, whose polynomial p of degree
 * 19937 is known.  With t^J mod p = sum of g[j] t^j the word y[i + J] is the sum of the y[i + j]
 * with g[j] = 1.  Polynomials over F2 are kept as bits, the lowest power first.
 */
#include <string.h>

#include "prefetch/order/mt19937.h"

#define N 624u
#define M 397u
#define A 0x9908b0dfu
#define DEGREE 19937u
#define WORDS 313u                     /* of 64 bits */
#define TERMS 200u                     /* p has fewer */

static void add_word(uint64_t *to, unsigned at, uint64_t word)
{
	to[at / 64] ^= word << at % 64;
	if (at % 64)
		to[at / 64 + 1] ^= word >> (64 - at % 64);
}

static uint64_t word_at(const uint64_t *from, unsigned at)
{
	uint64_t word = from[at / 64] >> at % 64;

	return at % 64 ? word | from[at / 64 + 1] << (64 - at % 64) : word;
}

static void add_times(uint64_t *to, const uint64_t *p, unsigned power)
{
	for (unsigned i = 0; i < WORDS; i++)
		if (p[i])
			add_word(to, power + 64 * i, p[i]);
}

/* *= t^a + t^b, + one */
static void times_sum(uint64_t p[2 * WORDS], unsigned a, unsigned b, bool one)
{
	uint64_t product[2 * WORDS] = { one };

	add_times(product, p, a);
	add_times(product, p, b);
	memcpy(p, product, sizeof(product));
}

/* The powers in p but the highest: Matsumoto and Nishimura 1998, appendix A. */
static unsigned recurrence(unsigned ret[TERMS])
{
	uint64_t p[2 * WORDS] = { 1 };
	unsigned count = 0;

	for (unsigned i = 0; i < 31; i++)
		times_sum(p, N - 1, M - 1, A >> i & 1);
	times_sum(p, N, M, A >> 31);
	for (unsigned i = 0; i < DEGREE; i++)
		if (p[i / 64] >> i % 64 & 1)
			ret[count++] = i;
	return count;
}

/* The highest power but one is more than 64 below: a word of 64 bits is taken out at once. */
static void reduce(uint64_t p[2 * WORDS], const unsigned *terms, unsigned count)
{
	for (unsigned i = WORDS; i-- > 0;) {
		unsigned at = DEGREE + 64 * i;
		uint64_t word = word_at(p, at);

		add_word(p, at, word);
		for (unsigned k = 0; word && k < count; k++)
			add_word(p, at - DEGREE + terms[k], word);
	}
}

/* Each bit to twice its place. */
static uint64_t spread(uint32_t bits)
{
	uint64_t x = bits;

	x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
	x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	x = (x | x << 2) & UINT64_C(0x3333333333333333);
	return (x | x << 1) & UINT64_C(0x5555555555555555);
}

static void square(uint64_t p[2 * WORDS])
{
	for (unsigned i = WORDS; i-- > 0;) {
		uint64_t word = p[i];

		p[2 * i + 1] = spread((uint32_t)(word >> 32));
		p[2 * i] = spread((uint32_t)word);
	}
}

/* t^power mod p */
static void power_of_t(uint64_t power, uint64_t ret[2 * WORDS])
{
	unsigned terms[TERMS], count = recurrence(terms);

	memset(ret, 0, 2 * WORDS * sizeof(*ret));
	ret[0] = 1;
	for (unsigned bit = 64; bit-- > 0;) {
		square(ret);
		for (unsigned i = 2 * WORDS; power >> bit & 1 && i-- > 0;)
			ret[i] = ret[i] << 1 | (i > 0 ? ret[i - 1] >> 63 : 0);
		reduce(ret, terms, count);
	}
}

/* The state begins with a word that was given out, of which only the highest bit counts, so that
 * the next one is a whole word. */
void mt19937_jump(struct mt19937 *g, uint64_t words)
{
	uint32_t y[DEGREE + N], *to = g->state;
	uint64_t sum[2 * WORDS];

	memcpy(y, g->state, sizeof(g->state));
	for (unsigned i = N; i < DL_COUNT(y); i++) {
		uint32_t both = (y[i - N] & 0x80000000u) | (y[i - N + 1] & 0x7fffffffu);

		y[i] = y[i - N + M] ^ both >> 1 ^ (both & 1 ? A : 0);
	}
	power_of_t(g->next + words - 1, sum);
	memset(g->state, 0, sizeof(g->state));
	for (unsigned j = 0; j < DEGREE; j++) {
		if (!(sum[j / 64] >> j % 64 & 1))
			continue;
		for (unsigned i = 0; i < N; i++)
			to[i] ^= y[i + j];
	}
	g->next = 1;
}
