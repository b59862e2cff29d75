#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

#include "base/buf.h"

static struct bytes text(const char *t)
{
	return (struct bytes){ t, strlen(t) };
}

static bool holds(const struct buf *b, const char *at, size_t len)
{
	return b->len == len && (len == 0 || memcmp(b->at, at, len) == 0);
}

Test(buf, appends_and_keeps_what_was_there)
{
	dl_cleanup(buf_free) struct buf b = BUF_EMPTY;

	cr_assert_eq(buf_append(&b, "ab", 2), 0);
	cr_assert_eq(buf_append(&b, NULL, 0), 0);
	cr_assert_eq(buf_printf(&b, "%d-%s", 7, "x"), 0);
	for (int i = 0; i < 1000; i++)
		cr_assert_eq(buf_append(&b, "z", 1), 0);
	cr_assert_eq(b.len, 1005u);
	cr_assert_eq(memcmp(b.at, "ab7-xzzz", 8), 0);
	cr_assert_eq(b.at[1004], 'z');
	cr_assert_geq(b.cap, b.len);
}

Test(buf, has_a_nul_after_it_that_is_not_counted)
{
	struct buf b[4] = { BUF_EMPTY };

	cr_assert_eq(buf_append(&b[0], "", 0), 0);
	cr_assert_eq(buf_printf(&b[1], "%s", ""), 0);
	cr_assert_eq(buf_escape(&b[2], text("")), 0);
	cr_assert_eq(buf_unescape(&b[3], text("")), 0);
	for (size_t k = 0; k < DL_COUNT(b); k++) {
		for (size_t i = 0; i < 300; i++) {
			cr_assert_eq(b[k].len, i);
			cr_assert_eq(strlen((char *)b[k].at), i);
			cr_assert_eq(buf_append(&b[k], "x", 1), 0);
		}
		buf_free(&b[k]);
	}
}

Test(buf, refuses_a_size_that_overflows)
{
	dl_cleanup(buf_free) struct buf b = BUF_EMPTY;

	cr_assert_eq(buf_append(&b, "ab", 2), 0);
	cr_assert_eq(buf_reserve(&b, SIZE_MAX), -ENOMEM);
	cr_assert(holds(&b, "ab", 2));
}

Test(buf, moves_its_bytes_out)
{
	struct buf b = BUF_EMPTY, taken;

	cr_assert_eq(buf_printf(&b, "abc"), 0);
	taken = buf_take(&b);
	cr_assert(holds(&taken, "abc", 3));
	cr_assert_null(b.at);
	cr_assert_eq(b.len + b.cap, 0u);
	buf_free(&b);
	buf_free(&taken);
	cr_assert_null(taken.at);
}

struct escape_case {
	char why[40], name[16], text[40];
};

ParameterizedTestParameters(buf, escapes_and_back)
{
	static struct escape_case cases[] = {
		{ "plain names stay",               "a b/c.jpg",  "a b/c.jpg" },
		{ "quotes are not special",         "\"'",        "\"'" },
		{ "letters of C",                   "\a\b\t\n",   "\\a\\b\\t\\n" },
		{ "and the others",                 "\v\f\r",     "\\v\\f\\r" },
		{ "backslash",                      "\\n",        "\\\\n" },
		{ "other controls in two digits",   "\x01\x1f" "0", "\\x01\\x1f0" },
		{ "DEL",                            "\x7f",       "\\x7f" },
		{ "UTF-8 passes",                   "\xc3\xa4",   "\xc3\xa4" },
		{ "so do bytes that are not UTF-8", "\xff\x80",   "\xff\x80" },
		{ "nothing",                        "",           "" },
	};
	return cr_make_param_array(struct escape_case, cases, DL_COUNT(cases));
}

ParameterizedTest(struct escape_case *c, buf, escapes_and_back)
{
	dl_cleanup(buf_free) struct buf there = BUF_EMPTY;
	dl_cleanup(buf_free) struct buf back = BUF_EMPTY;

	cr_assert_eq(buf_escape(&there, text(c->name)), 0);
	cr_assert(holds(&there, c->text, strlen(c->text)), "%s", c->why);
	cr_assert_eq(buf_unescape(&back, text(c->text)), 0, "%s", c->why);
	cr_assert(holds(&back, c->name, strlen(c->name)), "%s", c->why);
}

Test(buf, escapes_a_nul)
{
	dl_cleanup(buf_free) struct buf b = BUF_EMPTY;

	cr_assert_eq(buf_escape(&b, (struct bytes){ "a\0b", 3 }), 0);
	cr_assert(holds(&b, "a\\x00b", 6));
}

Test(buf, refuses_broken_escapes)
{
	static const char *const broken[] = { "\\", "a\\", "\\q", "\\x", "\\x1", "\\xg0", "\\x0g",
					      "\\0" };

	for (size_t i = 0; i < DL_COUNT(broken); i++) {
		dl_cleanup(buf_free) struct buf b = BUF_EMPTY;

		cr_assert_eq(buf_unescape(&b, text(broken[i])), -EINVAL, "%s", broken[i]);
	}
}
