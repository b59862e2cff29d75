/* Two kinds of charts, as SVG inside an HTML page whose style sheet has the classes axis, label,
 * part0 to part2 and box.  Labels are ours, not foreign text.  Thread-safety: pure. */
#pragma once
#include "base/buf.h"

#define SVG_PARTS 3

struct svg_bar {                       /* a bar of several parts, side by side */
	char label[32];
	double parts[SVG_PARTS];
};
int svg_bars(struct buf *b, const struct svg_bar *bars, size_t count, const char *unit)
	DL_MUST_CHECK;

struct svg_box {                       /* a distribution: least, quarter, median, quarter, most */
	char label[32];
	double at[5];
};
/* The axis goes from `low` to `high`. */
int svg_boxes(struct buf *b, const struct svg_box *boxes, size_t count, double low, double high,
	      const char *unit) DL_MUST_CHECK;
