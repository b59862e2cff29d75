/* Prints the pages of what a mount says of itself, from report.def and base/stats.def:
 * report-doc reference|man. */
#include <stdio.h>
#include <string.h>

#include "fs/report.h"

/* What a key is, in a word. */
static const char *unit_of(const struct stats_row *row)
{
	switch (row->unit) {
	case STATS_BYTES:
		return "bytes";
	case STATS_TIME:
		return "seconds";
	default:
		return "number";
	}
}

static const char *type_of(const struct report_row *row)
{
	switch (row->kind) {
	case REPORT_NUMBER:
		return "number";
	case REPORT_SECONDS:
		return "seconds";
	case REPORT_FLAG:
		return "true or false";
	default:
		return "text";
	}
}

static void row_of_table(const char *key, const char *type, const char *metric, const char *help)
{
	printf("| `%s` | %s | %s%s%s | %s |\n", key, type, *metric ? "`" : "", metric,
	       *metric ? "`" : "", help);
}

static void row_of_list(const char *key, const char *type, const char *metric, const char *help)
{
	printf(".It Va %s\n%s\n.Pq %s%s%s\n", key, help, type, *metric ? "; " : "", metric);
}

static void print_rows(void (*print)(const char *key, const char *type, const char *metric,
				     const char *help))
{
	char key[64], metric[128];

	for (size_t i = 0; i < report_row_count; i++)
		print(report_rows[i].key, type_of(&report_rows[i]), report_rows[i].metric,
		      report_rows[i].help);
	for (size_t i = 0; i < stats_row_count; i++) {
		report_key(&stats_rows[i], key);
		report_metric(&stats_rows[i], metric);
		print(key, unit_of(&stats_rows[i]), metric, stats_rows[i].help);
	}
}

static void print_reference(void)
{
	puts("# What a mount says of itself\n\n"
	     "<!-- Made by `report-doc reference` from fs/report.def and base/stats.def; change "
	     "those. -->\n\n"
	     "`dlfs stats MOUNTPOINT --json`, or `MOUNTPOINT/.dlfs/stats.json`, is one JSON object "
	     "with these keys;\n`order.spec` is `spec` in the object `order`. "
	     "`MOUNTPOINT/.dlfs/metrics` has those that have a name\nthere, in Prometheus' text "
	     "format: what ends in `_total` only grows, from the mount on, and the labels\nof "
	     REPORT_INFO " are some of the texts. Keys may be added; those that there are stay.\n\n"
	     "| key | | Prometheus | |\n|---|---|---|---|");
	print_rows(row_of_table);
}

static void print_man(void)
{
	puts(".\\\" Made by `report-doc man` from fs/report.def and base/stats.def; change those.\n"
	     ".Dd November 29, 2026\n.Dt DLFS-STATS 5\n.Os\n"
	     ".Sh NAME\n.Nm dlfs-stats\n.Nd what a mount of dlfs says of itself\n"
	     ".Sh DESCRIPTION\n"
	     ".Ql dlfs stats --json\nprints, and\n.Pa MOUNTPOINT/.dlfs/stats.json\n"
	     "holds, one JSON object with the keys below.\n"
	     ".Va order.spec\nis\n.Va spec\nin the object\n.Va order .\n"
	     ".Pa MOUNTPOINT/.dlfs/metrics\n"
	     "has those that have a name there, in the text format of Prometheus; it stands "
	     "behind.\n"
	     "What ends in\n.Ql _total\nonly grows, from the mount on; the labels of\n.Ql "
	     REPORT_INFO "\nare some of the texts.\n"
	     "Keys may be added; those that there are stay.\n"
	     ".Sh KEYS\n.Bl -tag -width Ds");
	print_rows(row_of_list);
	puts(".El\n.Sh SEE ALSO\n.Xr dlfs 1");
}

int main(int argc, char **argv)
{
	const char *page = argc == 2 ? argv[1] : "";

	if (strcmp(page, "reference") == 0) {
		print_reference();
	} else if (strcmp(page, "man") == 0) {
		print_man();
	} else {
		fprintf(stderr, "usage: report-doc reference|man\n");
		return 1;
	}
	return fflush(stdout) == 0 ? 0 : 1;
}
