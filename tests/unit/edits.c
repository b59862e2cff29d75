#include <criterion/criterion.h>

#include "base/edits.h"

Test(edits, counts_what_was_mistyped)
{
	static const struct { const char *a, *b; size_t edits; } cases[] = {
		{ "", "", 0 }, { "", "abc", 3 }, { "mount", "mount", 0 },
		{ "mout", "mount", 1 }, { "mountt", "mount", 1 }, { "mounr", "mount", 1 },
		{ "umuont", "umount", 1 }, { "tsats", "stats", 1 }, { "tsast", "stats", 2 },
		{ "memoory", "memory", 1 }, { "abcd", "cdab", 4 }, { "order", "stats", 5 },
		{ "mount", "a word of more than sixty-three letters, which nobody meant to type",
		  SIZE_MAX },
	};

	for (size_t i = 0; i < DL_COUNT(cases); i++) {
		const char *a = cases[i].a, *b = cases[i].b;

		cr_assert_eq(edits(a, b), cases[i].edits, "%s, %s: %zu", a, b, edits(a, b));
		cr_assert_eq(edits(b, a), cases[i].edits, "%s, %s: %zu", b, a, edits(b, a));
	}
}
