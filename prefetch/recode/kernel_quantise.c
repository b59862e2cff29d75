/* Levels for coefficients: each rounded, then lowered where that saves more bits than it costs in
 * errors.  Backwards through a block, so that what follows a level is known.
 */
#include "prefetch/recode/kernel_parts.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "prefetch/recode/zigzag.h"

#define LANES 16
typedef float line __attribute__((vector_size(4 * LANES)));
typedef int32_t whole __attribute__((vector_size(4 * LANES)));
typedef int16_t shorts __attribute__((vector_size(2 * LANES)));

typedef uint32_t wholes __attribute__((vector_size(4 * LANES)));

#define RUNS 16
#define SIZES 16                       /* 0 to 11; a power of two is addressed with less */
#define LONG_RUN 11                    /* bits for 16 zeros more */

/* About as in the tables of Annex K, for sizes from 1. */
#define RUNS_AND(m, ROW) \
	ROW(m, 3, 4, 6, 8, 10, 13, 15, 18, 25, 26, 27), \
	ROW(m, 5, 7, 10, 13, 16, 22, 23, 24, 25, 26, 27), \
	ROW(m, 6, 10, 13, 16, 21, 22, 23, 24, 25, 26, 27), \
	ROW(m, 7, 11, 15, 20, 21, 22, 23, 24, 25, 26, 27), \
	ROW(m, 7, 12, 19, 20, 21, 22, 23, 24, 25, 26, 27), \
	ROW(m, 8, 13, 19, 20, 21, 22, 23, 24, 25, 26, 27), \
	ROW(m, 8, 14, 19, 20, 21, 22, 23, 24, 25, 26, 27), \
	ROW(m, 9, 14, 19, 20, 21, 22, 23, 24, 25, 26, 27), \
	ROW(m, 10, 17, 19, 20, 21, 22, 23, 24, 25, 26, 27), \
	ROW(m, 10, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27), \
	ROW(m, 10, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27), \
	ROW(m, 11, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27), \
	ROW(m, 11, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27), \
	ROW(m, 12, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27), \
	ROW(m, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27), \
	ROW(m, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27)
#define ALL_RUNS(ROW) { \
	RUNS_AND(0, ROW), RUNS_AND(LONG_RUN, ROW), \
	RUNS_AND(2 * LONG_RUN, ROW), RUNS_AND(3 * LONG_RUN, ROW), \
}
#define BITS(m, a, b, c, d, e, f, g, h, i, j, k) \
	{ 0, a + m, b + m, c + m, d + m, e + m, f + m, g + m, h + m, i + m, j + m, k + m }
#define LESS(m, a, b, c, d, e, f, g, h, i, j, k) \
	{ 0, a + m, b - a, c - b, d - c, e - d, f - e, g - f, h - g, i - h, j - i, k - j }

/* [run of zeros before it][size]: bits of a level; and those it saves with a size less.  Size 0, no
 * level, has none.
 */
static const uint8_t bits[4 * RUNS][SIZES] = ALL_RUNS(BITS);
static const uint8_t less[4 * RUNS][SIZES] = ALL_RUNS(LESS);

/* In zigzag order, a bit for each of 64 that is not 0. */
static inline uint64_t nonzero(const int16_t *at)
{
	uint64_t found = 0;

	for (unsigned i = 0; i < 8; i += 2) {
		unsigned rows = 0;
#ifdef __SSE2__
		__m128i a = _mm_loadu_si128((const __m128i *)(at + 8 * i));
		__m128i b = _mm_loadu_si128((const __m128i *)(at + 8 * i + 8));

		rows = ~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_packs_epi16(a, b),
								   _mm_setzero_si128()));
#else
		for (unsigned k = 0; k < 16; k++)
			rows |= (unsigned)(at[8 * i + k] != 0) << k;
#endif
		found |= zigzag_of_row[i][rows & 255] | zigzag_of_row[i + 1][rows >> 8 & 255];
	}
	return found;
}

static inline unsigned size_of(unsigned level)
{
	return 32u - (unsigned)__builtin_clz(level);
}

/* A block's levels without their signs, as they are before some are made one less. */
struct rounded {
	int16_t level[64];
	int16_t bound[64];             /* it is made less if that saves so many bits */
	int16_t size[64];              /* of the level */
	int16_t less[64];              /* the same, if the level that is one less has another */
};

static inline void put(whole v, int16_t *to)
{
	shorts s = __builtin_convertvector(v, shorts);

	memcpy(to, &s, sizeof(s));
}

static inline void round_block(const struct quantiser *q, const int16_t *c, float per_price,
			       struct rounded *to)
{
	for (unsigned k = 0; k < 64; k += LANES) {
		shorts v, sign;
		line a, step, inverse, weight, level, worse;
		wholes parts;
		whole l, size;

		memcpy(&v, c + k, sizeof(v));
		memcpy(&step, q->step + k, sizeof(step));
		memcpy(&inverse, q->inverse + k, sizeof(inverse));
		memcpy(&weight, q->weight + k, sizeof(weight));
		sign = v >> 15;
		a = __builtin_convertvector((v ^ sign) - sign, line);
		l = __builtin_convertvector(a * inverse + QUANTISE_ROUND, whole);
		level = __builtin_convertvector(l, line);
		worse = weight * (2 * a + step - 2 * level * step);
		/* A float's exponent, 126 more than the size; no fraction: a power of two. */
		memcpy(&parts, &level, sizeof(parts));
		size = (whole)(parts >> 23) - 126;
		put(l, to->level + k);
		put(__builtin_convertvector(worse * per_price + 1, whole), to->bound + k);
		put(size, to->size + k);
		put(size & (whole)((parts << 9) == 0), to->less + k);
	}
}

static inline void put_signs(const int16_t *level, const int16_t *c, int16_t *to)
{
	for (unsigned k = 0; k < 64; k += LANES) {
		shorts v, l;

		memcpy(&v, c + k, sizeof(v));
		memcpy(&l, level + k, sizeof(l));
		v >>= 15;
		l = (l ^ v) - v;
		memcpy(to + k, &l, sizeof(l));
	}
}

static inline size_t highest(uint64_t bits_of)
{
	return 63 ^ (size_t)__builtin_clzll(bits_of);
}

#define NEVER 10000                    /* saved */

/* left: which are not 0, in zigzag order.  No branch depends on what is decided, since it would be
 * guessed wrong too often; and little of it has to wait for the level before.
 */
static inline void lower(struct rounded *r, uint64_t left)
{
	const uint8_t *flat = bits[0];
	size_t next = 64 * SIZES;      /* zigzag position and size of the level that follows */
	size_t z;

	left |= 1;                     /* DC, where it ends */
	while ((z = highest(left))) {
		size_t k = natural_order[z], before, this;
		int level = r->level[k], missing, zeros, gone, by;

		left ^= UINT64_C(1) << z;
		before = highest(left);
		missing = r->bound[k] - less[z - before - 1][r->less[k]];
		by = (level > 1) & (missing <= 0);
		missing = level == 1 ? missing : NEVER;
		this = z * SIZES + (size_t)(r->size[k] - by);
		/* Without it, the zeros before the next are more. */
		zeros = flat[next - (z + 1) * SIZES] - flat[next - (before + 1) * SIZES];
		gone = zeros >= missing;
		r->level[k] = (int16_t)(level - by - gone);
		next = gone ? next : this;
	}
}

static inline void one_block(const struct quantiser *q, const int16_t *c, float price,
			     int16_t *levels)
{
	struct rounded r;

	round_block(q, c, 1 / price, &r);
	r.level[0] = (int16_t)((float)abs(c[0]) * q->inverse[0] + 0.5f);
	lower(&r, nonzero(r.level));
	put_signs(r.level, c, levels);
}

void quantise_of(const struct quantiser *q, const int16_t *from, const float *price, size_t count,
		 int16_t *levels)
{
	for (size_t i = 0; i < count; i++)
		one_block(q, from + 64 * i, price[i], levels + 64 * i);
}

static inline whole whole_at(const int16_t *from)
{
	shorts v;

	memcpy(&v, from, sizeof(v));
	return __builtin_convertvector(v, whole);
}

#define AT_ONCE ((size_t)64)           /* blocks whose squares, of 2^20 at most, a lane can hold */

uint64_t error_of(const int16_t *from, const int16_t *levels, const uint16_t steps[64],
		  size_t count)
{
	uint64_t all = 0;
	whole step[64 / LANES];

	for (unsigned k = 0; k < 64; k++)
		step[k / LANES][k % LANES] = steps[k];
	for (size_t i = 0; i < count; i += AT_ONCE) {
		size_t end = DL_MIN(count, i + AT_ONCE);
		whole sum = { 0 };

		for (size_t k = 64 * i; k < 64 * end; k += LANES) {
			whole d = whole_at(from + k) - whole_at(levels + k)
				* step[k / LANES % (64 / LANES)];

			sum += d * d;
		}
		for (unsigned k = 0; k < LANES; k++)
			all += (uint64_t)sum[k];
	}
	return all;
}

void count_of(const int16_t *levels, size_t count, uint32_t *symbols)
{
	for (size_t i = 0; i < count; i++, levels += 64) {
		uint64_t left = nonzero(levels) & ~UINT64_C(1);
		unsigned before = 0;

		symbols[0] += left >> 63 == 0;
		while (left) {
			unsigned z = (unsigned)__builtin_ctzll(left), run = z - before - 1;
			unsigned level = (unsigned)abs(levels[natural_order[z]]);

			left &= left - 1;
			symbols[0xf0] += run / RUNS;
			symbols[run % RUNS << 4 | size_of(level)]++;
			before = z;
		}
	}
}
