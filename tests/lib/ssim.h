/* SSIM as Wang et al. 2004 have it, one window after the other: slow, and not the program's own. */
#pragma once
#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* Of the first of n values of each pixel.  Both sides are 11 at least. */
static inline double ssim_of(const uint8_t *a, const uint8_t *b, unsigned width, unsigned height,
			     unsigned n)
{
	double taps[11], all = 0, sum = 0, c1 = 0.01 * 255 * 0.01 * 255, c2 = 9 * c1;

	for (int i = 0; i < 11; i++)
		all += taps[i] = exp(-(i - 5) * (i - 5) / (2 * 1.5 * 1.5));
	for (unsigned y = 0; y + 11 <= height; y++)
		for (unsigned x = 0; x + 11 <= width; x++) {
			double p = 0, q = 0, pp = 0, qq = 0, pq = 0;

			for (unsigned i = 0; i < 121; i++) {
				size_t at = ((size_t)(y + i / 11) * width + x + i % 11) * n;
				double w = taps[i / 11] * taps[i % 11] / all / all;
				double u = a[at], v = b[at];

				p += w * u, q += w * v;
				pp += w * u * u, qq += w * v * v, pq += w * u * v;
			}
			sum += (2 * p * q + c1) * (2 * (pq - p * q) + c2)
				/ ((p * p + q * q + c1) * (pp - p * p + qq - q * q + c2));
		}
	return sum / (height - 10) / (width - 10);
}
