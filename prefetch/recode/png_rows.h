/* Rows of a PNG and their filters (PNG specification, 9).
 * Thread-safety: pure functions.
 */
#pragma once
#include "base/dl.h"

enum { ROW_NONE, ROW_SUB, ROW_UP, ROW_AVERAGE, ROW_PAETH, ROW_FILTERS };

/* Undo a filter.  above: the row over it without filter, NULL: there is none; step: bytes from a
 * pixel to the next, at least 1. */
void row_undo(int filter, uint8_t *row, const uint8_t *above, size_t len, size_t step);
/* The same the other way, for ROW_NONE, ROW_SUB and ROW_UP. */
void row_apply(int filter, const uint8_t *row, const uint8_t *above, size_t len, size_t step,
	       uint8_t *ret);
/* What an ideal coder of single bytes would make of it, in bytes. */
double row_entropy(const uint8_t *row, size_t len);
/* What decoding costs besides inflating, a byte of the row; in the unit that inflating a byte of
 * compressed data costs.  Measured with zlib 1.2.13, PIL and libpng on x86-64. */
double row_cost(int filter);
