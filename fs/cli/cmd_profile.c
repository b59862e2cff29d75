#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "config/units.h"
#include "fs/cli/cli.h"
#include "fs/host/host.h"
#include "fs/profile/report.h"
#include "prefetch/source/source.h"

#define WORKERS_MAX 65535
#define RATIOS "1,0.98,0.95,0.9"

struct request {
	struct profile_options options;
	const char *report;            /* a file to be written; NULL: none */
	char *part;                    /* its name until it is whole */
	FILE *page;
	double step_rate, prepare, receive, start;
	unsigned workers;              /* 0: one a core */
	uint64_t cache;                /* 0: what dlfs would hold by default */
};

static _Atomic bool interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = true;
}

/* --- What was asked for --------------------------------------------------------------- */

/* A positive number, with nothing behind it. */
static bool take_number(const char *text, double *ret)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value <= 0)
		return false;
	*ret = value;
	return true;
}

static int compare_down(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* "1,0.98,0.9"; 1, the dataset as it is, is always there to compare with. */
static bool take_ratios(struct profile_options *o, const char *text)
{
	dl_cleanup(dl_freep) char *copy = strdup(text);
	char *rest = copy, *word;

	o->ratios[0] = 1;
	o->ratio_count = 1;
	while (copy && (word = strsep(&rest, ",")) != NULL) {
		double ratio;

		if (!take_number(word, &ratio) || ratio > 1)
			return false;
		for (unsigned i = 0; i < o->ratio_count; i++)
			if (o->ratios[i] == ratio)
				ratio = 0;
		if (ratio == 0)
			continue;
		if (o->ratio_count == PROFILE_RATIOS)
			return false;
		o->ratios[o->ratio_count++] = ratio;
	}
	qsort(o->ratios, o->ratio_count, sizeof(o->ratios[0]), compare_down);
	return copy != NULL;
}

static bool take_whole(const char *text, unsigned most, unsigned *ret)
{
	uint64_t value;

	if (units_count(text, &value) < 0 || value == 0 || value > most)
		return false;
	*ret = (unsigned)value;
	return true;
}

static bool take_time(const char *text, double *ret)
{
	uint64_t ns;

	if (units_time(text, &ns) < 0)
		return false;
	*ret = (double)ns / CLOCK_S;
	return true;
}

enum { LAYERS = 256, RECEIVE, START };

static bool take_option(struct request *q, int option, const char *value)
{
	switch (option) {
	case 'c': return units_size(value, &q->cache) == 0 && q->cache > 0;
	case 'n': return take_whole(value, PROFILE_POOL, &q->options.sample);
	case 'p': return take_time(value, &q->prepare);
	case 'r': return take_ratios(&q->options, value);
	case 's': return take_whole(value, 65535, &q->options.max_short_side);
	case 't': return take_number(value, &q->step_rate);
	case 'w': return take_whole(value, WORKERS_MAX, &q->workers);
	case 'R': q->report = value; return *value;
	case LAYERS: q->options.layers = value; return true;
	case RECEIVE: return take_time(value, &q->receive);
	case START: return take_time(value, &q->start);
	default: return false;
	}
}

static const char *allowed(int option)
{
	switch (option) {
	case 'c': return "a size above 0, such as 8GiB";
	case 'n': return "a whole number from 1 to 4096";
	case 'p': case RECEIVE: case START: return "a time, such as 3ms";
	case 'r': return "numbers above 0 and up to 1, 8 at most, such as 1,0.95";
	case 's': case 'w': return "a whole number from 1 to 65535";
	case 'R': return "the name of a file";
	default: return "a number above 0";
	}
}

static const struct option long_options[] = {
	{ "cache", required_argument, NULL, 'c' },
	{ "prepare", required_argument, NULL, 'p' },
	{ "ratios", required_argument, NULL, 'r' },
	{ "receive", required_argument, NULL, RECEIVE },
	{ "report", required_argument, NULL, 'R' },
	{ "sample", required_argument, NULL, 'n' },
	{ "short-side", required_argument, NULL, 's' },
	{ "source-layers", required_argument, NULL, LAYERS },
	{ "start", required_argument, NULL, START },
	{ "step-rate", required_argument, NULL, 't' },
	{ "workers", required_argument, NULL, 'w' },
	{ NULL, 0, NULL, 0 },
};

static const char *name_of(int option, char text[32])
{
	for (const struct option *o = long_options; o->name; o++)
		if (o->val == option)
			snprintf(text, 32, "--%s", o->name);
	return text;
}

static int take_arguments(struct request *q, int argc, char **argv)
{
	char name[32];
	int option;

	opterr = optind = 0;
	while ((option = getopt_long(argc, argv, ":c:n:p:r:R:s:t:w:", long_options, NULL)) != -1) {
		if (option == '?' || option == ':')
			return cli_bad_option(&cmd_profile, argv, option);
		if (!take_option(q, option, optarg))
			return cli_usage(&cmd_profile, "%s takes %s, not \"%s\"",
					 name_of(option, name), allowed(option), optarg);
	}
	if (argc - optind != 1)
		return cli_usage(&cmd_profile, "one folder is needed");
	return CLI_OK;
}

/* --- Doing it ------------------------------------------------------------------------- */

static void show_progress(void *context, const char *what, uint64_t done, uint64_t all)
{
	const bool *terminal = context;

	if (*terminal && all)
		fprintf(stderr, "\r\033[K%s: %llu of %llu", what, (unsigned long long)done,
			(unsigned long long)all);
	else if (*terminal)
		fprintf(stderr, "\r\033[K%s", what);
}

/* It is opened before the work, so that a wrong name is told at once, and gets its name when it is
 * whole. */
static int open_report(struct request *q)
{
	struct stat st;

	if (!q->report)
		return CLI_OK;
	if (stat(q->report, &st) == 0 && S_ISDIR(st.st_mode))
		return cli_fail(CLI_FAILED, "%s is a folder; give a file, such as %s/profile.html",
				q->report, q->report);
	if (asprintf(&q->part, "%s.part", q->report) < 0) {
		q->part = NULL;
		return cli_fail(CLI_FAILED, "out of memory");
	}
	q->page = fopen(q->part, "we");
	if (!q->page)
		return cli_fail(CLI_FAILED, "%s cannot be written: %s", q->report, strerror(errno));
	return CLI_OK;
}

static int write_report(struct request *q, const struct profile_report *r)
{
	dl_cleanup(buf_free) struct buf page = BUF_EMPTY;
	char when[32], host[HOST_NAME_MAX + 1] = "";
	struct tm now;
	int e;

	gethostname(host, sizeof(host) - 1);
	strftime(when, sizeof(when), "%F %R", localtime_r(&(time_t){ time(NULL) }, &now));
	e = profile_html(r, host, when, &page);
	if (e < 0)
		return cli_fail(CLI_FAILED, "out of memory");
	fwrite(page.at, 1, page.len, q->page);
	e = ferror(q->page);
	if (fclose(DL_TAKE(q->page)) == EOF || e || rename(q->part, q->report) < 0) {
		e = cli_fail(CLI_FAILED, "%s could not be written: %s", q->report,
			     strerror(errno));
		unlink(q->part);
		return e;
	}
	printf("\nThe report is in %s\n", q->report);
	return CLI_OK;
}

static void drop_report(struct request *q)
{
	if (q->page) {
		fclose(q->page);
		unlink(q->part);
	}
	free(q->part);
}

static int print_report(struct request *q, const struct profile_report *r)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	int e = CLI_OK;

	if (profile_text(r, &text) < 0)
		return cli_fail(CLI_FAILED, "out of memory");
	fwrite(text.at, 1, text.len, stdout);
	if (q->report)
		e = write_report(q, r);
	return cli_printed(e);
}

static int profile(struct request *q)
{
	struct sigaction ends = { .sa_handler = on_signal };
	bool terminal = isatty(STDERR_FILENO);
	struct profile p = { 0 };
	struct profile_report report = {
		.profile = &p, .source = q->options.source, .step_rate = q->step_rate,
		.prepare = q->prepare, .receive = q->receive, .start = q->start,
	};
	char what[64];
	int r;

	q->options.stop = &interrupted;
	q->options.progress = show_progress;
	q->options.context = &terminal;
	sigaction(SIGINT, &ends, NULL);
	sigaction(SIGTERM, &ends, NULL);
	report.cache = (double)(q->cache ? q->cache : host_memory(what));
	r = profile_measure(&q->options, &p);
	if (terminal)
		fputs("\r\033[K", stderr);
	if (r == -ECANCELED)
		return cli_fail(CLI_INTERRUPTED, "interrupted");
	if (r == -ENODATA)
		return cli_fail(CLI_FAILED, "there is no file with content in %s",
				q->options.source);
	if (r == -ENOTDIR)
		return cli_fail(CLI_FAILED, "%s is a file; give the folder that the dataset lies "
				"in", q->options.source);
	if (r == -EACCES)
		return cli_fail(CLI_FAILED, "%s, or what is in it, may not be read by this user",
				q->options.source);
	if (r < 0)
		return cli_fail(CLI_FAILED, "%s cannot be measured: %s", q->options.source,
				strerror(-r));
	report.workers = q->workers ? q->workers : p.cores;
	r = print_report(q, &report);
	profile_fini(&p);
	return r;
}

static int run(int argc, char **argv)
{
	struct request q = { 0 };
	dl_cleanup(dl_freep) char *source = NULL;
	char why[160];
	int r;

	if (!take_ratios(&q.options, RATIOS))
		return cli_fail(CLI_FAILED, "out of memory");
	r = take_arguments(&q, argc, argv);
	if (r != CLI_OK)
		return r;
	source = realpath(argv[optind], NULL);
	if (!source)
		return cli_fail_path(argv[optind], errno);
	q.options.source = source;
	if (q.options.layers && source_check_layers(q.options.layers, why) < 0)
		return cli_usage(&cmd_profile, "--source-layers: %s", why);
	r = open_report(&q);
	if (r == CLI_OK)
		r = profile(&q);
	drop_report(&q);
	return r;
}

const struct command cmd_profile = {
	.name = "profile",
	.usage = "SOURCE [OPTION...]",
	.summary = "Measure a dataset on this machine, and predict what quality_ratio, cores and "
		   "cache would bring",
	.help = "  -r, --ratios LIST    quality ratios to try (" RATIOS ")\n"
		"  -s, --short-side N   scale down to this shorter side, as max_short_side;\n"
		"                       the files as they are come first\n"
		"  -t, --step-rate N    files/s that the training step takes, all GPUs;\n"
		"                       without it: how many files/s could be delivered\n"
		"  -w, --workers N      of the loader (one a core)\n"
		"  -p, --prepare TIME   processor time of your loader a file, without decoding\n"
		"  --receive TIME       that your program takes a file beside the step,\n"
		"                       while its GPUs wait: to get a batch from a worker\n"
		"  --start TIME         from the beginning of an epoch to its first batch, while\n"
		"                       workers are started\n"
		"  -c, --cache SIZE     what stays from epoch to epoch, memory and store\n"
		"                       (the memory that dlfs takes by default)\n"
		"  -n, --sample N       files that are decoded and recoded (100 to 400,\n"
		"                       fewer if they are large)\n"
		"  -R, --report FILE    write an HTML page with charts and crops as well\n"
		"  --source-layers L    layers before the source, as source_layers; for tests\n"
		"\n"
		"A stall is the part of a later epoch in which the training step waits: for\n"
		"decoding and preparing (CPU), or for the source beyond that (I/O).  Without\n"
		"--step-rate the step takes no time, so all of an epoch is such waiting.  \"bound\n"
		"by\" is what takes longest.  \"as is\" are files served unchanged.  PSNR is left\n"
		"out where images were scaled: it needs pictures of one size.\n"
		"\n"
		"--prepare, --receive and --start are what your loader takes of files in memory\n"
		"without dlfs; what is not said is taken for nothing.  Predictions are for a\n"
		"machine on which nothing else runs, and leave out the processor time in which\n"
		"dlfs pushes files and sees them opened, which is little beside decoding.  What\n"
		"recoding takes from the workers of a first epoch is counted where the kernel\n"
		"gives each session its share of a core (autogroup).\n",
	.run = run,
};
