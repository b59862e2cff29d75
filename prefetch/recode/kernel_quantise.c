/* Levels for coefficients: each rounded, then lowered where that saves more bits than it costs in
 * errors.  Backwards through a block, so that what follows a level is known.
 */
#include "prefetch/recode/kernel_parts.h"

#include <string.h>

#include "prefetch/recode/zigzag.h"

typedef int16_t short8 __attribute__((vector_size(16)));
typedef int8_t signs8 __attribute__((vector_size(8)));

#define RUNS 16
#define SIZES 12

/* Bits of a level of `size` bits after `run` zeros, about: as in the tables of Annex K. */
static const uint8_t bits[RUNS][SIZES] = {
	{ 4, 3, 4, 6, 8, 10, 13, 15, 18, 25, 26, 27 },
	{ 11, 5, 7, 10, 13, 16, 22, 23, 24, 25, 26, 27 },
	{ 11, 6, 10, 13, 16, 21, 22, 23, 24, 25, 26, 27 },
	{ 11, 7, 11, 15, 20, 21, 22, 23, 24, 25, 26, 27 },
	{ 11, 7, 12, 19, 20, 21, 22, 23, 24, 25, 26, 27 },
	{ 11, 8, 13, 19, 20, 21, 22, 23, 24, 25, 26, 27 },
	{ 11, 8, 14, 19, 20, 21, 22, 23, 24, 25, 26, 27 },
	{ 11, 9, 14, 19, 20, 21, 22, 23, 24, 25, 26, 27 },
	{ 11, 10, 17, 19, 20, 21, 22, 23, 24, 25, 26, 27 },
	{ 11, 10, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27 },
	{ 11, 10, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27 },
	{ 11, 11, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27 },
	{ 11, 11, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27 },
	{ 11, 12, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27 },
	{ 11, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27 },
	{ 11, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27 },
};
#define LONG_RUN 11                    /* bits for 16 zeros more */

static inline unsigned price_of(unsigned run, unsigned size)
{
	return bits[run % RUNS][size] + run / RUNS * LONG_RUN;
}

/* In zigzag order, a bit for each coefficient that is not below `least`. */
static inline uint64_t candidates(const int16_t *c, const int16_t *least)
{
	uint64_t found = 0;

	for (unsigned i = 0; i < 8; i++) {
		short8 v, l, sign;
		signs8 over;
		uint64_t eight;

		memcpy(&v, c + 8 * i, sizeof(v));
		memcpy(&l, least + 8 * i, sizeof(l));
		sign = v >> 15;
		over = __builtin_convertvector(((v ^ sign) - sign) >= l, signs8);
		memcpy(&eight, &over, sizeof(eight));
		/* One bit of each byte, gathered in the highest byte. */
		eight &= UINT64_C(0x8040201008040201);
		eight = eight * UINT64_C(0x0101010101010101) >> 56;
		found |= zigzag_of_row[i][eight];
	}
	return found;
}

static inline unsigned size_of(unsigned level)
{
	return 32u - (unsigned)__builtin_clz(level);
}

static inline int16_t with_sign(unsigned level, int16_t of)
{
	return (int16_t)(of < 0 ? -(int)level : (int)level);
}

/* The level that comes next in zigzag order; none: size 0. */
struct next {
	unsigned at, size;
};

/* Bits that are saved if the level at z, of 1, becomes 0. */
static inline unsigned saved_by_zero(unsigned z, unsigned before, struct next n)
{
	unsigned saved = price_of(z - before - 1, 1);

	if (n.size)
		saved += price_of(n.at - z - 1, n.size) - price_of(n.at - before - 1, n.size);
	return saved;
}

/* Each rounded by itself, without its sign. */
static inline void round_block(const struct quantiser *q, const int16_t *c, int32_t level[64],
			       float size[64])
{
	for (unsigned k = 0; k < 64; k++) {
		float a = (float)abs((int)c[k]);

		size[k] = a;
		level[k] = (int32_t)(a * q->inverse[k] + QUANTISE_ROUND);
	}
}

static inline void one_block(const struct quantiser *q, const int16_t *c, float price,
			     int16_t *levels)
{
	uint64_t left = candidates(c, q->least) & ~UINT64_C(1);
	struct next n = { 64, 0 };
	int32_t rounded[64];
	float a[64];

	memset(levels, 0, 64 * sizeof(*levels));
	levels[0] = with_sign((unsigned)((float)abs(c[0]) * q->inverse[0] + 0.5f), c[0]);
	if (left)
		round_block(q, c, rounded, a);
	while (left) {
		unsigned z = 63 - (unsigned)__builtin_clzll(left), k = natural_order[z];
		unsigned level = (unsigned)rounded[k], before, size;

		left ^= UINT64_C(1) << z;
		before = left ? 63 - (unsigned)__builtin_clzll(left) : 0;
		if (level <= 1) {
			float worse = q->weight[k] * (2 * a[k] - q->step[k]);

			if (worse < price * (float)(int)saved_by_zero(z, before, n))
				continue;
			level = size = 1;
		} else if (size = size_of(level), (level & (level - 1)) == 0) {
			unsigned run = z - before - 1;
			float half = (float)(int)(2 * level - 1) * q->step[k];
			int saved = (int)(price_of(run, size) - price_of(run, size - 1));

			if (q->weight[k] * (2 * a[k] - half) < price * (float)saved) {
				level--;
				size--;
			}
		}
		levels[k] = with_sign(level, c[k]);
		n = (struct next){ z, size };
	}
}

void quantise_of(const struct quantiser *q, const int16_t *from, const float *price, size_t count,
		 int16_t *levels)
{
	for (size_t i = 0; i < count; i++)
		one_block(q, from + 64 * i, price[i], levels + 64 * i);
}

void count_of(const int16_t *levels, size_t count, uint32_t *symbols)
{
	static const int16_t ones[64] = { [0 ... 63] = 1 };

	for (size_t i = 0; i < count; i++, levels += 64) {
		uint64_t left = candidates(levels, ones) & ~UINT64_C(1);
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
