#include "prefetch/recode/jpeg_rows.h"

#include <string.h>

#include "prefetch/recode/room.h"

struct rows {                          /* what a jvirt_barray_ptr points to */
	uint32_t height;
	JBLOCKROW at[];
};

static void *take(j_common_ptr c, size_t count, size_t size)
{
	struct jpeg_guard *g = (struct jpeg_guard *)c->err;
	void *ret = room_take(g->room, count, size);

	if (!ret)
		jpeg_leave(g, RECODE_NO_MEMORY);
	return ret;
}

jvirt_barray_ptr jpeg_rows_of(j_common_ptr c, JBLOCK *first, uint32_t columns, uint32_t rows,
			      uint32_t height)
{
	struct rows *r = take(c, 1, sizeof(*r) + height * sizeof(r->at[0]));

	r->height = height;
	for (uint32_t y = 0; y < height; y++)
		r->at[y] = first + (size_t)DL_MIN(y, rows - 1) * columns;
	return (jvirt_barray_ptr)r;
}

static jvirt_barray_ptr request(j_common_ptr c, int pool, boolean zero, JDIMENSION columns,
				JDIMENSION rows, JDIMENSION at_once)
{
	size_t count = (size_t)columns * rows;
	JBLOCK *first = take(c, count, sizeof(*first));

	(void)pool, (void)at_once;
	if (zero)
		memset(first, 0, count * sizeof(*first));
	return jpeg_rows_of(c, first, columns, rows, rows);
}

static JBLOCKARRAY access_rows(j_common_ptr c, jvirt_barray_ptr array, JDIMENSION from,
			       JDIMENSION count, boolean writable)
{
	struct rows *r = (struct rows *)array;

	(void)writable;
	if (from > r->height || count > r->height - from)
		jpeg_leave((struct jpeg_guard *)c->err, RECODE_DAMAGED);
	return r->at + from;
}

void jpeg_rows_take_over(j_common_ptr c)
{
	c->mem->request_virt_barray = request;
	c->mem->access_virt_barray = access_rows;
}

JBLOCK *jpeg_rows_first(jvirt_barray_ptr array)
{
	return ((struct rows *)array)->at[0];
}
