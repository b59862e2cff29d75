#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "config/units.h"
#include "fs/cli/cli.h"
#include "fs/cli/view.h"
#include "fs/unreadable.h"

static const char *bytes_of(const struct view *v, const char *key, char text[32])
{
	return units_human_size((uint64_t)view_number(v, key), text);
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* --- All of it ------------------------------------------------------------------------ */

static void print_order(const struct view *v)
{
	double position = view_number(v, "order.position"), length = view_number(v, "order.length");
	const char *state = view_text(v, "order.state");
	char detail[128] = "";

	if (length == 0)
		length = view_number(v, "samples");
	if (strcmp(view_text(v, "order.spec"), "auto") == 0 && *view_text(v, "order.found"))
		snprintf(detail, sizeof(detail), ": %s", view_text(v, "order.found"));
	else if (strcmp(view_text(v, "order.spec"), "auto") != 0 && view_number(v, "order.unfit"))
		snprintf(detail, sizeof(detail), ": the last opens do not fit it");
	if (!*view_text(v, "order.spec") && *view_text(v, "order.asked"))
		printf("order      %s, refused: %s\n", view_text(v, "order.asked"),
		       view_text(v, "order.refused"));
	else if (!*view_text(v, "order.spec"))
		printf("order      none yet: the folders of the source are being read\n");
	else if (strcmp(view_text(v, "order.spec"), state) == 0)
		printf("order      %s\n", state);
	else
		printf("order      %s, %s%s\n", view_text(v, "order.spec"), state, detail);
	if (strcmp(state, "believed") == 0 || strcmp(state, "confirmed") == 0)
		printf("epoch      %.0f, %.0f of %.0f samples (%.1f %%)\n",
		       view_number(v, "order.epoch"), position, length, percent(position, length));
	else
		printf("epoch      not known, of %.0f samples\n", length);
}

static bool has_store(const struct view *v)
{
	return view_number(v, "store_limit") > 0 || *view_text(v, "store_problem");
}

static void print_store(const struct view *v)
{
	double files = view_number(v, "store_records");
	double most = view_number(v, "store_records_limit");
	const char *problem = view_text(v, "store_problem");
	char a[32], b[32], c[32], bound[32] = "";

	if (*problem && view_number(v, "store_limit") == 0) {
		printf("store      not in use: %s\n", problem);
		return;
	}
	if (most > 0)
		snprintf(bound, sizeof(bound), " of %.0f", most);
	printf("store      %.0f%s file%s, %s; %s of %s on the disk; %.0f fetches from there, "
	       "%.0f bad records%s%s\n", files, bound, cli_plural(most > 0 ? most : files),
	       bytes_of(v, "store_bytes", c), bytes_of(v, "store_size", a),
	       bytes_of(v, "store_limit", b), view_number(v, "store_hits"),
	       view_number(v, "store_bad"), *problem ? "; not written now: " : "", problem);
}

static bool has_unreadable(const struct view *v)
{
	return view_number(v, "unreadable_folders") + view_number(v, "unreadable_files") > 0;
}

static void print_unreadable(const struct view *v)
{
	char count[64];

	printf("source     %s may not be read by who mounted it\n",
	       unreadable_count((uint64_t)view_number(v, "unreadable_folders"),
				(uint64_t)view_number(v, "unreadable_files"), count));
}

static double as_is(const struct view *v)
{
	return view_number(v, "as_is_no_gain") + view_number(v, "as_is_damaged") +
		view_number(v, "as_is_kind") + view_number(v, "as_is_limits") +
		view_number(v, "as_is_unreadable");
}

/* Or there is to be some, and it may be that no name is that of an image. */
static bool has_images(const struct view *v)
{
	return view_number(v, "recoded") + as_is(v) + view_number(v, "recode_memory") > 0;
}

static void print_images(const struct view *v)
{
	double decode = view_number(v, "recoded_source_decode_seconds");
	char a[32], b[32];

	if (view_number(v, "recoded") + as_is(v) == 0) {
		printf("recoded    none yet; what is not called .jpg, .jpeg or .png never is\n");
		return;
	}
	printf("recoded    %.0f file%s, %s instead of %s", view_number(v, "recoded"),
	       cli_plural(view_number(v, "recoded")), bytes_of(v, "recoded_bytes", a),
	       bytes_of(v, "recoded_source_bytes", b));
	if (decode > 0)
		printf(", decoded in about %.3g s instead of %.3g s of a processor",
		       view_number(v, "recoded_decode_seconds"), decode);
	printf("; %.0f as they are\n", as_is(v));
}

/* What print_all() prints, print_order()'s two included. */
static int lines_of(const struct view *v)
{
	return 10 + has_unreadable(v) + has_store(v) + has_images(v);
}

static void print_all(const struct view *v, const char *mountpoint)
{
	double opens = view_number(v, "opens");
	char a[32], b[32], coding[64] = "", share[64] = "", dropped[64] = "";
	char changed[64] = "";

	if (view_number(v, "memory_share") < view_number(v, "memory_limit"))
		snprintf(share, sizeof(share), ", %s while others need it",
			 bytes_of(v, "memory_share", a));
	printf("mount      %s, pid %.0f, replaced %.0f time%s\n", mountpoint,
	       view_number(v, "pid"), view_number(v, "restarts"),
	       cli_plural(view_number(v, "restarts")));
	if (has_unreadable(v))
		print_unreadable(v);
	print_order(v);
	printf("opens      %.0f, %.0f mispredicted (%.2f %%)%s\n", opens,
	       view_number(v, "mispredicted"), percent(view_number(v, "mispredicted"), opens),
	       strcmp(view_text(v, "observe"), "off") == 0 ?
	       "; opens of what is in memory are not seen (observe=off)" : "");
	printf("hits       %.0f (%.2f %%): page cache %.2f %%, memory %.2f %%\n",
	       view_number(v, "hits"), percent(view_number(v, "hits"), opens),
	       percent(view_number(v, "hits_page_cache"), opens),
	       percent(view_number(v, "hits_memory"), opens));
	printf("late       %.0f (%.2f %%), waited %.3f s\n", view_number(v, "late"),
	       percent(view_number(v, "late"), opens), view_number(v, "wait_seconds"));
	printf("lead       %.0f samples ready, %.0f aimed at\n", view_number(v, "lead"),
	       view_number(v, "lead_target"));
	if (view_number(v, "pressure") > 0)
		snprintf(dropped, sizeof(dropped), ", the kernel dropped %.0f sample%s",
			 view_number(v, "pressure"), cli_plural(view_number(v, "pressure")));
	if (view_number(v, "recode_memory") > 0)
		snprintf(coding, sizeof(coding), ", of that %s at most to code images",
			 bytes_of(v, "recode_memory", a));
	printf("memory     %s of %s%s%s%s\n", bytes_of(v, "memory_bytes", a),
	       bytes_of(v, "memory_limit", b), coding, share, dropped);
	if (view_number(v, "fetch_changed") > 0)
		snprintf(changed, sizeof(changed), ", %.0f file%s had changed",
			 view_number(v, "fetch_changed"),
			 cli_plural(view_number(v, "fetch_changed")));
	printf("fetched    %s in %.0f fetches, %.0f failed%s\n",
	       bytes_of(v, "bytes_fetched", a), view_number(v, "fetches"),
	       view_number(v, "fetch_errors"), changed);
	if (has_store(v))
		print_store(v);
	if (has_images(v))
		print_images(v);
	printf("served     %s, pushed %s\n", bytes_of(v, "bytes_served", a),
	       bytes_of(v, "bytes_pushed", b));
}

/* --- Again and again ------------------------------------------------------------------ */

static double grown(const struct view *now, const struct view *before, const char *key)
{
	double is = view_number(now, key), was = view_number(before, key);

	/* Less than before: it was unmounted and mounted again. */
	return is < was ? is : is - was;
}

static void print_line(const struct view *now, const struct view *before)
{
	double opens = grown(now, before, "opens"), fetched = grown(now, before, "bytes_fetched");
	/* Of those judged in it: some of its opens are not yet, some before it were. */
	double hits = grown(now, before, "hits"), late = grown(now, before, "late");
	char a[32], b[32], share[32] = "-";

	if (hits + late > 0)
		snprintf(share, sizeof(share), "%.1f %%", percent(hits, hits + late));
	printf("opens %.0f  hits %s  late %.0f  lead %.0f  fetched %s  memory %s  %s at %.0f\n",
	       opens, share, late,
	       view_number(now, "lead"), units_human_size((uint64_t)fetched, a),
	       bytes_of(now, "memory_bytes", b), view_text(now, "order.spec"),
	       view_number(now, "order.position"));
}

static int watch(const char *mountpoint)
{
	dl_cleanup(view_freep) struct view *before = NULL;
	static char page[16384];       /* written in one piece: Ctrl-C leaves nothing half */
	bool terminal = isatty(STDOUT_FILENO);
	int r;

	setvbuf(stdout, page, _IOFBF, sizeof(page));
	for (;;) {
		struct view *now = NULL;

		r = view_read(mountpoint, &now);
		if (r != CLI_OK)
			return r;
		if (terminal && before)        /* over the lines of a second ago */
			printf("\033[%dA\033[J", lines_of(before));
		if (terminal) {                /* which it cuts at its width, so that none is two */
			fputs("\033[?7l", stdout);
			print_all(now, mountpoint);
			fputs("\033[?7h", stdout);
		} else if (before)
			print_line(now, before);
		view_free(before);
		before = now;
		r = cli_printed(CLI_OK);
		if (r != CLI_OK)
			return r;
		sleep(1);
	}
}

static int show(const char *mountpoint, bool json)
{
	dl_cleanup(view_freep) struct view *v = NULL;
	int r = view_read(mountpoint, &v);

	if (r != CLI_OK)
		return r;
	if (json)
		fwrite(view_source(v).at, 1, view_source(v).len, stdout);
	else
		print_all(v, mountpoint);
	return cli_printed(CLI_OK);
}

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "watch", no_argument, NULL, 'w' },
	{ NULL, 0, NULL, 0 },
};

static int run(int argc, char **argv)
{
	dl_cleanup(dl_freep) char *mountpoint = NULL;
	bool json = false, again = false;
	int option, r;

	opterr = optind = 0;
	while ((option = getopt_long(argc, argv, "jw", long_options, NULL)) != -1) {
		if (option == '?')
			return cli_bad_option(&cmd_stats, argv, option);
		json |= option == 'j';
		again |= option == 'w';
	}
	if (argc - optind != 1)
		return cli_usage(&cmd_stats, "one mount point is needed");
	if (json && again)
		return cli_usage(&cmd_stats, "--json and --watch do not go together");
	r = cli_find_mount(argv[optind], &mountpoint);
	if (r != CLI_OK)
		return r;
	return again ? watch(mountpoint) : show(mountpoint, json);
}

const struct command cmd_stats = {
	.name = "stats",
	.usage = "MOUNTPOINT [--json | --watch]",
	.summary = "How it is going: hits, late reads, progress through the epoch",
	.help = "  -j, --json   the numbers as a JSON object, whose keys are in dlfs-stats(5)\n"
		"  -w, --watch  each second again, until Ctrl-C; in a pipe: a line of what\n"
		"               happened in that second\n",
	.run = run,
};
