#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "config/units.h"

typedef int (*parser)(const char *text, uint64_t *ret);

struct parse_case {
	char text[32];
	int r;
	uint64_t value;
};

static void check(parser parse, const struct parse_case *c)
{
	uint64_t value = 12345;
	int r = parse(c->text, &value);

	cr_assert_eq(r, c->r, "\"%s\": %d", c->text, r);
	cr_assert_eq(value, r < 0 ? 12345 : c->value, "\"%s\": %llu", c->text,
		     (unsigned long long)value);
}

ParameterizedTestParameters(units, reads_sizes)
{
	static struct parse_case cases[] = {
		{ "0", 0, 0 }, { "1", 0, 1 }, { "17B", 0, 17 }, { "8MiB", 0, 8 * MiB },
		{ "8M", 0, 8 * MiB }, { "8MB", 0, 8000000 }, { "64 GiB", 0, 64 * GiB },
		{ "1k", 0, 1024 }, { "1kib", 0, 1024 }, { "1.5GB", 0, 1500000000 },
		{ "1.5KiB", 0, 1536 }, { "0.5T", 0, 512 * GiB }, { "2PiB", 0, 2048 * 1024 * GiB },
		{ "15EiB", 0, 15 * GiB * GiB }, { "1EB", 0, UINT64_C(1000000000000000000) },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "0.0009765625MiB", 0, 1024 },
		{ "16EiB", -ERANGE, 0 }, { "18446744073709551616", -ERANGE, 0 },
		{ "99999999999999999999999GB", -ERANGE, 0 }, { "20000000TB", -ERANGE, 0 },
		{ "", -EINVAL, 0 }, { "MiB", -EINVAL, 0 }, { "-1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 }, { " 1", -EINVAL, 0 }, { "1 ", 0, 1 }, { "1MiBx", -EINVAL, 0 },
		{ "1.MiB", -EINVAL, 0 }, { ".5MiB", -EINVAL, 0 }, { "1.5", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 }, { "0x10", -EINVAL, 0 }, { "1,5MiB", -EINVAL, 0 },
		{ "1MiB 2", -EINVAL, 0 }, { "5m ib", -EINVAL, 0 },
	};
	return cr_make_param_array(struct parse_case, cases, DL_COUNT(cases));
}

ParameterizedTest(struct parse_case *c, units, reads_sizes)
{
	check(units_size, c);
}

#define S UINT64_C(1000000000)

ParameterizedTestParameters(units, reads_times)
{
	static struct parse_case cases[] = {
		{ "0s", 0, 0 }, { "1ns", 0, 1 }, { "3us", 0, 3000 }, { "250ms", 0, S / 4 },
		{ "10 s", 0, 10 * S }, { "1.5s", 0, S + S / 2 }, { "2m", 0, 120 * S },
		{ "12h", 0, 43200 * S }, { "365d", 0, 365 * 86400 * S },
		{ "10", -EINVAL, 0 }, { "10 sec", -EINVAL, 0 }, { "s", -EINVAL, 0 },
		{ "-1s", -EINVAL, 0 }, { "1 h 2 m", -EINVAL, 0 }, { "300000d", -ERANGE, 0 },
	};
	return cr_make_param_array(struct parse_case, cases, DL_COUNT(cases));
}

ParameterizedTest(struct parse_case *c, units, reads_times)
{
	check(units_time, c);
}

ParameterizedTestParameters(units, reads_counts)
{
	static struct parse_case cases[] = {
		{ "0", 0, 0 }, { "64", 0, 64 }, { "007", 0, 7 },
		{ "18446744073709551615", 0, UINT64_MAX }, { "18446744073709551616", -ERANGE, 0 },
		{ "", -EINVAL, 0 }, { "1.0", -EINVAL, 0 }, { "1k", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 }, { "1 ", -EINVAL, 0 }, { "auto", -EINVAL, 0 },
	};
	return cr_make_param_array(struct parse_case, cases, DL_COUNT(cases));
}

ParameterizedTest(struct parse_case *c, units, reads_counts)
{
	check(units_count, c);
}

struct print_case {
	uint64_t value;
	char exact[32], human[32];
};

ParameterizedTestParameters(units, prints_sizes)
{
	static struct print_case cases[] = {
		{ 0, "0", "0 B" }, { 1, "1", "1 B" }, { 999, "999", "999 B" },
		{ 1000, "1KB", "0.98 KiB" }, { 1001, "1001", "0.98 KiB" },
		{ 1024, "1KiB", "1.00 KiB" }, { 8 * MiB, "8MiB", "8.00 MiB" },
		{ 100000000, "100MB", "95.4 MiB" }, { 64 * GiB, "64GiB", "64.0 GiB" },
		{ UINT64_C(8000000000), "8GB", "7.45 GiB" }, { 1536, "1536", "1.50 KiB" },
		{ 1023 * MiB, "1023MiB", "1.00 GiB" }, { 999 * MiB, "999MiB", "999 MiB" },
		{ UINT64_MAX, "18446744073709551615", "16.0 EiB" },
	};
	return cr_make_param_array(struct print_case, cases, DL_COUNT(cases));
}

ParameterizedTest(struct print_case *c, units, prints_sizes)
{
	char buf[32];
	uint64_t again = 0;

	cr_assert_str_eq(units_print_size(c->value, buf), c->exact);
	cr_assert_eq(units_size(buf, &again), 0);
	cr_assert_eq(again, c->value);
	cr_assert_str_eq(units_human_size(c->value, buf), c->human);
}

ParameterizedTestParameters(units, prints_times)
{
	static struct print_case cases[] = {
		{ 0, "0s", "" }, { 1, "1ns", "" }, { 1500, "1500ns", "" },
		{ 250000000, "250ms", "" },
		{ 60 * S, "1m", "" }, { 90 * S, "90s", "" }, { 86400 * S, "1d", "" },
		{ UINT64_MAX, "18446744073709551615ns", "" },
	};
	return cr_make_param_array(struct print_case, cases, DL_COUNT(cases));
}

ParameterizedTest(struct print_case *c, units, prints_times)
{
	char buf[32];
	uint64_t again = 1;

	cr_assert_str_eq(units_print_time(c->value, buf), c->exact);
	cr_assert_eq(units_time(buf, &again), 0);
	cr_assert_eq(again, c->value);
}

Test(units, ratios_are_decimal_numbers)
{
	static const char *const wrong[] = { "", ".5", "1.", "0,95", "-1", "95%", "1e-1", "0.9 " };
	char buf[32];
	uint64_t n;

	cr_assert(units_ratio("0.95", &n) == 0 && n == 950000);
	cr_assert(units_ratio("1", &n) == 0 && n == 1000000);
	cr_assert(units_ratio("0.1234567", &n) == 0 && n == 123456);
	cr_assert_eq(units_ratio("99999999999999999999", &n), -ERANGE);
	for (size_t i = 0; i < DL_COUNT(wrong); i++)
		cr_assert_eq(units_ratio(wrong[i], &n), -EINVAL, "%s", wrong[i]);
	cr_assert_str_eq(units_print_ratio(0.95, buf), "0.95");
	cr_assert_str_eq(units_print_ratio(1, buf), "1");
	cr_assert_str_eq(units_print_ratio(0.123456, buf), "0.123456");
}
