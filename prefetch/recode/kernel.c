#include "prefetch/recode/kernel.h"

extern const struct kernel kernel_portable;
#ifdef __x86_64__
extern const struct kernel kernel_avx2, kernel_avx512;
#endif

/* The slowest first. */
const struct kernel *kernel_number(unsigned i)
{
#ifdef __x86_64__
	if (i > 0 && !(__builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")
		       && __builtin_cpu_supports("lzcnt")))
		return NULL;
	if (i == 1 && __builtin_cpu_supports("avx2"))
		return &kernel_avx2;
	if (i == 2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
	    && __builtin_cpu_supports("avx512vl"))
		return &kernel_avx512;
#endif
	return i == 0 ? &kernel_portable : NULL;
}

const struct kernel *kernel_best(void)
{
	const struct kernel *best = NULL, *next;

	for (unsigned i = 0; (next = kernel_number(i)); i++)
		best = next;
	return best;
}
