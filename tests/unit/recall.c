/* An order that is kept for the next run. */
#include "tests/lib/stage.h"

#include "prefetch/order/recall.h"

#define N 100u

static struct buf printed(const struct sequence *q)
{
	struct buf bytes = BUF_EMPTY;

	cr_assert_eq(recall_print(LIST_PATHS, (struct bytes){ "a/b", 3 }, q, &bytes), 0);
	return bytes;
}

Test(recall, reads_what_it_wrote)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(N, 7, 0);
	dl_cleanup(recall_fini) struct recall r = { 0 };
	dl_cleanup(buf_free) struct buf bytes = printed(q);

	cr_assert_eq(recall_parse((struct bytes){ bytes.at, bytes.len }, &r), 0);
	cr_assert_eq(r.kind, LIST_PATHS);
	cr_assert_str_eq(r.root, "a/b");
	cr_assert_eq(r.sequence->n, N);
	cr_assert_eq(r.sequence->length, N);
	cr_assert_arr_eq(r.sequence->at, q->at, N * sizeof(q->at[0]));
}

Test(recall, believes_nothing_that_is_damaged)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(N, 7, 0);
	dl_cleanup(buf_free) struct buf bytes = printed(q);
	struct recall r;

	for (size_t len = 0; len < bytes.len; len++)
		cr_assert_eq(recall_parse((struct bytes){ bytes.at, len }, &r), -EINVAL);
	for (size_t i = 0; i < bytes.len; i++) {
		bytes.at[i] ^= 0x10;
		cr_assert_eq(recall_parse((struct bytes){ bytes.at, bytes.len }, &r), -EINVAL,
			     "byte %zu", i);
		bytes.at[i] ^= 0x10;
	}
}

/* Its sum is right, but there is no such index. */
Test(recall, knows_no_index_beyond_the_list)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(N, 7, 0);
	dl_cleanup(buf_free) struct buf bytes = BUF_EMPTY;
	struct recall r;

	q->at[5] = N;
	bytes = printed(q);
	cr_assert_eq(recall_parse((struct bytes){ bytes.at, bytes.len }, &r), -EINVAL);
}

Test(recall, keeps_no_order_that_is_too_long)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = sequence_new(RECALL_MAX / 4, N);
	dl_cleanup(buf_free) struct buf bytes = BUF_EMPTY;

	cr_assert_eq(recall_print(LIST_ALL, (struct bytes){ "", 0 }, q, &bytes), -EFBIG);
}
