/* The memory that recoding an image takes: given out piece by piece, taken back all at once, and
 * kept for the next image.  Fresh memory costs more than much of the work that is done in it.
 *
 * Thread-safety: one thread at a time for a room.
 */
#pragma once
#include "prefetch/recode/recode.h"

/* For count * size bytes, with any content, aligned for vectors, until room_clear().  NULL: no more
 * memory.
 */
void *room_take(struct recode_room *room, size_t count, size_t size) DL_MUST_CHECK;
void room_clear(struct recode_room *room);
