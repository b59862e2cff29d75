/* The order in which JPEG writes the coefficients of a block.
 * Thread-safety: constants.
 */
#pragma once
#include <stdint.h>

extern const uint8_t natural_order[64];        /* of zigzag position z: 8 * row + column */

/* [i][m]: the zigzag positions, as bits, of the columns m (as bits) of row i */
extern const uint64_t zigzag_of_row[8][256];

static inline unsigned zigzag_position(unsigned natural)
{
	return (unsigned)__builtin_ctzll(zigzag_of_row[natural / 8][1u << natural % 8]);
}
