/* Orders of the epoch view, as 32 bit numbers on standard output, for epoch.py to judge.
 *
 *     bench-draws SAMPLES CLASSES PIECE RESERVOIR FROM TO
 */
#include <stdio.h>
#include <stdlib.h>

#include "prefetch/order/draw.h"

static uint32_t number(const char *text) { return (uint32_t)strtoul(text, NULL, 10); }

int main(int argc, char **argv)
{
	struct draw d = { 0 };
	uint32_t *borders, *order, *pieces, classes, count;

	if (argc != 7)
		return 2;
	d.n = number(argv[1]);
	classes = number(argv[2]);
	d.piece = number(argv[3]);
	d.reservoir = number(argv[4]);
	borders = calloc(classes, sizeof(*borders));
	order = calloc(d.n, sizeof(*order));
	if (!borders || !order)
		return 1;
	for (uint32_t i = 0; i < classes; i++)
		borders[i] = (uint32_t)((uint64_t)d.n * i / classes);
	d.borders = borders;
	d.border_count = classes;
	for (d.epoch = number(argv[5]); d.epoch < number(argv[6]); d.epoch++) {
		if (draw_epoch(&d, order, &pieces, &count) < 0 ||
		    fwrite(order, sizeof(*order), d.n, stdout) != d.n)
			return 1;
		free(pieces);
	}
	free(borders);
	free(order);
	return 0;
}
