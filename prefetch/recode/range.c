#include "prefetch/recode/range.h"

#define MOST 1024u                     /* 8 * 128 */

void range_most(const uint16_t steps[64], int16_t ret[64])
{
	for (unsigned k = 0; k < 64; k++) {
		unsigned step = DL_MAX(steps[k], 1u), most = MOST + MOST / 8 + step / 2;

		if (k == 0)
			most = DL_MIN(most, MOST + step);
		ret[k] = (int16_t)DL_MIN(most / step, k ? MOST - 1 : MOST);
	}
}
