/* What a pattern chooses. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "base/pattern.h"

struct match_case { char pattern[16], path[24]; bool matches; };

ParameterizedTestParameters(pattern, matches)
{
	static struct match_case cases[] = {
		{ "*.jpg", "a.jpg", true }, { "*.jpg", "train/dog/a.jpg", true },
		{ "*.jpg", "a.jpeg", false }, { "dog", "train/dog/a.jpg", true },
		{ "dog", "train/dogs/a.jpg", false }, { "d?g", "train/dog/a.jpg", true },
		{ "/dog", "train/dog/a.jpg", false }, { "/train", "train/dog/a.jpg", true },
		{ "train/dog", "train/dog/a.jpg", true }, { "train/*", "train/dog/a.jpg", true },
		{ "train/*.jpg", "train/dog/a.jpg", false },
		{ "train/*/a*", "train/dog/a.jpg", true },
		{ "dog/a.jpg", "train/dog/a.jpg", false }, { "train/**", "train/dog/a.jpg", true },
		{ "train/**", "val/dog/a.jpg", false }, { "**/dog/a.jpg", "train/dog/a.jpg", true },
		{ "**", "train/dog/a.jpg", true }, { "*", ".hidden", true },
		{ "**/", "x", false },
	};
	return cr_make_param_array(struct match_case, cases, DL_COUNT(cases));
}

ParameterizedTest(struct match_case *k, pattern, matches)
{
	cr_expect_eq(pattern_matches(k->pattern, k->path), k->matches, "%s on %s", k->pattern,
		     k->path);
}

Test(pattern, any_of_several)
{
	cr_expect(pattern_any("val\ntrain/dog\n", "train/dog/1"));
	cr_expect(pattern_any("val\ntrain/dog", "train/dog/1"));
	cr_expect(!pattern_any("val\ntrain/dog\n", "train/cat/1"));
	cr_expect(!pattern_any("", "train/cat/1"));
}

Test(pattern, what_is_none_is_refused)
{
	const char *const bad[] = { "", "a\nb", "a**", "a/**/b", "**a", "***" };
	const char *const good[] = { "**", "**/a", "a/**", "*", "a b", "[ab]*", "/a" };

	for (unsigned i = 0; i < DL_COUNT(bad); i++)
		cr_expect(pattern_problem(bad[i]), "%s", bad[i]);
	for (unsigned i = 0; i < DL_COUNT(good); i++)
		cr_expect_null(pattern_problem(good[i]), "%s", good[i]);
}
