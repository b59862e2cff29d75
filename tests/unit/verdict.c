/* What counts as mispredicted: simulated DataLoaders before a tracker that was told an order. */
#include "tests/lib/stage.h"

/* Three epochs of `n` samples, each a randperm, by loaders of any shape. */
static uint64_t mispredicted_by(const char *spec, uint32_t n, const uint32_t seeds[3],
				unsigned workers, uint32_t batch)
{
	struct stage s;
	uint64_t count;

	stage_open(&s, spec, n, NULL);
	s.random.state += n * 64 + workers * 8 + batch;
	for (uint32_t e = 0; e < 3; e++) {
		dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(n, seeds[e], 0);
		struct loader l = { .sequence = q, .to = n, .workers = workers, .batch = batch,
				    .pid = 50 + 10 * e };

		while (loader_open(&l, &s))
			;
	}
	count = tracker_mispredicted(s.tracker);
	stage_close(&s);
	return count;
}

static const uint32_t sizes[] = { 60, 300, 1000, 5000 };
static const unsigned crews[] = { 0, 1, 2, 4, 8 };
static const uint32_t batches[] = { 1, 4, 8, 32, 64 };

Test(verdict, an_exact_order_is_never_mispredicted, .timeout = 100)
{
	const uint32_t torch[3] = { word_of(7, 3), word_of(7, 7), word_of(7, 11) };
	const uint32_t ranks[3] = { 7, 8, 9 };

	for (size_t i = 0; i < DL_COUNT(sizes) * DL_COUNT(crews) * DL_COUNT(batches); i++) {
		uint32_t n = sizes[i % DL_COUNT(sizes)];
		unsigned workers = crews[i / DL_COUNT(sizes) % DL_COUNT(crews)];
		uint32_t batch = batches[i / DL_COUNT(sizes) / DL_COUNT(crews)];
		uint64_t a, b;

		a = mispredicted_by("torch:seed=7", n, torch, workers, batch);
		b = mispredicted_by("torch-distributed:seed=7,world=1", n, ranks, workers, batch);
		cr_expect(a == 0 && b == 0, "%u files, %u workers, batches of %u: %lu, %lu", n,
			  workers, batch, (unsigned long)a, (unsigned long)b);
	}
}

Test(verdict, a_wrong_seed_mispredicts_nearly_all, .timeout = 100)
{
	const uint32_t torch[3] = { word_of(8, 3), word_of(8, 7), word_of(8, 11) };

	for (size_t i = 0; i < DL_COUNT(sizes) * DL_COUNT(crews); i++) {
		uint32_t n = sizes[i % DL_COUNT(sizes)];
		unsigned workers = crews[i / DL_COUNT(sizes)];
		uint64_t a = mispredicted_by("torch:seed=7", n, torch, workers, 16);
		uint64_t b = mispredicted_by("torch-distributed:seed=7,world=1", n, torch, workers,
					     16);

		/* In so few files nearly all lies where it may be expected. */
		cr_expect(n < 64 ? a + b == 0 : a >= 2 * n && b >= 2 * n,
			  "%u files, %u workers: %lu, %lu of %u", n, workers, (unsigned long)a,
			  (unsigned long)b, 3 * n);
	}
}
