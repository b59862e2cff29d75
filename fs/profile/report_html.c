/* One page, without scripts and without anything to load: it can be mailed. */
#include <stdio.h>
#include <string.h>

#include "config/units.h"
#include "fs/profile/report.h"
#include "fs/profile/svg.h"

static const char head[] =
	"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\"><title>dlfs profile</title>\n"
	"<style>\n"
	":root{--ink:#1b1f24;--paper:#fff;--line:#d5d9de;--a:#0072b2;--b:#e69f00;--c:#cc3311}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e6e8eb;--paper:#15181c;--line:#3a4048;"
	"--a:#56b4e9}}\n"
	"body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
	"max-width:52rem;margin:2rem auto;padding:0 1rem}\n"
	"h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}\n"
	"pre{overflow-x:auto;font-size:12px;border:1px solid var(--line);padding:.7rem}\n"
	"svg{width:100%;height:auto}.label{fill:var(--ink);font-size:12px}\n"
	".axis{stroke:var(--line)}.box{stroke:var(--ink);stroke-width:1.5}\n"
	".part0{fill:var(--a)}.part1{fill:var(--b)}.part2{fill:var(--c)}\n"
	".key span{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 1em}\n"
	"table.crops td{padding:2px;text-align:center;font-size:12px}\n"
	"table.crops img{image-rendering:pixelated;width:160px;height:auto;display:block}\n"
	".wide{overflow-x:auto}\n"
	"</style></head><body>\n";

/* Names of files are foreign: they may hold anything. */
static int put_escaped(struct buf *b, const char *text)
{
	int r = 0;

	for (; r == 0 && *text; text++) {
		if (strchr("<>&\"'", *text))
			r = buf_printf(b, "&#%u;", (uint8_t)*text);
		else if ((uint8_t)*text < 0x20 && *text != '\n')
			r = buf_append(b, "?", 1);
		else
			r = buf_append(b, text, 1);
	}
	return r;
}

static int put_base64(struct buf *b, struct bytes data)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *at = data.at;
	int r = 0;

	for (size_t i = 0; r == 0 && i < data.len; i += 3) {
		uint32_t three = (uint32_t)at[i] << 16;
		char out[4];

		if (i + 1 < data.len)
			three |= (uint32_t)at[i + 1] << 8;
		if (i + 2 < data.len)
			three |= at[i + 2];
		for (unsigned n = 0; n < 4; n++)
			out[n] = digits[three >> (18 - 6 * n) & 63];
		if (i + 2 >= data.len)
			out[3] = '=';
		if (i + 1 >= data.len)
			out[2] = '=';
		r = buf_append(b, out, 4);
	}
	return r;
}

/* --- Charts --------------------------------------------------------------------------- */

static int put_times(const struct profile_report *r, bool first, struct buf *b)
{
	struct svg_bar bars[PROFILE_WAYS] = { 0 };
	unsigned ways = profile_ways(r->profile);
	char text[24];

	for (unsigned i = 0; i < ways; i++) {
		struct prediction p = profile_predict(r, i, first, 1, 1);

		snprintf(bars[i].label, sizeof(bars[i].label), "%s",
			 profile_way_name(&r->profile->ways[i], text));
		bars[i].parts[0] = p.compute;
		bars[i].parts[1] = p.prepare_stall;
		bars[i].parts[2] = p.fetch_stall;
	}
	return svg_bars(b, bars, ways, "s");
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double percent_of(const struct profile *p, unsigned way, unsigned image)
{
	return 100 * (double)p->ways[way].images[image].size / (double)p->sizes[image];
}

static double ssim_of(const struct profile *p, unsigned way, unsigned image)
{
	return p->ways[way].images[image].ssim;
}

/* The distribution of a value over the sample, for each ratio. */
static int put_boxes(const struct profile *p, double (*value)(const struct profile *, unsigned,
			unsigned), double low, double high, const char *unit, struct buf *b)
{
	dl_cleanup(dl_freep) double *values = calloc(p->sample, sizeof(*values));
	struct svg_box boxes[PROFILE_WAYS] = { 0 };
	char text[24];

	if (!values)
		return -ENOMEM;
	for (unsigned way = 0; way < p->way_count; way++) {
		for (unsigned i = 0; i < p->sample; i++)
			values[i] = value(p, way, i);
		qsort(values, p->sample, sizeof(*values), by_value);
		snprintf(boxes[way].label, sizeof(boxes[way].label), "%s",
			 profile_way_name(&p->ways[way], text));
		for (unsigned q = 0; q < 5; q++)
			boxes[way].at[q] = values[(size_t)(p->sample - 1) * q / 4];
		low = DL_MIN(low, boxes[way].at[0]);
		high = DL_MAX(high, boxes[way].at[4]);
	}
	return svg_boxes(b, boxes, p->way_count, low, high, unit);
}

static int put_charts(const struct profile_report *r, struct buf *b)
{
	int e = buf_printf(b, "<h2>Epoch time against ratio</h2>\n<p class=\"key\"><span "
			   "class=\"part0\" style=\"background:var(--a)\"></span>training step"
			   "<span style=\"background:var(--b)\"></span>waits for the CPU (decoding)"
			   "<span style=\"background:var(--c)\"></span>waits for the source</p>\n"
			   "<h3>Later epochs</h3>\n");

	if (e == 0)
		e = put_times(r, false, b);
	if (e == 0)
		e = buf_printf(b, "<h3>First epoch</h3>\n");
	if (e == 0)
		e = put_times(r, true, b);
	if (e < 0 || profile_ways(r->profile) == 1)
		return e;
	e = buf_printf(b, "<h2>Bytes of each file, of the source's</h2>\n"
			       "<p>Least, quarters, median (the number) and most of the "
			       "sample.</p>\n");
	if (e == 0)
		e = put_boxes(r->profile, percent_of, 0, 100, "%", b);
	if (e == 0)
		e = buf_printf(b, "<h2>SSIM of each file against the source</h2>\n"
			       "<p>As above; 1 is what looks the same.</p>\n");
	return e < 0 ? e : put_boxes(r->profile, ssim_of, 0.99, 1, "", b);
}

/* --- Crops ---------------------------------------------------------------------------- */

static int put_crop(const struct profile_way *w, unsigned image, struct buf *b)
{
	const struct buf *png = &w->crops[image].png;
	char ratio[16];
	int e = buf_printf(b, "<td>");

	if (e == 0 && png->len) {
		e = buf_printf(b, "<img alt=\"\" src=\"data:image/png;base64,");
		if (e == 0)
			e = put_base64(b, (struct bytes){ png->at, png->len });
		if (e == 0)
			e = buf_printf(b, "\">%s: %llu bytes, SSIM %.4f",
				       profile_ratio_name(w, ratio),
				       (unsigned long long)w->images[image].size,
				       w->images[image].ssim);
	}
	return e < 0 ? e : buf_printf(b, "</td>");
}

static int put_crops(const struct profile *p, struct buf *b)
{
	int e = buf_printf(b, "<h2>The middle of some images, at each ratio</h2>\n"
			   "<div class=\"wide\"><table class=\"crops\">\n");

	for (unsigned i = 0; e == 0 && i < DL_MIN(p->sample, (unsigned)PROFILE_SHOWN); i++) {
		if (!p->ways[0].crops[i].png.len)
			continue;
		e = buf_printf(b, "<tr><td colspan=\"%u\">", p->way_count);
		if (e == 0)
			e = put_escaped(b, p->names[i]);
		if (e == 0)
			e = buf_printf(b, "</td></tr>\n<tr>");
		for (unsigned way = 0; e == 0 && way < p->way_count; way++)
			e = put_crop(&p->ways[way], i, b);
		if (e == 0)
			e = buf_printf(b, "</tr>\n");
	}
	return e < 0 ? e : buf_printf(b, "</table></div>\n");
}

static int put_title(const struct profile_report *r, const char *host, const char *when,
		     struct buf *b)
{
	int e = buf_printf(b, "<h1>dlfs profile</h1>\n<p>");

	if (e == 0)
		e = put_escaped(b, r->source);
	if (e == 0)
		e = buf_printf(b, ", on ");
	if (e == 0)
		e = put_escaped(b, host);
	return e < 0 ? e : buf_printf(b, ", %s</p>\n", when);
}

int profile_html(const struct profile_report *r, const char *host, const char *when,
		 struct buf *ret)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	int e = profile_text(r, &text);

	if (e == 0)
		e = buf_append(ret, head, sizeof(head) - 1);
	if (e == 0)
		e = put_title(r, host, when, ret);
	if (e == 0)
		e = put_charts(r, ret);
	if (e == 0 && profile_ways(r->profile) > 1)
		e = put_crops(r->profile, ret);
	if (e == 0)
		e = buf_printf(ret, "<h2>All figures</h2>\n<pre>");
	if (e == 0)
		e = put_escaped(ret, (char *)text.at);
	return e < 0 ? e : buf_printf(ret, "</pre>\n</body></html>\n");
}
