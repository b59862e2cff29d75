/* Rows of values made smaller, along one axis: Keys' cubic filter (a = -0.5), as wide as the
 * reduction asks for.
 *
 * Thread-safety: pure.
 */
#pragma once
#include "base/dl.h"

struct resize {
	uint32_t from, to, taps;
	uint32_t *first;               /* [to] the first value that counts */
	float *weight;                 /* [to][taps] */
};

/* -ENOMEM.  from >= to >= 1 */
int resize_init(struct resize *r, uint32_t from, uint32_t to) DL_MUST_CHECK;
void resize_fini(struct resize *r);

/* The new size of a picture of which no side shall be longer than that; 0: any length. */
void resize_sides(unsigned *width, unsigned *height, unsigned max_short, unsigned max_long);
