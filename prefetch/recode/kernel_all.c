#include "prefetch/recode/kernel_parts.h"

#define THIS KERNEL_JOIN(kernel, KERNEL)
extern const struct kernel THIS;

const struct kernel THIS = {
	.name = KERNEL_NAME(KERNEL), .pixels = pixels_of, .blocks = blocks_of,
	.halve = halve_of, .scale = scale_of, .within = within_of, .quantise = quantise_of,
	.error = error_of, .count = count_of, .measure = measure_of, .compare = compare_of,
};
