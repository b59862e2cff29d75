/* Levels for coefficients: each rounded, and a 1 left out where that saves more bits than it costs
 * in errors.
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

#define RUNS 16

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

static inline line line_at(const float *from)
{
	line v;

	memcpy(&v, from, sizeof(v));
	return v;
}

static inline void one_block(const struct quantiser *q, const int16_t *c, float price,
			     int16_t *levels)
{
	for (unsigned k = 0; k < 64; k += LANES) {
		shorts v, sign;
		line steps;
		whole level;

		memcpy(&v, c + k, sizeof(v));
		sign = v >> 15;
		steps = __builtin_convertvector((v ^ sign) - sign, line) * line_at(q->inverse + k);
		level = __builtin_convertvector(steps + line_at(q->round + k), whole);
		level &= (level != 1) | (steps > 0.5f + line_at(q->dead + k) * price);
		v = (__builtin_convertvector(level, shorts) ^ sign) - sign;
		memcpy(levels + k, &v, sizeof(v));
	}
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
