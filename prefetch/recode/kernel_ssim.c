#include "prefetch/recode/kernel_parts.h"

#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#define C1 (0.01f * 255 * 0.01f * 255)
#define C2 (0.03f * 255 * 0.03f * 255)
#define LANES KERNEL_LANES

typedef float line __attribute__((vector_size(4 * LANES)));
typedef int32_t whole __attribute__((vector_size(4 * LANES)));

static const float taps[SSIM_TAPS] = {
	0.00102838f, 0.00759876f, 0.03600077f, 0.10936069f, 0.21300554f, 0.26601172f,
	0.21300554f, 0.10936069f, 0.03600077f, 0.00759876f, 0.00102838f,
};

/* Written out, since compilers take bytes one by one. */
static inline line at_pixels(const uint8_t *p)
{
	whole v;
#if defined __AVX512F__
	__m512i all = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));

	memcpy(&v, &all, sizeof(v));
#elif defined __AVX2__
	__m256i half[2] = { _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)),
			    _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(p + 8))) };

	memcpy(&v, half, sizeof(v));
#else
	for (unsigned i = 0; i < LANES; i++)
		v[i] = p[i];
#endif
	return __builtin_convertvector(v, line);
}

static inline line at(const float *p)
{
	line v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void put(line v, float *to)
{
	memcpy(to, &v, sizeof(v));
}

/* The windows that begin at from[0 … 7]. */
static inline line across(const float *from)
{
	line sum = at(from + 5) * taps[5];

	sum += (at(from) + at(from + 10)) * taps[0];
	sum += (at(from + 1) + at(from + 9)) * taps[1];
	sum += (at(from + 2) + at(from + 8)) * taps[2];
	sum += (at(from + 3) + at(from + 7)) * taps[3];
	sum += (at(from + 4) + at(from + 6)) * taps[4];
	return sum;
}

void measure_of(const uint8_t *p, size_t stride, uint32_t width, float *work, float *mean,
		float *square)
{
	float *means = work, *squares = work + KERNEL_LINE(stride);

	for (uint32_t x = 0; x < width; x += LANES) {
		line m = { 0 }, s = { 0 };

		for (unsigned i = 0; i < SSIM_TAPS; i++) {
			line v = at_pixels(p + i * stride + x), part = v * taps[i];

			m += part;
			s += part * v;
		}
		put(m, means + x);
		put(s, squares + x);
	}
	for (uint32_t x = 0; x < width - SSIM_TAPS + 1; x += LANES) {
		put(across(means + x), mean + x);
		put(across(squares + x), square + x);
	}
}

/* Means of q, q*q and p*q down the 11 rows of each column, each into a line of work. */
static void down(const uint8_t *p, const uint8_t *q, size_t stride, uint32_t width, float *work)
{
	for (uint32_t x = 0; x < width; x += LANES) {
		line m = { 0 }, s = { 0 }, c = { 0 };

		for (unsigned i = 0; i < SSIM_TAPS; i++) {
			line v = at_pixels(q + i * stride + x), part = v * taps[i];

			m += part;
			s += part * v;
			c += part * at_pixels(p + i * stride + x);
		}
		put(m, work + x);
		put(s, work + KERNEL_LINE(stride) + x);
		put(c, work + 2 * KERNEL_LINE(stride) + x);
	}
}

static inline line ssim(line mx, line my, line xx, line yy, line xy)
{
	line both = mx * my, squares = mx * mx + my * my;

	return (2 * both + C1) * (2 * (xy - both) + C2)
		/ ((squares + C1) * (xx + yy - squares + C2));
}

float compare_of(const uint8_t *p, const uint8_t *q, size_t stride, uint32_t width,
		 const float *mean, const float *square, float *work)
{
	uint32_t count = width - SSIM_TAPS + 1;
	line sums = { 0 };
	float sum = 0;

	down(p, q, stride, width, work);
	for (uint32_t x = 0; x < count; x += LANES) {
		line v = ssim(at(mean + x), across(work + x), at(square + x),
			      across(work + KERNEL_LINE(stride) + x),
			      across(work + 2 * KERNEL_LINE(stride) + x));

		if (x + LANES <= count)
			sums += v;
		else
			for (unsigned i = 0; i < count - x; i++)
				sums[i] += v[i];
	}
	for (unsigned i = 0; i < LANES; i++)
		sum += sums[i];
	return sum;
}
