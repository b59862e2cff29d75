/* Fetches that wait in a source. */
#include <criterion/criterion.h>

#include "prefetch/source/queue.h"

#define COUNT 6u

static struct fetch fetches[COUNT];

static void fill(struct queue *q, const uint64_t *dues)
{
	*q = (struct queue){ 0 };
	for (unsigned i = 0; i < COUNT; i++) {
		fetches[i] = (struct fetch){ .id = i, .len = 100, .due = dues[i] };
		cr_assert_eq(queue_push(q, &fetches[i]), 0);
	}
}

static void expect(struct queue *q, const sample_id *ids)
{
	for (unsigned i = 0; i < COUNT; i++)
		cr_assert_eq(queue_pop(q)->id, ids[i], "at %u", i);
	cr_assert_null(queue_pop(q));
	queue_fini(q);
}

static const uint64_t dues[COUNT] = { 5, 3, 5, 9, 1, 3 };

Test(queue, the_most_urgent_comes_first_and_of_equals_the_first)
{
	struct queue q;

	fill(&q, dues);
	expect(&q, (sample_id[]){ 4, 1, 5, 0, 2, 3 });
}

Test(queue, who_is_waited_for_comes_next)
{
	struct queue q;

	fill(&q, dues);
	queue_hurry(&q, 2, 99);
	queue_hurry(&q, 3, 100);       /* it has no such byte */
	cr_assert(fetches[2].hurried_ && !fetches[3].hurried_);
	expect(&q, (sample_id[]){ 2, 4, 1, 5, 0, 3 });
}

Test(queue, what_is_read_in_turn_keeps_its_place)
{
	struct queue q;

	fill(&q, dues);
	fetches[2].in_turn = true;
	queue_hurry(&q, 2, 0);
	cr_assert(fetches[2].hurried_, "but layers above may hurry");
	expect(&q, (sample_id[]){ 4, 1, 5, 0, 2, 3 });
}
