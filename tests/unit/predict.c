/* How long an epoch will take: each of the three bounds, and what is left when it is lifted. */
#include <criterion/criterion.h>

#include "fs/profile/predict.h"

/* 10,000 files: 10 s of training, 5 s of decoding on 4 cores, 20 s of fetching. */
static const struct predict_case base = {
	.files = 10000, .cost = 100000, .cache = 0, .fetch_rate = 500, .decode = 0.002,
	.cores = 4, .workers = 4, .step_rate = 1000,
};

static void expect(struct predict_case c, enum predict_bound bound, double epoch)
{
	struct prediction p = predict(&c);

	cr_assert_eq(p.bound, bound, "%s", predict_bound_name(p.bound));
	cr_assert_float_eq(p.epoch, epoch, 1e-9, "%f", p.epoch);
	cr_assert_float_eq(p.compute + p.prepare_stall + p.fetch_stall, p.epoch, 1e-9);
}

Test(predict, a_slow_source_is_the_bound_until_the_cache_holds_enough)
{
	struct predict_case c = base;
	struct prediction p;

	expect(c, PREDICT_FETCH, 20);
	c.cache = 0.25 * c.files * c.cost;
	expect(c, PREDICT_FETCH, 15);
	p = predict(&c);
	cr_assert_float_eq(p.hits, 0.25, 1e-9);
	cr_assert_float_eq(p.fetch_stall, 5, 1e-9);
	c.first = true;
	expect(c, PREDICT_FETCH, 20);
	c.first = false;
	c.cache = 2 * c.files * c.cost;
	expect(c, PREDICT_COMPUTE, 10);
	cr_assert_float_eq(predict(&c).hits, 1, 1e-9);
}

Test(predict, smaller_files_make_more_hits)
{
	struct predict_case c = base;

	c.cache = 0.25 * c.files * c.cost;
	c.cost /= 3;
	expect(c, PREDICT_COMPUTE, 10);
	cr_assert_float_eq(predict(&c).hits, 0.75, 1e-9);
}

Test(predict, decoding_is_the_bound_with_few_cores_or_few_workers)
{
	struct predict_case c = base;

	c.cache = 1e12;
	c.workers = 1;
	expect(c, PREDICT_PREPARE, 20);
	c.workers = 8;
	c.cores = 1;
	expect(c, PREDICT_PREPARE, 20);
	c.cores = 4;
	c.prepare = 0.006;
	expect(c, PREDICT_PREPARE, 20);
	cr_assert_float_eq(predict(&c).prepare_stall, 10, 1e-9);
}

Test(predict, recoding_takes_what_the_workers_leave)
{
	struct predict_case c = base;

	c.fetch_rate = 1e6;
	c.workers = 2;
	c.recode = 0.002;
	expect(c, PREDICT_COMPUTE, 10);        /* two cores decode, two recode */
	c.recode = 0.006;
	expect(c, PREDICT_PREPARE, 20);
	c.recode = 0.005, c.fetch = 0.001;     /* fetching is work as well */
	expect(c, PREDICT_PREPARE, 20);
	c.cache = 1e12;                        /* what is kept is not recoded again */
	expect(c, PREDICT_COMPUTE, 10);
}

/* A worker has 2/3 of its core while two threads recode for 10000 * 0.006 / (4 / 3) seconds. */
Test(predict, who_recodes_in_a_group_of_its_own_takes_from_the_workers)
{
	struct predict_case c = base;

	c.fetch_rate = 1e6;
	c.step_rate = 0;
	c.cores = 2;
	c.workers = 1;
	c.prepare = 0.004;
	c.recode = 0.005, c.fetch = 0.001;
	c.apart = true;
	expect(c, PREDICT_PREPARE, 60 + 45.0 / 3);
	c.workers = 2;                         /* all is shared anyway */
	expect(c, PREDICT_PREPARE, 60);
	c.workers = 1;
	c.recode = 0.014;                      /* that is the bound now */
	expect(c, PREDICT_PREPARE, 105);
	c.recode = 0;                          /* fetching is no thread that goes on and on */
	expect(c, PREDICT_PREPARE, 60);
}

Test(predict, the_source_works_while_workers_start)
{
	struct predict_case c = base;

	c.start = 2;
	expect(c, PREDICT_FETCH, 20);
	c.cache = 1e12;
	expect(c, PREDICT_COMPUTE, 12);
	c.workers = 1;
	expect(c, PREDICT_PREPARE, 22);
}

Test(predict, receiving_a_batch_and_the_step_are_not_at_once)
{
	struct predict_case c = base;

	c.cache = 1e12;
	c.receive = 0.0002;
	expect(c, PREDICT_COMPUTE, 12);
}

Test(predict, without_a_step_rate_there_is_no_computation)
{
	struct predict_case c = base;

	c.step_rate = 0;
	c.fetch_rate = 1e6;
	expect(c, PREDICT_PREPARE, 5);
}
