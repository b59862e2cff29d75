#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "prefetch/order/order.h"

static int parse(const char *text, struct order_spec *ret)
{
	char error[160] = "";
	int r = order_parse(text, ret, error);

	cr_assert((r == 0) == (error[0] == 0), "\"%s\": \"%s\"", text, error);
	return r;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

Test(order, reads_specs)
{
	static const struct {
		const char *text;
		enum order_kind kind;
		uint64_t seed, epoch, epochs;
		uint32_t world, ranks;
		bool drop_last;
		const char *root, *file;
	} cases[] = {
		{ .text = "none", .kind = ORDER_NONE },
		{ .text = "auto", .kind = ORDER_AUTO },
		{ .text = "sequential", .kind = ORDER_SEQUENTIAL },
		{ .text = "sequential:root=val", .kind = ORDER_SEQUENTIAL, .root = "val" },
		{ .text = "torch:seed=7", .kind = ORDER_TORCH, .seed = 7 },
		{ .text = "torch:seed=010", .kind = ORDER_TORCH, .seed = 10 },
		{ .text = "torch:seed=-1", .kind = ORDER_TORCH, .seed = UINT64_MAX },
		{ .text = "torch:seed=0x10,epoch=3,epochs=90", .kind = ORDER_TORCH, .seed = 16,
		  .epoch = 3, .epochs = 90 },
		{ .text = "torch:root=a/b,seed=18446744073709551615", .kind = ORDER_TORCH,
		  .seed = UINT64_MAX, .root = "a/b" },
		{ .text = "torch-distributed:seed=0,world=8", .kind = ORDER_TORCH_DISTRIBUTED,
		  .world = 8 },
		{ .text = "torch-distributed:seed=0,world=8,ranks=0-1+4,drop_last",
		  .kind = ORDER_TORCH_DISTRIBUTED, .world = 8, .ranks = 3, .drop_last = true },
		{ .text = "list:/a,b:c", .kind = ORDER_LIST, .file = "/a,b:c" },
	};

	for (size_t i = 0; i < DL_COUNT(cases); i++) {
		dl_cleanup(order_spec_fini) struct order_spec s = { 0 };
		dl_cleanup(order_spec_fini) struct order_spec copy = { 0 };
		const char *text = cases[i].text;

		cr_assert_eq(parse(text, &s), 0, "%s", text);
		cr_assert_eq(order_spec_copy(&s, &copy), 0);
		for (struct order_spec *c = &s; c; c = c == &s ? &copy : NULL) {
			cr_assert_eq(c->kind, cases[i].kind, "%s", text);
			cr_assert_eq(c->seed, cases[i].seed, "%s", text);
			cr_assert_eq(c->epoch, cases[i].epoch, "%s", text);
			cr_assert_eq(c->epochs, cases[i].epochs, "%s", text);
			cr_assert_eq(c->world, cases[i].world, "%s", text);
			cr_assert_eq(c->rank_count, cases[i].ranks, "%s", text);
			cr_assert_eq(c->drop_last, cases[i].drop_last, "%s", text);
			cr_assert(same_text(c->root, cases[i].root), "%s", text);
			cr_assert(same_text(c->file, cases[i].file), "%s", text);
			cr_assert_str_eq(c->text, text);
		}
	}
}

Test(order, refuses_bad_specs)
{
	static const char *const bad[] = {
		"", "torch", "torch:", "Torch:seed=1", "torch:seed=", "torch:seed", "torch:seed=x",
		"torch:seed=1x", "torch:seed= 1", "torch:seed=1,epoch=-1",
		"torch:seed=1,epoch=1000001", "torch:seed=1,epochs=-1", "torch:seed=0x",
		"torch:seed=1,epochs=0", "sequential:epoch=3,epochs=3",
		"torch:seed=--1", "torch:seed=18446744073709551616",
		"torch:seed=1,seed=1", "torch:seed=1,world=2", "torch:seed=1,drop_last",
		"none:seed=1", "auto:", "sequential:seed=1", "list", "list:",
		"torch-distributed:seed=1", "torch-distributed:world=2",
		"torch-distributed:seed=1,world=0", "torch-distributed:seed=1,world=4097",
		"torch-distributed:seed=1,world=-1", "torch-distributed:seed=1,world=2,ranks=2",
		"torch-distributed:seed=1,world=4,ranks=1+0",
		"torch-distributed:seed=1,world=4,ranks=3-1",
		"torch-distributed:seed=1,world=4,ranks=+",
		"torch-distributed:seed=1,world=4,ranks=0-99999999999",
		"torch-distributed:seed=1,world=4,drop_last=1",
		"torch:seed=1,", "torch:,seed=1", "torch:seed=1,,epoch=2", "sequential:",
		"sequential,", "sequential,root=a", "none,", "list,a",
	};

	for (size_t i = 0; i < DL_COUNT(bad); i++) {
		struct order_spec s = { .kind = ORDER_LIST };

		cr_assert_eq(parse(bad[i], &s), -EINVAL, "\"%s\"", bad[i]);
		cr_assert_eq(s.kind, ORDER_NONE, "\"%s\"", bad[i]);
	}
}

Test(order, says_what_would_be_right)
{
	static const struct { const char *spec, *says; } cases[] = {
		{ "torch:seed=1,", "nothing stands after a comma or the colon; this order takes "
		  "seed, epoch, epochs, root" },
		{ "sequential,root=a", "come after a colon: sequential:root=a" },
		{ "sequential:rot=a", "did you mean root?" },
		{ "sequential:foo=a", "it takes epoch, epochs, root" },
		{ "torch:7", "did you mean seed=7?" },
		{ "list,a", "after a colon: list:a" },
	};

	for (size_t i = 0; i < DL_COUNT(cases); i++) {
		struct order_spec s;
		char why[160] = "";

		cr_assert_eq(order_parse(cases[i].spec, &s, why), -EINVAL, "%s", cases[i].spec);
		cr_assert_not_null(strstr(why, cases[i].says), "%s: %s", cases[i].spec, why);
	}
}

Test(order, after_the_last_epoch_comes_perhaps_the_first)
{
	static const char *const texts[] = {
		"torch:seed=7,epochs=3", "torch-distributed:seed=7,world=2,epochs=3",
		"sequential:epochs=3",
	};

	for (size_t i = 0; i < DL_COUNT(texts); i++) {
		dl_cleanup(order_spec_fini) struct order_spec s = { 0 };
		struct epoch e[ORDER_BRANCHES], next[ORDER_BRANCHES], first;

		cr_assert_eq(parse(texts[i], &s), 0);
		cr_assert_gt(order_first(&s, 1000, e), 0u);
		first = e[0];
		for (uint64_t number = 1; number < 3; number++) {
			cr_assert_gt(order_next(&s, 1000, &e[0], next), 0u);
			cr_assert(next[0].number == number && !next[0].perhaps, "%s", texts[i]);
			e[0] = next[0];
		}
		cr_assert_gt(order_next(&s, 1000, &e[0], next), 0u);
		cr_assert(next[0].perhaps && next[0].number == 0, "%s", texts[i]);
		cr_assert(next[0].seed == first.seed && next[0].word == first.word);
	}
}

/* Who was resumed at an epoch, or said so, may begin there again, too. */
Test(order, after_the_last_epoch_of_a_resumed_run_the_script_may_begin)
{
	static const char *const texts[] = {
		"torch:seed=7,epochs=9", "torch-distributed:seed=7,world=2,epochs=9",
	};

	for (size_t i = 0; i < DL_COUNT(texts); i++) {
		dl_cleanup(order_spec_fini) struct order_spec s = { 0 };
		struct epoch e[ORDER_BRANCHES], next[ORDER_BRANCHES], begun, resumed;
		bool again = false;
		size_t count;

		cr_assert_eq(parse(texts[i], &s), 0);
		order_first(&s, 1000, e);
		begun = e[0];
		s.epoch = 5;           /* as tracker_epoch() does */
		order_first(&s, 1000, e);
		resumed = e[0];
		e[0].number = 8;
		count = order_next(&s, 1000, &e[0], next);
		cr_assert(next[0].number == 0 && next[0].seed == begun.seed, "%s", texts[i]);
		for (size_t k = 0; k < count; k++) {
			cr_assert(next[k].perhaps);
			again |= next[k].number == 5 && next[k].seed == resumed.seed;
		}
		cr_assert(again, "%s", texts[i]);
	}
}

Test(order, the_likeliest_branch_is_the_first)
{
	dl_cleanup(order_spec_fini) struct order_spec s = { 0 };
	struct epoch e[ORDER_BRANCHES], next[ORDER_BRANCHES];
	size_t count;

	cr_assert_eq(parse("torch:seed=7", &s), 0);
	cr_assert_gt(order_first(&s, 1000, e), 1u);
	cr_assert(e[0].chained && e[0].word == 3);
	count = order_next(&s, 1000, &e[0], next);
	cr_assert(next[0].chained && next[0].word == 7 && next[0].number == 1);
	for (size_t i = 0; i < count; i++) {
		if (next[i].word != 9)
			continue;
		e[0] = next[i];        /* a validation loader; it will come again */
		order_next(&s, 1000, &e[0], next);
		cr_assert(next[0].word == 15 && next[0].number == 2);
		return;
	}
	cr_assert_fail("no branch has a validation loader");
}

Test(order, a_distributed_epoch_may_repeat)
{
	dl_cleanup(order_spec_fini) struct order_spec s = { 0 };
	struct epoch e[ORDER_BRANCHES], next[ORDER_BRANCHES];

	cr_assert_eq(parse("torch-distributed:seed=7,world=2,epoch=5", &s), 0);
	cr_assert_eq(order_first(&s, 1000, e), 1u);
	cr_assert(e[0].seed == 12 && e[0].number == 5);
	cr_assert_eq(order_next(&s, 1000, &e[0], next), 2u);
	cr_assert(next[0].seed == 13 && next[1].seed == 12);
	cr_assert(next[0].number == 6 && next[1].number == 6);
}

/* Two ranks of one host, step by step, are the two ranks' own sequences in turn. */
Test(order, ranks_of_a_host_take_turns)
{
	dl_cleanup(sequence_unrefp) struct sequence *both = NULL;
	struct epoch e[ORDER_BRANCHES];
	struct order_spec s = { 0 };

	cr_assert_eq(parse("torch-distributed:seed=1,world=4,ranks=1+3", &s), 0);
	order_first(&s, 101, e);
	cr_assert_eq(order_sequence(&s, e, 101, &both), 0);
	cr_assert_eq(both->length, 52u);
	order_spec_fini(&s);
	for (uint32_t rank = 1; rank < 4; rank += 2) {
		dl_cleanup(sequence_unrefp) struct sequence *one = NULL;
		char text[80];

		snprintf(text, sizeof(text), "torch-distributed:seed=1,world=4,ranks=%u", rank);
		cr_assert_eq(parse(text, &s), 0);
		cr_assert_eq(order_sequence(&s, e, 101, &one), 0);
		cr_assert_eq(one->length, 26u);
		for (uint32_t i = 0; i < 26; i++)
			cr_assert_eq(both->at[2 * i + rank / 2], one->at[i]);
		order_spec_fini(&s);
	}
}

Test(order, describes_an_epoch_of_torch)
{
	static const char *const texts[] = {
		"torch.randperm, seed 7", "torch.randperm, seed 7, after 1 number of its generator",
		"torch.randperm, seed 7, after 2 numbers of its generator",
	};
	struct order_spec s = { .kind = ORDER_AUTO };

	for (unsigned skip = 0; skip < DL_COUNT(texts); skip++) {
		dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
		struct epoch e = { .rule = EPOCH_TORCH, .seed = 7, .skip = skip };

		cr_assert_eq(order_describe(&s, &e, &text), 0);
		cr_assert_str_eq((char *)text.at, texts[skip]);
	}
}

Test(order, says_what_it_cannot_do)
{
	dl_cleanup(order_spec_fini) struct order_spec s = { 0 };
	struct epoch e[ORDER_BRANCHES];
	struct sequence *q = NULL;

	cr_assert_eq(parse("torch:seed=7", &s), 0);
	order_first(&s, 214748364u, e);
	cr_assert_eq(order_sequence(&s, e, 214748364u, &q), -ENOTSUP);
	cr_assert_eq(order_prefix(&s, e, 214748364u, 10, &q), -ENOTSUP);
	cr_assert_null(q);
}
