#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "prefetch/order/list_file.h"

#define SAMPLES 10u

/* The samples are "a" to "j", and "n\nl" is the last one, too. */
static int resolve(void *context, const char *path)
{
	(void)context;
	if (strncmp(path, "./", 2) == 0)
		path += 2;
	if (strcmp(path, "n\nl") == 0)
		return 9;
	return path[0] >= 'a' && path[0] <= 'j' && !path[1] ? path[0] - 'a' : -ENOENT;
}

static int parse(const char *text, struct list_epochs *ret, char error[160])
{
	return list_file_parse((struct bytes){ text, strlen(text) }, SAMPLES, resolve, NULL, ret,
			       error);
}

/* "0 1 2|2 0": the epochs */
static void write_out(const struct list_epochs *l, char *to, size_t size)
{
	size_t at = 0;

	to[0] = 0;
	for (size_t e = 0; e < l->count; e++)
		for (uint32_t i = 0; i < l->at[e]->length; i++)
			at += (size_t)snprintf(to + at, size - at, "%s%u",
					       i ? " " : e ? "|" : "", l->at[e]->at[i]);
}

Test(list_file, reads_epochs)
{
	static const struct { const char *why, *text, *epochs; } cases[] = {
		{ "indices", "0\n1\n2\n", "0 1 2" },
		{ "no newline at the end", "0\n1", "0 1" },
		{ "CRLF", "3\r\n4\r\n", "3 4" },
		{ "paths", "a\n./c\nb\n", "0 2 1" },
		{ "escapes", "n\\nl\na\n", "9 0" },
		{ "comments", "# first\n5\n# then\n6\n", "5 6" },
		{ "epochs by a line", "0\n1\n---\n1\n0\n", "0 1|1 0" },
		{ "epochs by an empty line", "0\n1\n\n1\n0\n", "0 1|1 0" },
		{ "no empty epochs", "\n\n0\n---\n\n---\n1\n\n", "0|1" },
		{ "samples that repeat", "4\n4\n4\n2\n4\n", "4 4 4 2 4" },
		{ "leading zeros", "007\n", "7" },
	};

	for (size_t i = 0; i < DL_COUNT(cases); i++) {
		struct list_epochs l = { 0 };
		char error[160], text[200];

		cr_assert_eq(parse(cases[i].text, &l, error), 0, "%s: %s", cases[i].why, error);
		write_out(&l, text, sizeof(text));
		cr_assert_str_eq(text, cases[i].epochs, "%s", cases[i].why);
		list_epochs_fini(&l);
		cr_assert_eq(l.count, 0u);
	}
}

Test(list_file, refuses_and_names_the_line)
{
	static const struct { const char *why, *text, *line; } cases[] = {
		{ "nothing", "", "no entries" },
		{ "only comments", "# a\n# b\n", "no entries" },
		{ "an index too high", "0\n10\n", "line 2:" },
		{ "far too high", "0\n99999999999999999999\n", "line 2:" },
		{ "negative", "0\n-1\n", "line 2:" },
		{ "a path after indices", "1\n2\na\n", "line 3:" },
		{ "an index after paths", "a\n3\n", "line 2:" },
		{ "no such sample", "# x\na\nz\n", "line 3:" },
		{ "a broken escape", "a\\q\n", "line 1: \"a\\q\" is no name: a backslash in one is "
		  "written \\\\" },
		{ "of the source", "/x/a\n", "in this dataset; paths are those below the mount" },
		{ "half an escape", "a\\\n", "line 1:" },
		{ "a zero byte", "a\\x00\n", "line 1:" },
	};

	for (size_t i = 0; i < DL_COUNT(cases); i++) {
		struct list_epochs l = { 0 };
		char error[160] = "";

		cr_assert_eq(parse(cases[i].text, &l, error), -EINVAL, "%s", cases[i].why);
		cr_assert(strlen(error) > 0, "%s", cases[i].why);
		cr_assert_not_null(strstr(error, cases[i].line), "%s: %s", cases[i].why, error);
		cr_assert_null(l.at, "%s", cases[i].why);
	}
}

/* A file with an empty line between its entries, say: each is an epoch. */
Test(list_file, has_a_limit_of_epochs)
{
	size_t len = 0, most = (size_t)ORDER_EPOCHS_MAX;
	char *text = malloc(3 * (most + 1) + 1), error[160];
	struct list_epochs l = { 0 };

	cr_assert(text);
	for (size_t i = 0; i < most; i++, len += 3)
		memcpy(text + len, "5\n\n", 4);
	cr_assert_eq(parse(text, &l, error), 0, "%s", error);
	cr_assert_eq(l.count, most);
	list_epochs_fini(&l);
	memcpy(text + len, "5\n\n", 4);
	cr_assert_eq(parse(text, &l, error), -EINVAL);
	cr_assert_str_eq(error, "line 2000002: more than 1000000 epochs; an empty line ends one");
	free(text);
}
