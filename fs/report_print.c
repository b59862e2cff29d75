#include "fs/report.h"

#include <stdio.h>
#include <string.h>

#include "prefetch/manifest/name.h"

#define NS 1e9

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

static int add_json_text(struct buf *b, const char *key, const char *value)
{
	int r = buf_printf(b, "\"%s\": ", key);

	if (r == 0)
		r = add_json_string(b, value);
	return r < 0 ? r : buf_append(b, ", ", 2);
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

static int add_json_row(struct buf *b, const struct report *r, const struct stats_row *row)
{
	uint64_t value = value_of(r, row);

	if (row->unit == STATS_TIME)
		return buf_printf(b, "\"%.*s_seconds\": %.9f, ", stem(row), row->name,
				  (double)value / NS);
	return buf_printf(b, "\"%s\": %llu, ", row->name, (unsigned long long)value);
}

static int add_json_order(struct buf *b, const struct report *report)
{
	const struct engine_report *e = &report->engine;
	int r = buf_printf(b, "\"order\": {");

	if (r == 0)
		r = add_json_text(b, "spec", e->spec);
	if (r == 0)
		r = add_json_text(b, "state", state_name(e->state));
	if (r == 0)
		r = add_json_text(b, "found", e->found);
	if (r == 0)
		r = add_json_text(b, "asked", report->asked);
	if (r == 0)
		r = add_json_text(b, "refused", report->refused);
	if (r == 0)
		r = buf_printf(b, "\"unfit\": %s, \"epoch\": %llu, \"position\": %llu, "
			       "\"length\": %llu}", e->unfit ? "true" : "false",
			       (unsigned long long)e->epoch, (unsigned long long)e->position,
			       (unsigned long long)e->length);
	return r;
}

int report_print_json(const struct report *r, struct buf *ret)
{
	int e = buf_printf(ret, "{\"pid\": %llu, ", (unsigned long long)r->pid);

	if (e == 0)
		e = add_json_text(ret, "version", r->version);
	if (e == 0)
		e = add_json_text(ret, "source", r->source);
	if (e == 0)
		e = add_json_text(ret, "mountpoint", r->mountpoint);
	if (e == 0)
		e = add_json_text(ret, "observe", r->observe);
	if (e == 0)
		e = add_json_text(ret, "store_problem", r->store_problem);
	if (e == 0)
		e = buf_printf(ret, "\"uptime_seconds\": %.3f, \"memory\": %llu, ",
			       (double)r->uptime_ns / NS, (unsigned long long)r->memory);
	for (size_t i = 0; e == 0 && i < stats_row_count; i++)
		e = add_json_row(ret, r, &stats_rows[i]);
	if (e == 0)
		e = add_json_order(ret, r);
	return e < 0 ? e : buf_printf(ret, "}\n");
}

/* --- Prometheus ------------------------------------------------------------------------ */

static int add_escaped(struct buf *b, const char *text, bool label)
{
	int r = 0;

	for (const char *s = text; *s && r == 0; s++) {
		if (*s == '\n')
			r = buf_append(b, "\\n", 2);
		else if (*s == '\\' || (label && *s == '"'))
			r = buf_printf(b, "\\%c", *s);
		else
			r = buf_append(b, s, 1);
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

static int add_metric(struct buf *b, const struct report *r, const struct stats_row *row)
{
	const char *unit = row->unit == STATS_TIME ? "_seconds" : "";
	bool counter = row->kind == STATS_COUNTER;
	uint64_t value = value_of(r, row);
	char name[128];
	int e;

	snprintf(name, sizeof(name), "dlfs_%.*s%s%s", stem(row), row->name, unit,
		 counter ? "_total" : "");
	e = add_head(b, name, row->help, counter ? "counter" : "gauge");
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
	int e = add_head(b, "dlfs_info", "What is mounted where; always 1.", "gauge");

	if (e == 0)
		e = buf_printf(b, "dlfs_info{");
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

	if (e == 0)
		e = add_gauge(ret, "dlfs_uptime_seconds", "Time that this server has run.",
			      (double)r->uptime_ns / NS);
	if (e == 0)
		e = add_gauge(ret, "dlfs_order_epoch", "The running epoch.",
			      (double)r->engine.epoch);
	if (e == 0)
		e = add_gauge(ret, "dlfs_order_position", "Samples of the epoch read so far.",
			      (double)r->engine.position);
	if (e == 0)
		e = add_gauge(ret, "dlfs_order_length", "Samples of the epoch.",
			      (double)r->engine.length);
	for (size_t i = 0; e == 0 && i < stats_row_count; i++)
		e = add_metric(ret, r, &stats_rows[i]);
	return e;
}
