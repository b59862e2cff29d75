#include "prefetch/recode/kernel.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

extern const struct kernel kernel_portable;
#ifdef __x86_64__
extern const struct kernel kernel_avx2, kernel_avx512;

/* clang before 15 cannot be asked whether there is lzcnt. */
static bool has_bits(void)
{
	unsigned a, b, c, d;

	return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")
		&& __get_cpuid(0x80000001, &a, &b, &c, &d) && c & bit_LZCNT;
}
#endif

/* The slowest first. */
const struct kernel *kernel_number(unsigned i)
{
#ifdef __x86_64__
	if (i > 0 && !has_bits())
		return NULL;
	if (i == 1 && __builtin_cpu_supports("avx2"))
		return &kernel_avx2;
	if (i == 2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
	    && __builtin_cpu_supports("avx512vl"))
		return &kernel_avx512;
#endif
	return i == 0 ? &kernel_portable : NULL;
}

/* Asked once: in a virtual machine a CPUID takes microseconds.  Whichever thread comes first, all
 * find the same.
 */
const struct kernel *kernel_best(void)
{
	static const struct kernel *_Atomic known;
	const struct kernel *best = known, *next;

	if (best)
		return best;
	for (unsigned i = 0; (next = kernel_number(i)); i++)
		best = next;
	known = best;
	return best;
}
