#include <criterion/criterion.h>

#include "prefetch/order/mt19937.h"

/* The 10000th word of seed 5489 is what the C++ standard says of std::mt19937. */
Test(mt19937, is_the_standard_generator)
{
	struct mt19937 g;

	mt19937_seed(&g, 5489);
	mt19937_skip(&g, 9999);
	cr_assert_eq(mt19937_word(&g), 4123659995u);
}

Test(mt19937, has_the_words_of_torch)
{
	static const uint32_t words[] = {
		2357136044u, 2546248239u, 3071714933u, 3626093760u, 2588848963u, 3684848379u,
		2340255427u, 3638918503u,
	};
	struct mt19937 g;

	mt19937_seed(&g, 0);
	for (size_t i = 0; i < DL_COUNT(words); i++)
		cr_assert_eq(mt19937_word(&g), words[i]);
}

Test(mt19937, skips_as_many_words_as_it_is_told)
{
	static const uint64_t skips[] = { 0, 1, 623, 624, 625, 1247, 1248, 10000 };

	for (size_t i = 0; i < DL_COUNT(skips); i++) {
		for (unsigned before = 0; before < 700; before += 233) {
			struct mt19937 one, other;

			mt19937_seed(&one, 7);
			mt19937_seed(&other, 7);
			for (uint64_t w = 0; w < before + skips[i]; w++)
				mt19937_word(&one);
			for (unsigned w = 0; w < before; w++)
				mt19937_word(&other);
			mt19937_skip(&other, skips[i]);
			cr_assert_eq(mt19937_word(&one), mt19937_word(&other));
		}
	}
}

Test(mt19937, jumps_to_where_it_would_come_word_by_word)
{
	static const uint64_t skips[] = { 1, 2, 623, 624, 19936, 19937, 19938, 100000, 5000000 };

	for (size_t i = 0; i < DL_COUNT(skips); i++) {
		for (unsigned before = 0; before < 700; before += 312) {
			struct mt19937 one, other;

			mt19937_seed(&one, 7);
			mt19937_skip(&one, before);
			other = one;
			for (uint64_t w = 0; w < skips[i]; w++)
				mt19937_word(&one);
			mt19937_jump(&other, skips[i]);
			for (unsigned w = 0; w < 2000; w++)
				cr_assert_eq(mt19937_word(&one), mt19937_word(&other),
					     "%zu words after %u", (size_t)skips[i], before);
		}
	}
}

/* As many as an epoch=1000000 of a large dataset may ask for: in one step as in three. */
Test(mt19937, jumps_so_far_that_nobody_would_wait)
{
	uint64_t far = UINT64_C(1) << 41, part = far / 3;
	struct mt19937 one, other;

	mt19937_seed(&one, 7);
	other = one;
	mt19937_skip(&one, far);
	mt19937_skip(&other, part);
	mt19937_skip(&other, far - 2 * part - 1);
	mt19937_word(&other);
	mt19937_skip(&other, part);
	for (unsigned w = 0; w < 2000; w++)
		cr_assert_eq(mt19937_word(&one), mt19937_word(&other), "word %u", w);
}

Test(mt19937, draws_n_minus_1_words_for_a_permutation)
{
	static const uint32_t sizes[] = { 0, 1, 2, 5, 1000 };

	for (size_t i = 0; i < DL_COUNT(sizes); i++) {
		struct mt19937 g, skipped;
		uint32_t p[1000];

		mt19937_seed(&g, 3);
		mt19937_seed(&skipped, 3);
		torch_randperm(&g, sizes[i], p);
		mt19937_skip(&skipped, sizes[i] ? sizes[i] - 1 : 0);
		cr_assert_eq(mt19937_word(&g), mt19937_word(&skipped));
	}
}

Test(mt19937, goes_back_from_a_word_to_the_state)
{
	struct mt19937 g;

	mt19937_seed(&g, 3);
	for (unsigned i = 0; i < 10000; i++) {
		uint32_t word = mt19937_word(&g);

		cr_assert_eq(mt19937_untempered(word), g.state[g.next - 1]);
	}
}
