/* stats.json and metrics: every row of the table, units, escapes. */
#include <criterion/criterion.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fs/report.h"

#define NONE "\xef\xbf\xbd"           /* U+FFFD */

static const char odd_path[] = "/data/a \"b\"\\c\nd\x01\xff\xc3\xa9\xed\xa0\x80";

static struct report example(struct stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	stats_set(&stats->opens, UINT64_C(12345678901));
	stats_set(&stats->wait_ns, 2500000000);
	stats_set(&stats->lead, 7);
	return (struct report){
		.stats = stats, .version = "1.2", .source = odd_path, .mountpoint = "/mnt/x",
		.observe = "inotify", .store_problem = "", .asked = "", .refused = "",
		.pid = 42, .memory = 8 * MiB, .uptime_ns = 1500000000,
		.engine = { .spec = "torch:seed=7", .state = TRACKER_BELIEVED, .epoch = 3,
			    .found = "sequential", .unfit = true,
			    .position = 10, .length = 100 },
	};
}

static struct json_object *parsed(const struct report *r)
{
	dl_cleanup(buf_free) struct buf b = BUF_EMPTY;
	struct json_object *o;

	cr_assert_eq(report_print_json(r, &b), 0);
	cr_assert_eq(b.at[b.len - 1], '\n');
	o = json_tokener_parse((char *)b.at);
	cr_assert(json_object_is_type(o, json_type_object), "%s", (char *)b.at);
	return o;
}

static struct json_object *at(struct json_object *o, const char *key)
{
	struct json_object *value;

	cr_assert(json_object_object_get_ex(o, key, &value), "no %s", key);
	return value;
}

Test(report, json_has_every_counter_and_what_scripts_rely_on)
{
	static const char *const numbers[] = {
		"pid", "samples", "opens", "hits", "late", "mispredicted", "wait_seconds",
		"bytes_fetched", "bytes_served", "memory_bytes", "lead", "uptime_seconds", "memory",
	};
	struct stats stats;
	struct report r = example(&stats);
	struct json_object *o = parsed(&r), *order = at(o, "order");

	for (size_t i = 0; i < DL_COUNT(numbers); i++)
		cr_assert_not(json_object_is_type(at(o, numbers[i]), json_type_string));
	for (size_t i = 0; i < stats_row_count; i++)
		if (stats_rows[i].unit != STATS_TIME)
			at(o, stats_rows[i].name);
	for (size_t i = 0; i < report_row_count; i++)
		at(strncmp(report_rows[i].key, "order.", 6) == 0 ? order : o,
		   strrchr(report_rows[i].key, '.') ? strrchr(report_rows[i].key, '.') + 1 :
		   report_rows[i].key);
	cr_assert_eq(json_object_object_length(o) + json_object_object_length(order),
		     (int)(report_row_count + stats_row_count + 1), "and nothing else");
	cr_assert_eq(json_object_get_int64(at(o, "opens")), INT64_C(12345678901));
	cr_assert(fabs(json_object_get_double(at(o, "wait_seconds")) - 2.5) < 1e-9);
	cr_assert_not(json_object_object_get_ex(o, "wait_ns", NULL));
	cr_assert(fabs(json_object_get_double(at(o, "uptime_seconds")) - 1.5) < 1e-9);
	cr_assert_str_eq(json_object_get_string(at(o, "observe")), "inotify");
	cr_assert_str_eq(json_object_get_string(at(order, "spec")), "torch:seed=7");
	cr_assert_str_eq(json_object_get_string(at(order, "state")), "believed");
	cr_assert_str_eq(json_object_get_string(at(order, "found")), "sequential");
	cr_assert(json_object_get_boolean(at(order, "unfit")));
	cr_assert_eq(json_object_get_int64(at(order, "epoch")), 3);
	cr_assert_eq(json_object_get_int64(at(order, "position")), 10);
	cr_assert_eq(json_object_get_int64(at(order, "length")), 100);
	json_object_put(o);
}

/* A lone surrogate in UTF-8 (ed a0 80) is three bytes that are no character. */
Test(report, json_says_odd_names)
{
	struct stats stats;
	struct report r = example(&stats);
	struct json_object *o = parsed(&r);

	cr_assert_str_eq(json_object_get_string(at(o, "source")),
			 "/data/a \"b\"\\c\nd\x01" NONE "\xc3\xa9" NONE NONE NONE);
	json_object_put(o);
}

struct utf8_case { const char *why, *in, *out; };

Test(report, json_knows_utf8)
{
	static const struct utf8_case cases[] = {
		{ "ends in a character", "a\xc3", "a" NONE },
		{ "overlong slash", "\xc0\xaf", NONE NONE },
		{ "four bytes", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
		{ "beyond the last", "\xf4\x90\x80\x80", NONE NONE NONE NONE },
		{ "continuation alone", "\x80x", NONE "x" },
	};
	struct stats stats;
	struct report r = example(&stats);

	for (size_t i = 0; i < DL_COUNT(cases); i++) {
		struct json_object *o;

		r.source = cases[i].in;
		o = parsed(&r);
		cr_assert_str_eq(json_object_get_string(at(o, "source")), cases[i].out, "%s",
				 cases[i].why);
		json_object_put(o);
	}
}

static bool has_line(const struct buf *b, const char *line)
{
	const char *found = (const char *)b->at;

	while ((found = strstr(found, line))) {
		size_t len = strlen(line);

		if ((found == (const char *)b->at || found[-1] == '\n') && found[len] == '\n')
			return true;
		found += len;
	}
	return false;
}

Test(report, metrics_have_help_type_unit_and_labels)
{
	static const char info[] =
		"dlfs_info{version=\"1.2\","
		"source=\"/data/a \\\"b\\\"\\\\c\\nd\x01" NONE "\xc3\xa9" NONE NONE NONE "\","
		"mountpoint=\"/mnt/x\",observe=\"inotify\","
		"order=\"torch:seed=7\",state=\"believed\"} 1";
	static const char *const lines[] = {
		"# TYPE dlfs_opens_total counter", "dlfs_opens_total 12345678901",
		"# TYPE dlfs_wait_seconds_total counter", "dlfs_wait_seconds_total 2.500000000",
		"# TYPE dlfs_lead gauge", "dlfs_lead 7",
		"# HELP dlfs_samples Regular files the manifest knows.",
		"dlfs_uptime_seconds 1.5", "dlfs_order_position 10",
		info,
	};
	dl_cleanup(buf_free) struct buf b = BUF_EMPTY;
	struct stats stats;
	struct report r = example(&stats);

	cr_assert_eq(report_print_metrics(&r, &b), 0);
	for (size_t i = 0; i < DL_COUNT(lines); i++)
		cr_assert(has_line(&b, lines[i]), "no line \"%s\" in\n%s", lines[i], (char *)b.at);
}

/* What a scraper refuses: a sample before its TYPE, a name twice, a line that is no metric. */
Test(report, metrics_are_well_formed)
{
	dl_cleanup(buf_free) struct buf b = BUF_EMPTY;
	struct stats stats;
	struct report r = example(&stats);
	unsigned samples = 0;
	char type[128] = "", *save, *line;

	cr_assert_eq(report_print_metrics(&r, &b), 0);
	for (line = strtok_r((char *)b.at, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char name[128], kind[16];

		if (strncmp(line, "# HELP ", 7) == 0)
			continue;
		if (sscanf(line, "# TYPE %127s %15s", name, kind) == 2) {
			cr_assert_str_neq(name, type);
			cr_assert_eq(strcmp(kind, "counter") == 0,
				     strstr(name, "_total") != NULL);
			strcpy(type, name);
			continue;
		}
		cr_assert_eq(sscanf(line, "%127[a-z_]", name), 1, "%s", line);
		cr_assert_str_eq(name, type);
		samples++;
	}
	cr_assert_eq(samples, stats_row_count + 5);
}
