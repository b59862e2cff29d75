#include <stdio.h>

#include "config/units.h"
#include "fs/profile/report.h"
#include "prefetch/source/served.h"

/* As many at once as dlfs has under way. */
static double fetch_cpu(const struct profile *p)
{
	return p->speed_count ? p->speeds[p->speed_count - 1].cpu : 0;
}

/* Who codes an image decodes some of them, to know what that saves. */
static double timing_cpu(const struct profile *p, const struct profile_way *w)
{
	return (p->ways[0].decode + w->decode) / SERVED_TIMED_OF;
}

unsigned profile_ways(const struct profile *p)
{
	for (unsigned i = 0; i < p->way_count; i++)
		if (p->ways[i].recoded)
			return p->way_count;
	return DL_MIN(p->way_count, 1u);
}

const char *profile_ratio_name(const struct profile_way *w, char text[16])
{
	if (w->whole)
		return "as it is";
	snprintf(text, 16, "%.3g", w->ratio);
	return text;
}

const char *profile_way_name(const struct profile_way *w, char text[24])
{
	if (w->whole)
		return "as it is";
	snprintf(text, 24, "ratio %.3g", w->ratio);
	return text;
}

struct prediction profile_predict(const struct profile_report *r, unsigned way, bool first,
				  double faster, double larger)
{
	const struct profile *p = r->profile;
	const struct profile_way *w = &p->ways[way];
	struct predict_case c = {
		.files = (double)p->files, .cost = w->size, .cache = r->cache * larger,
		.fetch_rate = profile_fetch_rate(p), .decode = w->decode, .prepare = r->prepare,
		.recode = w->recoded ? w->recode + timing_cpu(p, w) : 0, .fetch = fetch_cpu(p),
		.cores = p->cores * faster, .workers = r->workers * faster,
		.step_rate = r->step_rate, .receive = r->receive, .start = r->start,
		.apart = p->apart, .first = first,
	};

	return predict(&c);
}

static int put_dataset(const struct profile_report *r, struct buf *b)
{
	const struct profile *p = r->profile;
	char all[32], mean[32];

	return buf_printf(b, "%s: %llu files, %s; sample: %u files of %s, %u of them images\n\n",
			  r->source, (unsigned long long)p->files, units_human_size(p->bytes, all),
			  p->sample, units_human_size((uint64_t)p->size, mean), p->decoded);
}

static int put_speeds(const struct profile *p, struct buf *b)
{
	int r = buf_printf(b, "The source, not in memory\n%10s %10s %10s %12s %12s\n", "at once",
			   "files/s", "MB/s", "median, ms", "99 %, ms");

	for (unsigned i = 0; r == 0 && i < p->speed_count; i++) {
		const struct profile_speed *s = &p->speeds[i];

		r = buf_printf(b, "%10u %10.0f %10.1f %12.2f %12.2f\n", s->parallel, s->files_s,
			       s->bytes_s / 1e6, s->median * 1e3, s->slow * 1e3);
	}
	return r < 0 ? r : buf_printf(b, "\n");
}

/* How far the means of all files may be from those of the sample; the largest of all ratios. */
static int put_errors(const struct profile *p, struct buf *b)
{
	double decode = 0, recode = 0;
	int r;

	for (unsigned i = 0; i < profile_ways(p); i++) {
		const struct profile_way *w = &p->ways[i];

		if (w->decode > 0)
			decode = DL_MAX(decode, w->decode_error / w->decode);
		if (w->recoded)
			recode = DL_MAX(recode, w->recode_error / w->recode);
	}
	if (decode == 0)
		return 0;
	r = buf_printf(b, "Tried with %u of %llu files (--sample); means of all are within %.1f %% "
		       "(decoded)", p->sample, (unsigned long long)p->files, 100 * decode);
	if (r == 0 && recode > 0)
		r = buf_printf(b, ", %.1f %% (recoded)", 100 * recode);
	return r < 0 ? r : buf_printf(b, " of these\n");
}

/* Why most of the sample is served as it is, the first of the ways apart. */
static enum recode_reason usual_reason(const struct profile *p)
{
	unsigned counts[RECODE_REASONS] = { 0 };
	enum recode_reason most = RECODE_OFF;

	for (unsigned i = 0; i < p->sample; i++)
		counts[p->ways[p->way_count - 1].images[i].reason]++;
	for (unsigned i = 0; i < RECODE_REASONS; i++)
		if (counts[i] > counts[most])
			most = i;
	return most;
}

static int put_notes(const struct profile *p, struct buf *b)
{
	int r = put_errors(p, b);

	if (r == 0 && p->way_count > 1 && profile_ways(p) == 1)
		r = buf_printf(b, "Nothing of the sample is recoded at these ratios, most of it "
			       "because: %s\n(ratios are for JPEGs; png=fast, for PNGs, is not "
			       "measured here)\n", recode_reason_name(usual_reason(p)));
	return r < 0 ? r : buf_printf(b, "\n");
}

static int put_quality(const struct profile *p, struct buf *b)
{
	char ratio[16];
	int r = buf_printf(b, "Quality, and what one core does (%.0f here)\n"
			   "%8s %8s %8s %8s %8s %10s %10s %8s\n", p->cores, "ratio", "bytes",
			   "SSIM", "least", "PSNR, dB", "decoded/s", "recoded/s", "as is");

	for (unsigned i = 0; r == 0 && i < profile_ways(p); i++) {
		const struct profile_way *w = &p->ways[i];

		r = buf_printf(b, "%8s %7.1f%% ", profile_ratio_name(w, ratio),
			       p->size > 0 ? 100 * w->size / p->size : 100);
		if (r == 0 && w->recoded)
			r = buf_printf(b, "%8.4f %8.4f ", w->ssim, w->ssim_least);
		else if (r == 0)
			r = buf_printf(b, "%8s %8s ", "-", "-");
		if (r == 0)
			r = w->psnr > 0 ? buf_printf(b, "%8.1f ", w->psnr)
					: buf_printf(b, "%8s ", "-");
		if (r == 0)
			r = w->decode > 0 ? buf_printf(b, "%10.0f ", 1 / w->decode)
					  : buf_printf(b, "%10s ", "-");
		if (r == 0)
			r = w->recoded ? buf_printf(b, "%10.0f ", 1 / w->recode)
				       : buf_printf(b, "%10s ", "-");
		if (r == 0)
			r = buf_printf(b, "%8u\n", p->sample - w->recoded);
	}
	return r < 0 ? r : put_notes(p, b);
}

/* Seconds, never with an exponent. */
static int put_time(double seconds, struct buf *b)
{
	int places = seconds >= 1000 ? 0 : seconds >= 100 ? 1 : seconds >= 10 ? 2 : 3;

	return buf_printf(b, "%10.*f ", places, seconds);
}

static int put_prediction(const struct profile_report *r, const char *what, unsigned way,
			  double faster, double larger, struct buf *b)
{
	struct prediction first = profile_predict(r, way, true, faster, larger);
	struct prediction later = profile_predict(r, way, false, faster, larger);
	int e = buf_printf(b, "%-24s ", what);

	if (e == 0)
		e = put_time(first.epoch, b);
	if (e == 0)
		e = put_time(later.epoch, b);
	/* All of it is in the cache, and nothing is known of what is done with it. */
	if (e == 0 && later.epoch == 0)
		return buf_printf(b, "%10s %7.1f%% %10s %10s  -\n", "-", 100 * later.hits, "-",
				  "-");
	return e < 0 ? e : buf_printf(b, "%10.0f %7.1f%% %9.1f%% %9.1f%%  %s\n",
				      (double)r->profile->files / later.epoch, 100 * later.hits,
				      100 * later.prepare_stall / later.epoch,
				      100 * later.fetch_stall / later.epoch,
				      predict_bound_name(later.bound));
}

/* Without images all ratios are alike, more cores bring nothing unless the loader needs them, and
 * more cache nothing to what fits. */
static int put_cases(const struct profile_report *r, struct buf *b)
{
	static const struct { const char *what; double faster, larger; } others[] = {
		{ "twice cores and workers", 2, 1 }, { "4 x cores and workers", 4, 1 },
		{ "twice the cache", 1, 2 }, { "four times the cache", 1, 4 },
	};
	bool images = r->profile->decoded > 0, cores = images || r->prepare > 0;
	bool fits = profile_predict(r, 0, false, 1, 1).hits == 1;
	const struct profile_way *ways = r->profile->ways;
	char text[24];
	int e = 0;

	for (unsigned i = 0; e == 0 && i < profile_ways(r->profile); i++)
		e = put_prediction(r, images ? profile_way_name(&ways[i], text) : "as it is", i, 1,
				   1, b);
	for (size_t i = 0; e == 0 && i < DL_COUNT(others); i++)
		if (others[i].larger > 1 ? !fits : cores)
			e = put_prediction(r, others[i].what, 0, others[i].faster,
					   others[i].larger, b);
	if (e == 0 && profile_ways(r->profile) > 1)
		e = buf_printf(b, "Twice and more are of %s.\n",
			       ways[0].whole ? "the files as they are" : "ratio 1");
	return e;
}

static int put_predictions(const struct profile_report *r, struct buf *b)
{
	char cache[32];
	int e = buf_printf(b, "Predicted, with %.0f worker%s, a cache of %s, ", r->workers,
			   r->workers == 1 ? "" : "s", units_human_size((uint64_t)r->cache, cache));

	if (e == 0)
		e = r->step_rate > 0
		    ? buf_printf(b, "a step of %.0f files/s\n", r->step_rate)
		    : buf_printf(b, "a step that takes what comes (--step-rate)\n");
	if (e == 0)
		e = buf_printf(b, "%-24s %10s %10s %10s %8s %10s %10s  %s\n", "", "epoch 0, s",
			       "later, s", "files/s", "hits", "CPU stall", "I/O stall", "bound by");
	if (e == 0)
		e = put_cases(r, b);
	if (e == 0 && !r->profile->decoded && r->prepare == 0 && r->step_rate == 0)
		e = buf_printf(b, "\nWhat your program does with a file is not in this: say it "
			       "with --prepare and --step-rate\n");
	return e;
}

int profile_text(const struct profile_report *r, struct buf *ret)
{
	int e = put_dataset(r, ret);

	if (e == 0)
		e = put_speeds(r->profile, ret);
	if (e == 0 && r->profile->decoded)
		e = put_quality(r->profile, ret);
	else if (e == 0)
		e = buf_printf(ret, "No images that can be decoded: only the source was "
			       "measured\n\n");
	return e < 0 ? e : put_predictions(r, ret);
}
