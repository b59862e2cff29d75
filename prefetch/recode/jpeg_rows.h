/* Coefficients where libjpeg finds them without a copy: it asks for arrays of blocks and for rows
 * of these, and gets them in a room.
 *
 * Thread-safety: one thread at a time for a libjpeg object.
 */
#pragma once
#include "prefetch/recode/jpeg_guard.h"

/* After jpeg_create_(de)compress(): arrays that it asks for lie in the room of its guard. */
void jpeg_rows_take_over(j_common_ptr c);

/* The blocks of such an array, row by row. */
JBLOCK *jpeg_rows_first(jvirt_barray_ptr array);

/* An array that was made already.  It has `height` rows; those from `rows` on are the last one. */
jvirt_barray_ptr jpeg_rows_of(j_common_ptr c, JBLOCK *first, uint32_t columns, uint32_t rows,
			      uint32_t height);
