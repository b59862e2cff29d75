#include "prefetch/order/recall.h"

#include <limits.h>
#include <string.h>

#include "base/sum.h"

#define MAGIC UINT64_C(0x3172726f73666c64)     /* "dlfsorr1" */

struct header {
	uint64_t magic;
	uint64_t sum;                  /* of all that follows it */
	uint32_t kind, n, length, root;        /* root: bytes of its path */
};
#define SUMMED offsetof(struct header, kind)

static uint64_t size_of(const struct header *h)
{
	return sizeof(*h) + h->root + (uint64_t)h->length * sizeof(uint32_t);
}

int recall_print(enum list_kind kind, struct bytes root, const struct sequence *q, struct buf *ret)
{
	struct header h = {
		.magic = MAGIC, .kind = kind, .n = q->n, .length = q->length,
		.root = (uint32_t)root.len,
	};
	int r;

	if (root.len > PATH_MAX || size_of(&h) > RECALL_MAX)
		return -EFBIG;
	r = buf_append(ret, &h, sizeof(h));
	if (r == 0)
		r = buf_append(ret, root.at, root.len);
	if (r == 0)
		r = buf_append(ret, q->at, q->length * sizeof(q->at[0]));
	if (r < 0)
		return r;
	h.sum = sum_of(ret->at + SUMMED, ret->len - SUMMED, 0);
	memcpy(ret->at, &h, sizeof(h));
	return 0;
}

static bool is_sound(struct bytes bytes, struct header *ret)
{
	if (bytes.len < sizeof(*ret))
		return false;
	memcpy(ret, bytes.at, sizeof(*ret));
	return ret->magic == MAGIC && ret->kind < LIST_KINDS && ret->root <= PATH_MAX &&
	       ret->length > 0 && size_of(ret) == bytes.len &&
	       ret->sum == sum_of((const uint8_t *)bytes.at + SUMMED, bytes.len - SUMMED, 0);
}

static bool all_below(const struct sequence *q)
{
	for (uint32_t i = 0; i < q->length; i++)
		if (q->at[i] >= q->n)
			return false;
	return true;
}

int recall_parse(struct bytes bytes, struct recall *ret)
{
	const uint8_t *at = (const void *)bytes.at;
	struct header h;

	*ret = (struct recall){ 0 };
	if (!is_sound(bytes, &h))
		return -EINVAL;
	ret->kind = (enum list_kind)h.kind;
	ret->root = strndup((const char *)at + sizeof(h), h.root);
	ret->sequence = sequence_new(h.length, h.n);
	if (!ret->root || !ret->sequence) {
		recall_fini(ret);
		return -ENOMEM;
	}
	memcpy(ret->sequence->at, at + sizeof(h) + h.root, h.length * sizeof(uint32_t));
	if (all_below(ret->sequence))
		return 0;
	recall_fini(ret);
	return -EINVAL;
}

void recall_fini(struct recall *r)
{
	free(r->root);
	sequence_unref(r->sequence);
	*r = (struct recall){ 0 };
}
