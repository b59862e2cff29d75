/* The parts of a kernel, each named after the instruction set it is compiled for. */
#pragma once
#include "prefetch/recode/kernel.h"

#define KERNEL_JOIN_(a, b) a##_##b
#define KERNEL_JOIN(a, b) KERNEL_JOIN_(a, b)
#define KERNEL_NAME_(a) #a
#define KERNEL_NAME(a) KERNEL_NAME_(a)

#define pixels_of KERNEL_JOIN(pixels_of, KERNEL)
#define blocks_of KERNEL_JOIN(blocks_of, KERNEL)
#define halve_of KERNEL_JOIN(halve_of, KERNEL)
#define scale_of KERNEL_JOIN(scale_of, KERNEL)
#define within_of KERNEL_JOIN(within_of, KERNEL)
#define quantise_of KERNEL_JOIN(quantise_of, KERNEL)
#define error_of KERNEL_JOIN(error_of, KERNEL)
#define count_of KERNEL_JOIN(count_of, KERNEL)
#define measure_of KERNEL_JOIN(measure_of, KERNEL)
#define compare_of KERNEL_JOIN(compare_of, KERNEL)

void pixels_of(const int16_t *blocks, const float *steps, uint32_t columns, uint8_t *to,
	       size_t stride);
void blocks_of(const float *from, size_t stride, uint32_t columns, int16_t *to);
float halve_of(const int16_t *above, const int16_t *below, uint32_t columns, int16_t *to);
bool scale_of(const int16_t *from, const uint16_t steps[64], const int16_t most[64], size_t count,
	      int16_t *to);
bool within_of(const int16_t *blocks, size_t count, float most);
void quantise_of(const struct quantiser *q, const int16_t *from, const float *price, size_t count,
		 int16_t *levels);
uint64_t error_of(const int16_t *from, const int16_t *levels, const uint16_t steps[64],
		  size_t count);
void count_of(const int16_t *levels, size_t count, uint32_t *symbols);
void measure_of(const uint8_t *p, size_t stride, uint32_t width, float *work, float *mean,
		float *square);
float compare_of(const uint8_t *p, const uint8_t *q, size_t stride, uint32_t width,
		 const float *mean, const float *square, float *work);
