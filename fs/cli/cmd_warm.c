/* dlfs warm, dlfs drop: the server does it; here it is asked for, and watched. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/pattern.h"
#include "config/units.h"
#include "fs/cli/cli.h"
#include "fs/cli/view.h"

#define LOOK_US 50000
#define LINE_NS (5 * CLOCK_S)          /* between lines, where there is no terminal */
#define QUIET_NS CLOCK_S               /* until a drop says what it waits for */
#define MEMORY_NS (5 * CLOCK_S)        /* the rate is that of so much time */
#define MARKS 128
#define STOP_NS CLOCK_S                /* for what is on its way when it is interrupted */

struct progress {
	bool terminal, shown;
	uint64_t begun, line_at;
	struct { uint64_t time; double bytes; } marks[MARKS];  /* a ring, for the rate */
	unsigned next, count;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

static void catch_interrupts(void)
{
	struct sigaction action = { .sa_handler = on_interrupt };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* --- Asking ------------------------------------------------------------------------------- */

static int tell(const struct command *c, const char *mountpoint, const char *pattern)
{
	char name[32];
	int r;

	snprintf(name, sizeof(name), "user.dlfs.%s", c->name);
	r = cli_setxattr(mountpoint, name, pattern, strlen(pattern));
	if (r == 0)
		return CLI_OK;
	if (r == -EPERM || r == -EACCES)
		return cli_fail(CLI_FAILED, "only who mounted %s, and root, may %s it", mountpoint,
				c->name);
	if (r == -EBUSY)
		return cli_fail(CLI_FAILED, "another `dlfs warm` or `dlfs drop` of %s runs, or "
				"ends now; wait for it, or end it with Ctrl-C where it was begun",
				mountpoint);
	return cli_fail_call(mountpoint, "does not take it", -r);
}

static int look(const char *mountpoint, struct view **ret)
{
	struct buf text = BUF_EMPTY;
	int r = cli_getxattr(mountpoint, "user.dlfs.warm", &text);

	if (r == 0)
		r = view_parse(&text, ret);
	buf_free(&text);
	return r < 0 ? cli_fail_call(mountpoint, "does not say how far it is", -r) : CLI_OK;
}

/* --- Showing ------------------------------------------------------------------------------ */

static double rate_of(struct progress *p, double bytes)
{
	uint64_t now = clock_now();
	unsigned first;

	p->marks[p->next % MARKS].time = now;
	p->marks[p->next % MARKS].bytes = bytes;
	p->next++;
	p->count = DL_MIN(p->count + 1, (unsigned)MARKS);
	for (first = p->next - p->count; first + 1 < p->next; first++)
		if (p->marks[first % MARKS].time + MEMORY_NS >= now)
			break;
	if (now <= p->marks[first % MARKS].time)
		return 0;
	return (bytes - p->marks[first % MARKS].bytes) /
		((double)(now - p->marks[first % MARKS].time) / 1e9);
}

static void time_text(double seconds, char text[32])
{
	if (seconds < 100)
		snprintf(text, 32, "%.0f s", seconds);
	else if (seconds < 6000)
		snprintf(text, 32, "%.0f min", seconds / 60);
	else
		snprintf(text, 32, "%.1f h", seconds / 3600);
}

/* As wide as the terminal leaves it beside a text. */
static void print_bar(double part, size_t beside)
{
	struct winsize size = { .ws_col = 80 };
	int width, full;

	ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
	width = (int)size.ws_col - (int)beside - 4;
	width = DL_MIN(width, 40);
	full = (int)(part * width);
	if (width > 4)
		fprintf(stderr, "[%.*s%*s] ", full, "########################################",
			width - full, "");
}

static bool is_due(struct progress *p, bool last)
{
	if (!p->terminal && !last && clock_now() < p->line_at)
		return false;
	p->shown = true;
	p->line_at = clock_now() + LINE_NS;
	return true;
}

/* Over the line before on a terminal.  part < 0: nobody knows how much there is of it. */
static void print_line(const struct progress *p, double part, const char *text)
{
	if (p->terminal) {             /* a narrow one cuts it, so that it stays one line */
		fputs("\r\033[K\033[?7l", stderr);
		if (part >= 0)
			print_bar(part, strlen(text));
	}
	fprintf(stderr, "%s%s", text, p->terminal ? "\033[?7h" : "\n");
	fflush(stderr);
}

/* files, bytes, rate, time left: at once on a terminal, else a line now and then. */
static void show_warm(struct progress *p, const struct view *v, bool last)
{
	double bytes = view_number(v, "bytes"), all = view_number(v, "all_bytes");
	/* What was to be written and was not is not there after all. */
	double rate = DL_MAX(rate_of(p, bytes - view_number(v, "before_bytes")), 0.0);
	double part = all > 0 ? DL_MIN(bytes / all, 1.0) : 0;
	char a[32], b[32], c[32], left[32] = "?", text[200];

	if (!is_due(p, last))
		return;
	if (rate > 0)
		time_text((all - bytes) / rate, left);
	snprintf(text, sizeof(text), "%3.0f %%  %.0f of %.0f files, %s of %s, %s/s, %s left",
		 100 * part, view_number(v, "files"), view_number(v, "all_files"),
		 units_human_size((uint64_t)bytes, a), units_human_size((uint64_t)all, b),
		 units_human_size((uint64_t)rate, c), left);
	if (view_number(v, "all_files") == 0)
		snprintf(text, sizeof(text), "looking for what is there already");
	print_line(p, part, text);
}

/* Most are over before anything is to be shown. */
static void show_drop(struct progress *p, const struct view *v)
{
	double coming = view_number(v, "coming"), files = view_number(v, "files");
	char text[160] = "finding out what there is to forget";

	if (clock_now() < p->begun + QUIET_NS || !is_due(p, false))
		return;
	if (files > 0)
		snprintf(text, sizeof(text), "%.0f file%s forgotten", files, cli_plural(files));
	if (coming > 0)
		snprintf(text, sizeof(text), "waiting for %.0f file%s on the way from the source, "
			 "to forget %s too", coming, cli_plural(coming),
			 coming == 1 ? "it" : "them");
	print_line(p, -1, text);
}

static void show(const struct command *c, struct progress *p, const struct view *v, bool last)
{
	if (c == &cmd_warm)
		show_warm(p, v, last);
	else if (!last)
		show_drop(p, v);
}

/* Without a pattern the store is filled as far as it goes, and more was not asked for; but whoever
 * has none but large files shall hear of it. */
static int left_out(const struct view *v, bool chosen)
{
	double large = view_number(v, "large");
	double count = large + (chosen ? view_number(v, "left_out") + view_number(v, "never") : 0);

	if (count == 0)
		return CLI_OK;
	return cli_fail(CLI_LEFT_OUT, "%.0f file%s not there%s", count,
			count == 1 ? " is" : "s are", large == 0 ? "" :
			"; `chunk` at the mount says up to which size they are kept whole, and an "
			"eighth of `memory`");
}

static void print_count(const struct view *v, const char *key, const char *text)
{
	if (view_number(v, key) > 0)
		printf("%.0f file%s %s\n", view_number(v, key), cli_plural(view_number(v, key)),
		       text);
}

static void print_left_out(const struct view *v, bool store)
{
	double files = view_number(v, "files"), left_out = view_number(v, "left_out");
	const char *bound = view_text(v, "bound");

	if (left_out > 0 && *bound)
		printf("%s is full: %.0f of %.0f files are there; a larger `%s` at the mount has "
		       "room for more\n", store ? "the store" : "memory", files, files + left_out,
		       bound);
	else
		print_count(v, "left_out", "left out: no room, or changed just now");
	print_count(v, "never", "left out: never to be stored");
	print_count(v, "large", "left out: too large to be kept whole");
}

/* Ctrl-C does not end that: it was there before, and comes again after each run. */
static const char *going_on(const struct view *v)
{
	if (!view_number(v, "filling"))
		return "";
	return strcmp(view_text(v, "where"), "store") == 0 ?
		"; the mount goes on to fill memory, and the store with it, while nobody reads" :
		"; the mount goes on to fill memory, while nobody reads";
}

static int finish_warm(const struct view *v, bool chosen, uint64_t begun)
{
	bool store = strcmp(view_text(v, "where"), "store") == 0;
	double files = view_number(v, "files"), before = view_number(v, "before");
	const char *state = view_text(v, "state");
	char a[32];
	int r;

	printf("%.0f file%s, %s in the source, %s in %s (%.0f %s already); %.1f s\n", files,
	       cli_plural(files), units_human_size((uint64_t)view_number(v, "bytes"), a),
	       files == 1 ? "is" : "are", store ? "the store" : "memory", before,
	       before == 1 ? "was" : "were", (double)(clock_now() - begun) / 1e9);
	print_left_out(v, store);
	r = cli_printed(CLI_OK);
	if (r != CLI_OK)
		return r;
	if (strcmp(state, "running") == 0 || strcmp(state, "stopped") == 0)
		return cli_fail(CLI_INTERRUPTED, "interrupted%s%s", strcmp(state, "running") == 0 ?
				"; what is on its way still comes" : "", going_on(v));
	if (strcmp(state, "failed") == 0)
		return cli_fail(CLI_FAILED, "not all is there: %s", view_text(v, "why"));
	if (view_number(v, "failed") > 0)
		return cli_fail(CLI_FAILED, "%.0f file%s could not be read%s%s",
				view_number(v, "failed"), cli_plural(view_number(v, "failed")),
				*view_text(v, "error") ? ": " : "", view_text(v, "error"));
	return left_out(v, chosen);
}

static int finish_drop(const struct view *v)
{
	double coming = view_number(v, "coming");
	const char *state = view_text(v, "state");
	char a[32], b[32];
	int r;

	units_human_size((uint64_t)view_number(v, "memory"), b);
	if (strcmp(view_text(v, "where"), "store") == 0)
		printf("forgotten: %.0f file%s, %s in the store; %s in memory\n",
		       view_number(v, "files"), cli_plural(view_number(v, "files")),
		       units_human_size((uint64_t)view_number(v, "bytes"), a), b);
	else
		printf("forgotten: %s in memory; there is no store\n", b);
	r = cli_printed(CLI_OK);
	if (r != CLI_OK || strcmp(state, "done") == 0)
		return r;
	if (strcmp(state, "failed") == 0)
		return cli_fail(CLI_FAILED, "not all is forgotten: %s", view_text(v, "why"));
	if (coming == 0)
		return cli_fail(CLI_INTERRUPTED, "interrupted");
	return cli_fail(CLI_INTERRUPTED, "interrupted; %.0f file%s still on the way from the "
			"source may be kept again", coming, coming == 1 ? " that is" :
			"s that are");
}

/* What a shell completes, as a pattern: below a folder that is named one way or the other. */
static const char *below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	while (len > 1 && folder[len - 1] == '/')
		len--;
	return strncmp(path, folder, len) == 0 && (path[len] == '/' || !path[len]) ? path + len :
		NULL;
}

/* A slash at the end, "./", and the mount point before it are no part of a pattern. */
static char *tidy(const char *pattern, const char *given, const char *mountpoint)
{
	const char *rest = below(pattern, mountpoint);
	char *tidied;

	if (!rest && strcmp(given, ".") != 0)
		rest = below(pattern, given);
	if (!rest)
		rest = below(pattern, ".");
	tidied = strdup(rest ? rest : pattern);
	for (size_t len = tidied ? strlen(tidied) : 0; len > 0 && tidied[len - 1] == '/'; len--)
		tidied[len - 1] = '\0';
	return tidied;
}

static int finish(const struct command *c, const struct view *v, const char *mountpoint,
		  const char *pattern, uint64_t begun)
{
	bool done = strcmp(view_text(v, "state"), "done") == 0;

	if (*pattern && done && view_number(v, "matched") == 0)
		return cli_fail(CLI_FAILED, "nothing matches \"%s\" below %s", pattern, mountpoint);
	return c == &cmd_warm ? finish_warm(v, *pattern, begun) : finish_drop(v);
}

/* --- Both --------------------------------------------------------------------------------- */

/* The number of what is told next; 0: such a server has no numbers. */
static double number_after(const struct view *v)
{
	double number = view_number(v, "number");

	return number > 0 ? number + 1 : 0;
}

static int begin(const struct command *c, const char *mountpoint, const char *pattern,
		 double *ret_number)
{
	struct view *v = NULL;
	int r = look(mountpoint, &v);

	if (r != CLI_OK)
		return r;
	*ret_number = number_after(v);
	view_free(v);
	return tell(c, mountpoint, pattern);
}

/* A server that took over knows nothing of it: it is told again.  It may have been told of another
 * one meanwhile, and so may the same server, if that ended this one. */
static int check_number(const struct command *c, const char *mountpoint, const char *pattern,
			const struct view *v, double *number)
{
	if (!*view_text(v, "what")) {
		if (interrupted)
			return cli_fail(CLI_INTERRUPTED, "interrupted");
		*number = number_after(v);
		return tell(c, mountpoint, pattern);
	}
	if (*number > 0 && view_number(v, "number") != *number)
		return cli_fail(CLI_FAILED, "another `dlfs %s` of %s was begun meanwhile; how far "
				"this one came is not known", view_text(v, "what"), mountpoint);
	return CLI_OK;
}

/* An interrupt asks the server to stop.  What is being read then may take long to come: after a
 * moment it is not waited for any more. */
static int watch(const struct command *c, const char *mountpoint, const char *pattern,
		 double number, struct progress *p, struct view **ret)
{
	uint64_t told = 0;             /* when */

	for (;;) {
		struct view *v = NULL;
		bool known;
		int r = look(mountpoint, &v);

		if (r != CLI_OK)
			return r;
		known = *view_text(v, "what");
		r = check_number(c, mountpoint, pattern, v, &number);
		if (r == CLI_OK && known && (strcmp(view_text(v, "state"), "running") != 0 ||
					     (told && clock_now() > told + STOP_NS))) {
			if (p->shown && !p->terminal)
				show(c, p, v, true);
			*ret = v;
			return CLI_OK;
		}
		show(c, p, v, false);
		view_free(v);
		if (r != CLI_OK)
			return r;
		if (interrupted && !told &&
		    cli_setxattr(mountpoint, "user.dlfs.cancel", "1", 1) == 0)
			told = clock_now();
		usleep(LOOK_US);
	}
}

static const struct option no_options[] = { { NULL, 0, NULL, 0 } };

static int run(const struct command *c, int argc, char **argv)
{
	dl_cleanup(dl_freep) char *mountpoint = NULL, *pattern = NULL;
	dl_cleanup(view_freep) struct view *v = NULL;
	struct progress p = { .terminal = isatty(STDERR_FILENO), .begun = clock_now() };
	const char *problem;
	double number;
	int r;

	opterr = optind = 0;
	if (getopt_long(argc, argv, "", no_options, NULL) != -1)
		return cli_bad_option(c, argv, '?');
	if (argc - optind < 1 || argc - optind > 2)
		return cli_usage(c, "one mount point is needed, and at most one pattern "
				 "(in quotes, if it has a *)");
	r = cli_find_mount(argv[optind], &mountpoint);
	if (r != CLI_OK)
		return r;
	pattern = tidy(argc - optind == 2 ? argv[optind + 1] : "", argv[optind], mountpoint);
	if (!pattern)
		return cli_fail(CLI_FAILED, "out of memory");
	problem = *pattern ? pattern_problem(pattern) : NULL;
	if (problem)
		return cli_fail(CLI_FAILED, "\"%s\" is no pattern: %s", pattern, problem);
	p.line_at = p.begun + CLOCK_S;
	catch_interrupts();
	r = begin(c, mountpoint, pattern, &number);
	if (r == CLI_OK)
		r = watch(c, mountpoint, pattern, number, &p, &v);
	if (p.terminal && p.shown)
		fputs("\r\033[K", stderr);
	if (r != CLI_OK)
		return r;
	return finish(c, v, mountpoint, pattern, p.begun);
}

static int run_warm(int argc, char **argv) { return run(&cmd_warm, argc, argv); }
static int run_drop(int argc, char **argv) { return run(&cmd_drop, argc, argv); }

#define PATTERN_HELP \
	"  PATTERN  a file or folder by its name (dog, \"*.jpg\"), or with a slash by its path\n" \
	"           from the mount point on (train/dog, \"val/*/1.jpg\"); a folder stands for\n" \
	"           all that is in it. Without a pattern: all files.\n"

const struct command cmd_warm = {
	.name = "warm",
	.usage = "MOUNTPOINT [PATTERN]",
	.summary = "Fill the store on the local disk ahead of a run; without one, memory",
	.help = PATTERN_HELP
		"\nReads what is not there yet, in the order in which it lies on the source, and\n"
		"shows how far that is. With a store (store.path) it fills that: without a\n"
		"pattern with what the store would keep anyway; what matches a pattern is kept\n"
		"before anything else until the mount ends, or a drop of the same pattern.\n"
		"Without a store it fills memory, up to the bound (memory); what is there stays.\n"
		"Ctrl-C ends it; what is there by then stays. What the mount does by itself goes\n"
		"on: while it does not know what comes (order=auto), and nobody reads, it fills\n"
		"memory, and the store with it.\n"
		"\nExit code: 0 all is there, or without a pattern as much as has room; 3 all\n"
		"could be read, but some are too large to be kept whole (chunk, an eighth of\n"
		"memory), or of those that match have no room or are never to be stored; 1 not\n"
		"all could be read or written, nothing matches, or another `dlfs warm` or\n"
		"`dlfs drop` came in between; 130 Ctrl-C, or it was ended from elsewhere.\n",
	.run = run_warm,
};

const struct command cmd_drop = {
	.name = "drop",
	.usage = "MOUNTPOINT [PATTERN]",
	.summary = "Forget what is kept in the store and in memory, and say how much it was",
	.help = PATTERN_HELP
		"\nThe source stays as it is; what is needed again is read again. Without a\n"
		"pattern what is kept of files that are gone from the source goes as well. What\n"
		"is on its way from there is waited for; Ctrl-C ends that.\n"
		"Exit code: 1 nothing matches, or not all could be forgotten; 130 Ctrl-C, or it\n"
		"was ended from elsewhere.\n",
	.run = run_drop,
};
