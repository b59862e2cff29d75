#include "fs/profile/svg.h"

#include <math.h>

#define WIDTH 640
#define LEFT 110                       /* for labels */
#define RIGHT 60
#define ROW 34
#define TICKS 6.0

struct axis { double low, high; };

static double x_of(const struct axis *a, double value)
{
	double span = a->high > a->low ? a->high - a->low : 1;

	return LEFT + (value - a->low) / span * (WIDTH - LEFT - RIGHT);
}

/* 1, 2 or 5 times a power of ten. */
static double nice_step(const struct axis *a)
{
	double rough = (a->high - a->low) / TICKS, power;

	if (rough <= 0)
		return 1;
	power = pow(10, floor(log10(rough)));
	return power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
}

static int begin(struct buf *b, const struct axis *a, size_t rows, const char *unit)
{
	double step = nice_step(a), bottom = (double)rows * ROW + 6;
	int r = buf_printf(b, "<svg viewBox=\"0 0 %d %.0f\" role=\"img\">\n", WIDTH, bottom + 26);

	for (double t = ceil(a->low / step - 1e-9) * step; r == 0 && t <= a->high + step * 1e-6;
	     t += step)
		r = buf_printf(b, "<line class=\"axis\" x1=\"%.1f\" y1=\"0\" x2=\"%.1f\" "
			       "y2=\"%.0f\"/><text class=\"label\" x=\"%.1f\" y=\"%.0f\" "
			       "text-anchor=\"middle\">%.4g</text>\n", x_of(a, t), x_of(a, t),
			       bottom, x_of(a, t), bottom + 16, t + 0.0);
	if (r == 0)
		r = buf_printf(b, "<text class=\"label\" x=\"%d\" y=\"%.0f\">%s</text>\n",
			       WIDTH - RIGHT + 28, bottom + 16, unit);
	return r;
}

static int put_label(struct buf *b, size_t row, const char *label)
{
	return buf_printf(b, "<text class=\"label\" x=\"%d\" y=\"%zu\" text-anchor=\"end\">%s"
			  "</text>\n", LEFT - 8, row * ROW + 22, label);
}

static int put_bar(struct buf *b, const struct axis *a, size_t row, const struct svg_bar *bar)
{
	double from = 0;
	int r = put_label(b, row, bar->label);

	for (unsigned i = 0; r == 0 && i < SVG_PARTS; i++) {
		double to = from + bar->parts[i];

		if (bar->parts[i] > 0)
			r = buf_printf(b, "<rect class=\"part%u\" x=\"%.1f\" y=\"%zu\" "
				       "width=\"%.1f\" height=\"%d\"/>\n", i, x_of(a, from),
				       row * ROW + 5, x_of(a, to) - x_of(a, from), ROW - 10);
		from = to;
	}
	return r < 0 ? r : buf_printf(b, "<text class=\"label\" x=\"%.1f\" y=\"%zu\">%.4g</text>\n",
				      x_of(a, from) + 5, row * ROW + 22, from);
}

int svg_bars(struct buf *b, const struct svg_bar *bars, size_t count, const char *unit)
{
	struct axis a = { 0, 0 };
	int r;

	for (size_t i = 0; i < count; i++)
		a.high = fmax(a.high, bars[i].parts[0] + bars[i].parts[1] + bars[i].parts[2]);
	r = begin(b, &a, count, unit);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = put_bar(b, &a, i, &bars[i]);
	return r < 0 ? r : buf_printf(b, "</svg>\n");
}

static int put_box(struct buf *b, const struct axis *a, size_t row, const struct svg_box *box)
{
	size_t middle = row * ROW + ROW / 2;
	int r = put_label(b, row, box->label);

	if (r < 0)
		return r;
	return buf_printf(b, "<line class=\"box\" x1=\"%.1f\" y1=\"%zu\" x2=\"%.1f\" y2=\"%zu\"/>"
			  "<rect class=\"part0\" x=\"%.1f\" y=\"%zu\" width=\"%.1f\" "
			  "height=\"%d\"/><line class=\"box\" x1=\"%.1f\" y1=\"%zu\" x2=\"%.1f\" "
			  "y2=\"%zu\"/><text class=\"label\" x=\"%.1f\" y=\"%zu\">%.4g</text>\n",
			  x_of(a, box->at[0]), middle, x_of(a, box->at[4]), middle,
			  x_of(a, box->at[1]), middle - 8,
			  fmax(x_of(a, box->at[3]) - x_of(a, box->at[1]), 1), 16,
			  x_of(a, box->at[2]), middle - 11, x_of(a, box->at[2]), middle + 11,
			  x_of(a, box->at[4]) + 5, middle + 5, box->at[2]);
}

int svg_boxes(struct buf *b, const struct svg_box *boxes, size_t count, double low, double high,
	      const char *unit)
{
	struct axis a = { low, high };
	int r = begin(b, &a, count, unit);

	for (size_t i = 0; r == 0 && i < count; i++)
		r = put_box(b, &a, i, &boxes[i]);
	return r < 0 ? r : buf_printf(b, "</svg>\n");
}
