#include "fs/report.h"

#include <stdio.h>
#include <string.h>

#include "prefetch/manifest/name.h"

#define NS 1e9

#define NUMBER REPORT_NUMBER
#define SECONDS REPORT_SECONDS
#define FLAG REPORT_FLAG
#define STATE REPORT_STATE
#define TEXT REPORT_TEXT
#define WORDS REPORT_WORDS

const struct report_row report_rows[] = {
#define REPORT(kind, key, member, metric, help) \
	{ kind, key, metric, help, offsetof(struct report, member) },
#include "fs/report.def"
#undef REPORT
};
const size_t report_row_count = DL_COUNT(report_rows);

/* --- JSON ------------------------------------------------------------------------------ */

/* JSON is UTF-8, names are bytes: what is no character becomes U+FFFD. */
static int add_json_string(struct buf *b, const char *text)
{
	int r = buf_append(b, "\"", 1);

	while (*text && r == 0) {
		const char *at = text;
		uint32_t code = name_code(&text);

		if (name_is_escaped(code))
			r = buf_printf(b, "\\ufffd");
		else if (code == '"' || code == '\\')
			r = buf_printf(b, "\\%c", (char)code);
		else if (code < 0x20 || code == 0x7f)
			r = buf_printf(b, "\\u%04x", code);
		else
			r = buf_append(b, at, (size_t)(text - at));
	}
	return r < 0 ? r : buf_append(b, "\"", 1);
}

static const char *state_name(enum tracker_state state)
{
	static const char *const names[] = {
		[TRACKER_NONE] = "none", [TRACKER_SEARCHING] = "searching",
		[TRACKER_BELIEVED] = "believed", [TRACKER_CONFIRMED] = "confirmed",
	};

	return names[state];
}

static uint64_t value_of(const struct report *r, const struct stats_row *row)
{
	return stats_get((const _Atomic uint64_t *)(const void *)
			 ((const char *)r->stats + row->offset));
}

/* Printed in seconds: "wait_ns" is told as "wait_seconds". */
static int stem(const struct stats_row *row)
{
	size_t len = strlen(row->name);

	return (int)(row->unit == STATS_TIME ? len - strlen("_ns") : len);
}

void report_key(const struct stats_row *row, char ret[64])
{
	snprintf(ret, 64, "%.*s%s", stem(row), row->name,
		 row->unit == STATS_TIME ? "_seconds" : "");
}

static int add_json_stat(struct buf *b, const struct report *r, const struct stats_row *row)
{
	uint64_t value = value_of(r, row);
	char key[64];

	report_key(row, key);
	if (row->unit == STATS_TIME)
		return buf_printf(b, "\"%s\": %.9f", key, (double)value / NS);
	return buf_printf(b, "\"%s\": %llu", key, (unsigned long long)value);
}

static double number_of(const struct report *r, const struct report_row *row)
{
	uint64_t value;

	memcpy(&value, (const char *)r + row->offset, sizeof(value));
	return row->kind == REPORT_SECONDS ? (double)value / NS : (double)value;
}

static int add_json_row(struct buf *b, const struct report *r, const struct report_row *row,
			const char *key)
{
	const void *at = (const char *)r + row->offset;
	int e = buf_printf(b, "\"%s\": ", key);

	if (e < 0)
		return e;
	switch (row->kind) {
	case REPORT_NUMBER:
		return buf_printf(b, "%llu", (unsigned long long)*(const uint64_t *)at);
	case REPORT_SECONDS:
		return buf_printf(b, "%.3f", number_of(r, row));
	case REPORT_FLAG:
		return buf_printf(b, *(const bool *)at ? "true" : "false");
	case REPORT_STATE:
		return add_json_string(b, state_name(*(const enum tracker_state *)at));
	case REPORT_TEXT:
		return add_json_string(b, *(const char *const *)at);
	default:
		return add_json_string(b, at);
	}
}

/* Of the object itself, or of the one in it whose keys begin with the prefix. */
static int add_json_rows(struct buf *b, const struct report *r, const char *prefix)
{
	const char *comma = "";
	int e = 0;

	for (size_t i = 0; e == 0 && i < report_row_count; i++) {
		const struct report_row *row = &report_rows[i];
		size_t len = strlen(prefix);

		if (strncmp(row->key, prefix, len) != 0 || strchr(row->key + len, '.'))
			continue;
		e = buf_printf(b, "%s", comma);
		if (e == 0)
			e = add_json_row(b, r, row, row->key + len);
		comma = ", ";
	}
	return e;
}

int report_print_json(const struct report *r, struct buf *ret)
{
	int e = buf_printf(ret, "{");

	if (e == 0)
		e = add_json_rows(ret, r, "");
	for (size_t i = 0; e == 0 && i < stats_row_count; i++) {
		e = buf_printf(ret, ", ");
		if (e == 0)
			e = add_json_stat(ret, r, &stats_rows[i]);
	}
	if (e == 0)
		e = buf_printf(ret, ", \"order\": {");
	if (e == 0)
		e = add_json_rows(ret, r, "order.");
	return e < 0 ? e : buf_printf(ret, "}}\n");
}

/* --- Prometheus ------------------------------------------------------------------------ */

/* UTF-8 as well. */
static int add_escaped(struct buf *b, const char *text, bool label)
{
	int r = 0;

	while (*text && r == 0) {
		const char *at = text;
		uint32_t code = name_code(&text);

		if (name_is_escaped(code))
			r = buf_printf(b, "\xef\xbf\xbd");
		else if (code == '\n')
			r = buf_printf(b, "\\n");
		else if (code == '\\' || (label && code == '"'))
			r = buf_printf(b, "\\%c", (char)code);
		else
			r = buf_append(b, at, (size_t)(text - at));
	}
	return r;
}

static int add_head(struct buf *b, const char *name, const char *help, const char *type)
{
	int r = buf_printf(b, "# HELP %s ", name);

	if (r == 0)
		r = add_escaped(b, help, false);
	return r < 0 ? r : buf_printf(b, "\n# TYPE %s %s\n", name, type);
}

void report_metric(const struct stats_row *row, char ret[128])
{
	char key[64];

	report_key(row, key);
	snprintf(ret, 128, "dlfs_%s%s", key, row->kind == STATS_COUNTER ? "_total" : "");
}

static int add_metric(struct buf *b, const struct report *r, const struct stats_row *row)
{
	uint64_t value = value_of(r, row);
	char name[128];
	int e;

	report_metric(row, name);
	e = add_head(b, name, row->help, row->kind == STATS_COUNTER ? "counter" : "gauge");
	if (e < 0)
		return e;
	if (row->unit == STATS_TIME)
		return buf_printf(b, "%s %.9f\n", name, (double)value / NS);
	return buf_printf(b, "%s %llu\n", name, (unsigned long long)value);
}

static int add_label(struct buf *b, const char *name, const char *value, const char *after)
{
	int r = buf_printf(b, "%s=\"", name);

	if (r == 0)
		r = add_escaped(b, value, true);
	return r < 0 ? r : buf_printf(b, "\"%s", after);
}

static int add_info(struct buf *b, const struct report *r)
{
	int e = add_head(b, REPORT_INFO, REPORT_INFO_HELP, "gauge");

	if (e == 0)
		e = buf_printf(b, REPORT_INFO "{");
	if (e == 0)
		e = add_label(b, "version", r->version, ",");
	if (e == 0)
		e = add_label(b, "source", r->source, ",");
	if (e == 0)
		e = add_label(b, "mountpoint", r->mountpoint, ",");
	if (e == 0)
		e = add_label(b, "observe", r->observe, ",");
	if (e == 0)
		e = add_label(b, "order", r->engine.spec, ",");
	if (e == 0)
		e = add_label(b, "state", state_name(r->engine.state), "} 1\n");
	return e;
}

static int add_gauge(struct buf *b, const char *name, const char *help, double value)
{
	int r = add_head(b, name, help, "gauge");

	return r < 0 ? r : buf_printf(b, "%s %.15g\n", name, value);
}

int report_print_metrics(const struct report *r, struct buf *ret)
{
	int e = add_info(ret, r);

	for (size_t i = 0; e == 0 && i < report_row_count; i++)
		if (*report_rows[i].metric)
			e = add_gauge(ret, report_rows[i].metric, report_rows[i].help,
				      number_of(r, &report_rows[i]));
	for (size_t i = 0; e == 0 && i < stats_row_count; i++)
		e = add_metric(ret, r, &stats_rows[i]);
	return e;
}
