/* Who only looks at an epoch of the view changes no order; who opens what he looked at does. */
#include "prefetch/engine_internal.h"
#include "tests/lib/engine_stage.h"

/* true: it has begun nothing. */
static bool look(unsigned number)
{
	bool idle = engine_resolved(engine, 1, number, f + number);

	settle();
	return idle;
}

static void open_id(sample_id id)
{
	engine_opened(engine, id, (uint32_t)getpid());
	settle();
}

/* What each of 16 looks says, if its open comes after it. */
static void look_and_open(void)
{
	for (unsigned i = 0; i < DL_COUNT(all); i++) {
		cr_assert_eq(look(i), i < DL_COUNT(all) / 2, "look %u", i);
		open_id(f + i);
	}
}

Test(looks, half_of_them_are_opened)
{
	begin(16 * MiB, 2);
	look_and_open();
	cr_assert(!look(0));
	end();
}

Test(looks, a_few_are_opened)
{
	begin(16 * MiB, 2);
	for (unsigned i = 0; i < DL_COUNT(all); i++)
		cr_assert(look(i));
	for (unsigned i = 0; i < DL_COUNT(all) / 2 - 1; i++)
		open_id(f + all[i]);
	cr_assert(look(0));
	end();
}

Test(looks, all_are_opened_much_later)
{
	begin(16 * MiB, 2);
	for (unsigned i = 0; i < DL_COUNT(all); i++)
		cr_assert(look(i));
	for (unsigned i = 0; i < LOOK_FOLLOWED; i++)
		open_id(h);
	for (unsigned i = 0; i < DL_COUNT(all); i++)
		open_id(f + all[i]);
	cr_assert(look(0));
	end();
}

Test(looks, an_order_that_is_told_counts_from_there)
{
	begin(16 * MiB, 2);
	look_and_open();
	follow(order, ORDER);
	open_id(h);
	cr_assert(look(0));
	end();
}
