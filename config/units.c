#include "config/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"

struct unit {
	const char *name;
	uint64_t times;
};

#define KB UINT64_C(1000)

/* Binary before decimal, large before small: the first of two equally short forms is used. */
static const struct unit sizes[] = {
	{ "EiB", GiB * GiB }, { "PiB", GiB * MiB }, { "TiB", GiB * KiB }, { "GiB", GiB },
	{ "MiB", MiB }, { "KiB", KiB },
	{ "EB", KB * KB * KB * KB * KB * KB }, { "PB", KB * KB * KB * KB * KB },
	{ "TB", KB * KB * KB * KB }, { "GB", KB * KB * KB }, { "MB", KB * KB }, { "KB", KB },
	{ "", 1 },
};

/* Read, never printed. */
static const struct unit more_sizes[] = {
	{ "E", GiB * GiB }, { "P", GiB * MiB }, { "T", GiB * KiB }, { "G", GiB }, { "M", MiB },
	{ "K", KiB }, { "B", 1 },
};

static const struct unit times[] = {
	{ "d", 86400 * CLOCK_S }, { "h", 3600 * CLOCK_S }, { "m", 60 * CLOCK_S }, { "s", CLOCK_S },
	{ "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
};

static const struct unit *find(const struct unit *units, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcasecmp(units[i].name, name) == 0)
			return &units[i];
	return NULL;
}

struct decimal {                       /* whole + part / scale */
	uint64_t whole, part, scale;
};

/* Read digits, perhaps a point and more digits; returns where they end, NULL: no number. */
static const char *read_decimal(const char *text, struct decimal *ret, bool *too_large)
{
	struct decimal d = { 0, 0, 1 };

	*too_large = false;
	if (!isdigit((unsigned char)*text))
		return NULL;
	for (; isdigit((unsigned char)*text); text++)
		if (__builtin_mul_overflow(d.whole, 10, &d.whole) ||
		    __builtin_add_overflow(d.whole, (uint64_t)(*text - '0'), &d.whole))
			*too_large = true;
	if (*text == '.') {
		if (!isdigit((unsigned char)*++text))
			return NULL;
		for (; isdigit((unsigned char)*text); text++) {
			if (d.scale >= CLOCK_S * 1000)
				continue;      /* finer than any unit can show */
			d.part = d.part * 10 + (uint64_t)(*text - '0');
			d.scale *= 10;
		}
	}
	*ret = d;
	return text;
}

static int scale(struct decimal d, uint64_t by, uint64_t *ret)
{
	__extension__ typedef unsigned __int128 wide;
	wide n = (wide)d.whole * by + (wide)d.part * by / d.scale;

	if (n > UINT64_MAX)
		return -ERANGE;
	*ret = (uint64_t)n;
	return 0;
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " ");
}

/* A number and the name of a unit. */
static int measure(const char *text, const struct unit *units, size_t count, uint64_t *ret)
{
	const struct unit *u;
	struct decimal d;
	bool too_large;

	text = read_decimal(text, &d, &too_large);
	u = text ? find(units, count, skip_blanks(text)) : NULL;
	if (!u || (u->times == 1 && d.part != 0))
		return -EINVAL;
	return too_large ? -ERANGE : scale(d, u->times, ret);
}

int units_size(const char *text, uint64_t *ret)
{
	int r = measure(text, sizes, DL_COUNT(sizes), ret);

	return r == -EINVAL ? measure(text, more_sizes, DL_COUNT(more_sizes), ret) : r;
}

int units_time(const char *text, uint64_t *ret_ns)
{
	return measure(text, times, DL_COUNT(times), ret_ns);
}

int units_count(const char *text, uint64_t *ret)
{
	struct decimal d;
	bool too_large;
	const char *end = read_decimal(text, &d, &too_large);

	if (!end || *end || strchr(text, '.'))
		return -EINVAL;
	if (too_large)
		return -ERANGE;
	*ret = d.whole;
	return 0;
}

int units_ratio(const char *text, uint64_t *ret)
{
	struct decimal d;
	bool too_large;
	const char *end = read_decimal(text, &d, &too_large);

	if (!end || *end)
		return -EINVAL;
	return too_large ? -ERANGE : scale(d, 1000000, ret);
}

const char *units_print_ratio(double ratio, char buf[32])
{
	uint64_t millionths = (uint64_t)(ratio * 1e6 + 0.5);
	size_t len = (size_t)snprintf(buf, 32, "%" PRIu64 ".%06" PRIu64, millionths / 1000000,
				      millionths % 1000000);

	while (buf[len - 1] == '0')
		buf[--len] = '\0';
	if (buf[len - 1] == '.')
		buf[len - 1] = '\0';
	return buf;
}

const char *units_print_size(uint64_t size, char buf[32])
{
	char form[32];

	buf[0] = '\0';
	for (size_t i = 0; i < DL_COUNT(sizes); i++) {
		if (size % sizes[i].times != 0 || (size == 0 && sizes[i].times != 1))
			continue;
		snprintf(form, sizeof(form), "%" PRIu64 "%s", size / sizes[i].times, sizes[i].name);
		if (buf[0] == '\0' || strlen(form) < strlen(buf))
			memcpy(buf, form, sizeof(form));
	}
	return buf;
}

const char *units_print_time(uint64_t ns, char buf[32])
{
	const struct unit *u = times;

	if (ns == 0)
		u = find(times, DL_COUNT(times), "s");
	while (ns % u->times != 0)
		u++;
	snprintf(buf, 32, "%" PRIu64 "%s", ns / u->times, u->name);
	return buf;
}

const char *units_human_size(uint64_t size, char buf[32])
{
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)size;
	size_t i = 0;

	/* 1000 of one unit has four digits already: 0.98 of the next one. */
	while (i + 1 < DL_COUNT(names) && value >= 999.5) {
		value /= 1024;
		i++;
	}
	if (i == 0)
		snprintf(buf, 32, "%" PRIu64 " B", size);
	else
		snprintf(buf, 32, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value,
			 names[i]);
	return buf;
}
