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
		cr_assert_eq(queue_pop(q, 1)->id, ids[i], "at %u", i);
	cr_assert_null(queue_pop(q, 1));
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
	queue_hurry(&q, 2, 99, 1);
	queue_hurry(&q, 3, 100, 1);       /* it has no such byte */
	cr_assert(fetches[2].hurried_ && !fetches[3].hurried_);
	expect(&q, (sample_id[]){ 2, 4, 1, 5, 0, 3 });
}

Test(queue, what_is_read_in_turn_keeps_its_place)
{
	struct queue q;

	fill(&q, dues);
	fetches[2].in_turn = true;
	queue_hurry(&q, 2, 0, 1);
	cr_assert(fetches[2].hurried_, "but layers above may hurry");
	expect(&q, (sample_id[]){ 4, 1, 5, 0, 2, 3 });
}

static void hurry_in_turn(struct queue *q, sample_id id, uint64_t now)
{
	fetches[id].in_turn = true;
	queue_hurry(q, id, 0, now);
}

Test(queue, nobody_waits_for_his_turn_longer_than_he_is_patient)
{
	struct queue q;

	fill(&q, dues);
	hurry_in_turn(&q, 0, 10);
	hurry_in_turn(&q, 3, 5);
	queue_hurry(&q, 3, 0, 20);     /* another reader does not make the first one wait again */
	cr_assert_eq(queue_pop(&q, QUEUE_PATIENCE + 4)->id, 4);
	cr_assert_eq(queue_pop(&q, QUEUE_PATIENCE + 5)->id, 1, "what was at the top comes");
	cr_assert_eq(queue_pop(&q, QUEUE_PATIENCE + 9)->id, 3);
	cr_assert_eq(queue_pop(&q, QUEUE_PATIENCE + 10)->id, 5);
	cr_assert_eq(queue_pop(&q, QUEUE_PATIENCE + 10)->id, 0);
	cr_assert_eq(queue_pop(&q, QUEUE_PATIENCE + 10)->id, 2);
	queue_fini(&q);
}

Test(queue, patience_began_in_the_queue_above)
{
	struct fetch late = { .id = 9, .len = 100, .due = 99, .in_turn = true, .hurried_ = 7 };
	struct queue q;

	fill(&q, dues);
	cr_assert_eq(queue_push(&q, &late), 0);
	cr_assert_eq(queue_pop(&q, QUEUE_PATIENCE + 7)->id, 4);
	cr_assert_eq(queue_pop(&q, QUEUE_PATIENCE + 7), &late);
	for (unsigned i = 1; i < COUNT; i++)
		cr_assert_not_null(queue_pop(&q, QUEUE_PATIENCE + 7));
	queue_fini(&q);
}
