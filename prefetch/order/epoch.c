/* Which epochs may come first, and which may follow one.
 *
 * Words that a training script draws from torch's default generator per epoch: 2 for the
 * iterator's base_seed (also of a validation loader), then 2 for the sampler's private seed,
 * whose low half, the second word, seeds the permutation.  A generator given to the DataLoader
 * gives base_seed and the permutation itself; since torch 1.11 a second permutation is drawn
 * and thrown away when an iterator runs to its end.
 */
#include "prefetch/order/mt19937.h"
#include "prefetch/order/order.h"

static uint32_t word_at(uint64_t seed, uint64_t word)
{
	struct mt19937 g;

	mt19937_seed(&g, (uint32_t)seed);
	mt19937_skip(&g, word);
	return mt19937_word(&g);
}

static struct epoch chained(const struct order_spec *s, uint64_t number, uint64_t word,
			    uint64_t stride)
{
	return (struct epoch){
		.rule = EPOCH_TORCH, .number = number, .chained = true,
		.word = word, .stride = stride, .seed = word_at(s->seed, word),
	};
}

static struct epoch direct(const struct order_spec *s, uint64_t number, uint64_t skip)
{
	return (struct epoch){
		.rule = EPOCH_TORCH, .number = number, .seed = (uint32_t)s->seed, .skip = skip,
	};
}

/* Words of one epoch when a generator is passed along: base_seed, two permutations. */
static uint64_t pass(uint32_t n, bool base, unsigned permutations)
{
	return (base ? 2 : 0) + (uint64_t)permutations * (n > 0 ? n - 1 : 0);
}

static size_t torch_first(const struct order_spec *s, uint32_t n, struct epoch *ret)
{
	uint64_t e = s->epoch;
	size_t count = 0;

	ret[count++] = chained(s, e, 3 + 4 * e, 4);
	/* DataLoader(generator=g), RandomSampler(generator=g) */
	ret[count++] = direct(s, e, 2 + e * pass(n, true, 2));
	ret[count++] = direct(s, e, e * pass(n, false, 2));
	ret[count++] = chained(s, e, 5 + 6 * e, 6);             /* a validation loader first */
	ret[count++] = chained(s, e, 1 + 4 * e, 4);             /* a sampler without a loader */
	if (e == 0)
		return count;
	ret[count++] = chained(s, e, 3 + 6 * e, 6);             /* ... or after each epoch */
	ret[count++] = chained(s, e, 3 + 2 * e, 2);             /* persistent workers */
	return count;
}

static size_t torch_next(const struct order_spec *s, uint32_t n, const struct epoch *now,
			 struct epoch *ret)
{
	static const uint64_t strides[] = { 4, 6, 2, 8, 10 };
	uint64_t e = now->number + 1;
	size_t count = 0;

	if (!now->chained) {
		bool base = now->skip % pass(n, true, 2) == 2;

		ret[0] = direct(s, e, now->skip + pass(n, base, 2));
		/* torch < 1.11, or broken off; seeded anew each epoch */
		ret[1] = direct(s, e, now->skip + pass(n, base, 1));
		ret[2] = *now;
		ret[2].number = e;
		ret[3] = direct(s, e, now->skip + pass(n, false, 2));
		return 4;
	}
	ret[count++] = chained(s, e, now->word + now->stride, now->stride);
	for (size_t i = 0; i < DL_COUNT(strides); i++)
		if (strides[i] != now->stride)
			ret[count++] = chained(s, e, now->word + strides[i], strides[i]);
	ret[count] = *now;                                      /* manual_seed in each epoch */
	ret[count++].number = e;
	return count;
}

static size_t numbered(enum epoch_rule rule, uint64_t number, struct epoch *ret)
{
	*ret = (struct epoch){ .rule = rule, .number = number };
	return 1;
}

size_t order_first(const struct order_spec *s, uint32_t n, struct epoch *ret)
{
	switch (s->kind) {
	case ORDER_NONE:
	case ORDER_AUTO:
		return 0;
	case ORDER_SEQUENTIAL:
		return numbered(EPOCH_SEQUENTIAL, s->epoch, ret);
	case ORDER_LIST:
		return numbered(EPOCH_LISTED, s->epoch, ret);
	case ORDER_DRAWN:
		return numbered(EPOCH_DRAWN, s->epoch, ret);
	case ORDER_TORCH_DISTRIBUTED:
		numbered(EPOCH_DISTRIBUTED, s->epoch, ret);
		ret->seed = (uint32_t)(s->seed + s->epoch);
		return 1;
	case ORDER_TORCH:
		break;
	}
	return torch_first(s, n, ret);
}

const uint32_t order_constants[ORDER_CONSTANTS] = {
	4053586177u, 1431655764u, 1431655765u, 1431655766u, 1431655767u, UINT32_MAX,
};

static bool is_constant(uint32_t seed)
{
	for (size_t i = 0; i < ORDER_CONSTANTS; i++)
		if (order_constants[i] == seed)
			return true;
	return false;
}

static void exchange(struct epoch *a, struct epoch *b)
{
	struct epoch kept = *a;

	*a = *b;
	*b = kept;
}

/* After an epoch that was found by its seed.  A generator that was passed along goes on, and so
 * does one whose seed is built in; a small seed was chosen by somebody who adds the epoch to it, or
 * goes on, or does the same again.  Any other was drawn for this epoch alone, and says nothing of
 * the next; but of several ranks that share batches (accelerate) the generator goes on.  One that
 * did so goes on as it did. */
static size_t found_next(uint32_t n, const struct epoch *now, struct epoch *ret)
{
	size_t count = 0;
	bool base = now->skip % pass(n, true, 2) == 2;
	bool drawn = now->skip == 0 && now->seed >= ORDER_SEEDS_CHOSEN && !is_constant(now->seed);

	if (now->skip == 0 && now->seed < ORDER_SEEDS_CHOSEN) {
		ret[count] = *now;
		ret[count++].seed++;
	}
	/* Workers that stay draw their base_seed in the first epoch only. */
	for (unsigned bases = base; bases <= (drawn ? 0u : 1u); bases--)
		for (unsigned permutations = 2; permutations > 0; permutations--) {
			ret[count] = *now;
			ret[count].stride = pass(n, bases, permutations);
			ret[count].skip += ret[count].stride;
			if (ret[count].stride == now->stride)
				exchange(&ret[0], &ret[count]);
			count++;
		}
	if (!drawn)
		ret[count++] = *now;
	for (size_t i = 0; i < count; i++) {
		ret[i].number = now->number + 1;
		ret[i].perhaps = drawn;
	}
	return count;
}

/* Which is number 0; or the one that was told, where a script counts from another, or is resumed
 * there again. */
static size_t after_the_last(const struct order_spec *s, uint32_t n, struct epoch *ret)
{
	size_t half = ORDER_BRANCHES / 2, count, more = 0;
	struct epoch told[ORDER_BRANCHES];
	struct order_spec begun = *s;

	begun.epoch = 0;
	if (s->epoch > 0)
		more = DL_MIN(order_first(s, n, told), half);
	count = DL_MIN(order_first(&begun, n, ret), ORDER_BRANCHES - more);
	for (size_t i = 0; i < more; i++)
		ret[count++] = told[i];
	for (size_t i = 0; i < count; i++)
		ret[i].perhaps = true;
	return count;
}

size_t order_next(const struct order_spec *s, uint32_t n, const struct epoch *now,
		  struct epoch *ret)
{
	if (s->epochs > 0 && now->number + 1 >= s->epochs)
		return after_the_last(s, n, ret);
	if (now->shuffle || now->rule == EPOCH_NUMPY) {
		ret[0] = *now;
		ret[0].number++;
		ret[0].skip += now->shuffle >= STD_SHUFFLE_EACH;
		return 1;
	}
	if (now->rule == EPOCH_TORCH && s->kind == ORDER_AUTO)
		return found_next(n, now, ret);
	if (now->rule == EPOCH_TORCH)
		return torch_next(s, n, now, ret);
	numbered(now->rule, now->number + 1, ret);
	if (now->rule != EPOCH_DISTRIBUTED)
		return 1;
	ret[0].seed = now->seed + 1;
	ret[1] = *now;                 /* set_epoch was forgotten: the same again */
	ret[1].number = now->number + 1;
	if (now->seed != (uint32_t)(s->seed + now->number)) {   /* ... as it was before */
		struct epoch same = ret[1];

		ret[1] = ret[0];
		ret[0] = same;
	}
	return 2;
}

int order_describe(const struct order_spec *s, const struct epoch *e, struct buf *ret)
{
	switch (e->rule) {
	case EPOCH_SEQUENTIAL:
		return buf_printf(ret, "sequential");
	case EPOCH_LISTED:
		return s->file ? buf_printf(ret, "list %s", s->file)
			       : buf_printf(ret, "the order of an earlier epoch again");
	case EPOCH_DRAWN:
		return buf_printf(ret, "drawn by dlfs for .dlfs/epoch/%llu",
				  (unsigned long long)e->number);
	case EPOCH_DISTRIBUTED:
		return buf_printf(ret, "DistributedSampler, seed + epoch = %u, world %u",
				  e->seed, s->world);
	case EPOCH_NUMPY:
		return buf_printf(ret, "shuffled by numpy, seed %u, and read from a buffer of %u",
				  e->seed, e->buffer);
	case EPOCH_TORCH:
		break;
	}
	if (e->shuffle)
		return buf_printf(ret, "std::shuffle of DALI's reader, seed %u, epoch %llu",
				  e->seed, (unsigned long long)e->skip);
	if (e->chained)
		return buf_printf(ret, "RandomSampler, seed %u: word %llu of manual_seed(%llu)",
				  e->seed, (unsigned long long)e->word,
				  (unsigned long long)s->seed);
	if (e->skip == 0)
		return buf_printf(ret, "torch.randperm, seed %u", e->seed);
	return buf_printf(ret, "torch.randperm, seed %u, after %llu number%s of its generator",
			  e->seed, (unsigned long long)e->skip, e->skip == 1 ? "" : "s");
}
