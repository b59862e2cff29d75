/* The first byte says what the rest is: 's' a spec, 'h' lessons, else a list file.  What is
 * accepted can be used: a spec gives epochs and sequences within their bounds, a list file indices
 * below n, lessons are printed as they are read.
 */
#include <assert.h>
#include <string.h>

#include "prefetch/order/lessons.h"
#include "prefetch/order/list_file.h"

#define SAMPLES 100u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_indices(const struct sequence *q)
{
	for (uint32_t i = 0; i < q->length; i++)
		assert(q->at[i] < SAMPLES);
}

static void check_epoch(const struct order_spec *s, const struct epoch *e)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = NULL;
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	int r;

	assert(order_describe(s, e, &text) == 0 && text.len > 0);
	/* A far epoch is right but takes its time. */
	if (e->rule == EPOCH_LISTED || e->skip > 1000000 || e->word > 1000000)
		return;
	r = e->rule == EPOCH_DRAWN ? order_drawn(s, e, SAMPLES, NULL, 0, &q)
				   : order_sequence(s, e, SAMPLES, &q);
	assert(r == 0);
	check_indices(q);
}

static void try_spec(const char *text)
{
	dl_cleanup(order_spec_fini) struct order_spec s = { 0 };
	struct epoch e[ORDER_BRANCHES];
	char error[160] = "";
	size_t count;
	int r = order_parse(text, &s, error);

	assert(r == 0 || (r == -EINVAL && error[0]));
	if (r < 0 || s.epoch > 1000)
		return;
	count = order_first(&s, SAMPLES, e);
	assert(count <= ORDER_BRANCHES);
	for (size_t i = 0; i < count; i++) {
		struct epoch next[ORDER_BRANCHES];
		size_t more = order_next(&s, SAMPLES, &e[i], next);

		assert(more > 0 && more <= ORDER_BRANCHES);
		check_epoch(&s, &e[i]);
		check_epoch(&s, &next[more - 1]);
	}
}

static int resolve(void *context, const char *path)
{
	(void)context;
	return *path ? (int)(strlen(path) % SAMPLES) : -ENOENT;
}

static void try_list(struct bytes text)
{
	struct list_epochs l = { 0 };
	char error[160] = "";
	int r = list_file_parse(text, SAMPLES, resolve, NULL, &l, error);

	assert(r == 0 ? l.count > 0 : r == -EINVAL && error[0] && l.count == 0);
	for (size_t i = 0; i < l.count; i++) {
		assert(l.at[i]->length > 0);
		check_indices(l.at[i]);
	}
	list_epochs_fini(&l);
}

static void try_lessons(struct bytes text)
{
	static struct lessons l, again;
	dl_cleanup(buf_free) struct buf printed = BUF_EMPTY;

	lessons_parse(text, &l);
	assert(l.count <= LESSONS_MAX && lessons_print(&l, &printed) == 0);
	lessons_parse((struct bytes){ printed.at, printed.len }, &again);
	assert(again.count == l.count);
	for (size_t i = 0; i < l.count; i++)
		assert(again.at[i].seed == l.at[i].seed && again.at[i].skip == l.at[i].skip);
	for (size_t i = 0; i < l.count; i++)
		lessons_after(&l, &l.at[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	dl_cleanup(dl_freep) char *text = NULL;

	if (size == 0)
		return 0;
	if (data[0] != 's') {
		struct bytes rest = { data + 1, size - 1 };

		data[0] == 'h' ? try_lessons(rest) : try_list(rest);
		return 0;
	}
	text = strndup((const char *)data + 1, size - 1);
	assert(text);
	try_spec(text);
	return 0;
}
