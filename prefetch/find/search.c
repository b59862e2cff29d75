#include "prefetch/find/search_internal.h"

#include <string.h>

#include "prefetch/order/score.h"

#define FEWEST 64                      /* of smaller datasets there is no evidence enough */
/* 2^33 × starts are tried, or 2^20 × worlds × runs: this leaves less than 2^-20 for the wrong. */
#define PROVEN 64.0f
#define PROMISING 24.0f                 /* may be proven by the opens to come */
#define HEAD 1024u                     /* of a permutation that one process reads */
#define SET_PART 4                     /* of the list, at most */
#define SET_HITS (1u << 16)             /* so many of 2^32 seeds may be judged in vain */

#define PIECES ((uint32_t)(SEEDS_ALL / SEEDS_PIECE))

/* --- How well a seed explains the opens ------------------------------------------------ */

static struct epoch permutation_of(const struct found *f)
{
	return (struct epoch){
		.rule = f->buffer ? EPOCH_NUMPY : EPOCH_TORCH, .seed = f->seed, .skip = f->skip,
		.shuffle = f->shuffle, .buffer = f->buffer,
	};
}

static int find_positions(const struct found *f, uint32_t head, struct positions *ret)
{
	const struct order_spec none = { .kind = ORDER_AUTO };
	struct epoch rule = permutation_of(f);
	dl_cleanup(sequence_unrefp) struct sequence *q = NULL;
	int r = order_prefix(&none, &rule, list_count(f->list), head, &q);

	return r < 0 ? r : positions_init(ret, q);
}

int search_positions(const struct found *f, struct positions *ret)
{
	return find_positions(f, SEARCH_HEAD, ret);
}

float search_explains(const struct evidence *e, const struct found *f, uint32_t step)
{
	dl_cleanup(positions_fini) struct positions positions = { 0 };
	struct scale scale = { list_count(f->list), step, f->buffer };
	uint32_t head = step > 1 || f->buffer ? SEARCH_HEAD : HEAD;
	struct score score = { 0 };
	float most = 0.0f;

	if (find_positions(f, head, &positions) < 0)
		return 0.0f;
	for (size_t i = 0; i < e->count; i++) {
		uint32_t index;

		if (e->opens[i].explained || !list_index(f->list, e->opens[i].id, &index))
			continue;
		score_open(&score, positions_first(&positions, index), scale);
		most = DL_MAX(most, score.bits);
	}
	return most;
}

static void keep(struct search *s, struct maybe m)
{
	struct maybe *worst = s->maybes;

	DL_HOLD(&s->lock);
	if (s->maybe_count < SEARCH_MAYBES) {
		s->maybes[s->maybe_count++] = m;
		return;
	}
	for (size_t i = 1; i < SEARCH_MAYBES; i++)
		if (s->maybes[i].bits < worst->bits)
			worst = &s->maybes[i];
	if (worst->bits < m.bits)
		*worst = m;
}

void search_consider(struct search *s, struct found f, uint32_t from, uint32_t to)
{
	struct maybe m = { f, from, to, 0.0f };
	struct evidence evidence;
	float most = 0.0f;

	if (!s->latest(s->context, &evidence))
		return;
	for (uint32_t world = from; world <= to && !s->stop; world++) {
		float bits = search_explains(&evidence, &f, world);

		if (bits <= most)
			continue;
		most = bits;
		f.world = world > 1 ? world : 0;
	}
	m.bits = most;
	if (most >= PROMISING && most < PROVEN)
		keep(s, m);
	if (most < PROVEN || atomic_exchange(&s->claimed, true))
		return;
	s->found = f;
	atomic_store(&s->stop, true);
}

bool search_again(struct search *s)
{
	struct maybe maybes[SEARCH_MAYBES];
	size_t count;

	{
		DL_HOLD(&s->lock);
		count = s->maybe_count;
		memcpy(maybes, s->maybes, count * sizeof(maybes[0]));
		s->maybe_count = 0;
	}
	for (size_t i = 0; i < count; i++)
		search_consider(s, maybes[i].found, maybes[i].from, maybes[i].to);
	return count > 0;
}

struct found search_plain(const struct search *s, size_t list, uint32_t seed, uint32_t skip)
{
	return (struct found){ .list = s->lists[list], .seed = seed, .skip = skip };
}

/* --- What to look for ------------------------------------------------------------------ */

static unsigned depth_for(uint32_t n)
{
	return n >= 1000 ? 2 : n >= 200 ? 3 : 4;
}

static void add_start(struct search *s, size_t list, struct seeds_start start, unsigned worlds)
{
	if (s->start_count == SEEDS_STARTS)
		return;
	s->list_of[s->start_count] = (uint8_t)list;
	s->worlds[s->start_count] = (uint8_t)worlds;
	s->starts[s->start_count++] = start;
}

static void add_run(struct search *s, size_t list, const struct run *r, uint32_t skip)
{
	struct seeds_start start = { .n = list_count(s->lists[list]), .skip = skip };

	start.count = DL_MIN(r->count, depth_for(start.n));
	memcpy(start.first, r->at, start.count * sizeof(r->at[0]));
	add_start(s, list, start, 1);
}

/* How many entries have to be among what was opened, so that few seeds pass by chance. */
static unsigned set_depth(const struct seeds_set *set, uint32_t n)
{
	float hits = (float)SEEDS_ALL, chance = (float)set->count / DL_MIN(n, SEEDS_SET_BITS);
	unsigned depth = 0;

	while (hits > SET_HITS && depth < SEEDS_SET_DEPTH) {
		hits *= chance;
		depth++;
	}
	return depth;
}

/* Rank 0 of a world whose seed is not small: the next entry is that of rank 1. */
static void add_world(struct search *s, size_t list)
{
	const struct search_part *part = &s->parts[list];
	uint32_t n = list_count(s->lists[list]);

	add_start(s, list, (struct seeds_start){
		.n = n, .first = { part->runs[0].at[0] }, .count = 1,
		.set = &part->set, .set_depth = n >= 1000 ? 3 : SEEDS_DEPTH - 1,
	}, SEEDS_WORLD_MAX);
}

/* The opens of several workers, or jobs, are mixed: the first entries of an order are among the
 * opens, if there are enough of them, whoever came first. */
static void add_mixed(struct search *s, size_t list, uint32_t skip)
{
	const struct search_part *part = &s->parts[list];
	uint32_t n = list_count(s->lists[list]);

	add_start(s, list, (struct seeds_start){
		.n = n, .skip = skip, .set = &part->set, .set_depth = set_depth(&part->set, n),
	}, 1);
}

static void gather(struct search *s, size_t list)
{
	struct search_part *part = &s->parts[list];
	uint32_t n = list_count(s->lists[list]), index;
	uint32_t most = evidence_has_pids(&s->evidence) ? 0 : n / SET_PART;

	most = DL_MAX(most, (uint32_t)SEARCH_OPENS);
	for (size_t i = 0; i < s->evidence.count && part->set.count < most; i++) {
		if (!list_index(s->lists[list], s->evidence.opens[i].id, &index))
			continue;
		seeds_set_add(&part->set, index);
		if (part->first_count == SEARCH_OPENS)
			continue;
		part->first[part->first_count++] = index;
		index %= SEARCH_FILTER;
		part->filter[index / 64] |= UINT64_C(1) << (index % 64);
	}
}

static bool is_read(const struct search *s, const struct list *list)
{
	size_t of_it = 0;
	uint32_t index;

	for (size_t i = 0; i < s->evidence.count; i++)
		of_it += list_index(list, s->evidence.opens[i].id, &index);
	return list_count(list) >= FEWEST && of_it * 4 >= s->evidence.count * 3;
}

void search_init(struct search *s)
{
	dl_lock_init(&s->lock);
}

bool search_prepare(struct search *s)
{
	for (size_t l = 0; l < s->list_count; l++) {
		struct search_part *part = &s->parts[l];

		if (!is_read(s, s->lists[l]))
			continue;
		gather(s, l);
		if (!evidence_has_pids(&s->evidence)) {
			add_mixed(s, l, 0);
			add_mixed(s, l, 2);
			continue;
		}
		part->run_count = evidence_runs(&s->evidence, s->lists[l], part->runs, SEARCH_RUNS);
		for (size_t i = 0; i < part->run_count; i++)
			add_run(s, l, &part->runs[i], 0);
		if (part->run_count == 0)
			continue;
		add_run(s, l, &part->runs[0], 2);
		if (evidence_stage(&s->evidence) >= EVIDENCE_FULL)
			add_world(s, l);
	}
	s->end = LIKELY_PIECES + PIECES;
	return s->start_count > 0;
}

float search_share(const struct search *s)
{
	return s->end > 0 ? (float)DL_MIN((uint32_t)s->next, s->end) / (float)s->end : 0.0f;
}

/* All around is where it began. */
uint32_t search_came_to(const struct search *s, unsigned threads)
{
	uint32_t done = DL_MIN((uint32_t)s->next, s->end), likely = LIKELY_PIECES + threads;

	return done < s->end && done > likely ? (s->from + done - likely) % PIECES : s->from;
}

void search_fini(struct search *s)
{
	while (s->list_count > 0)
		list_unref(s->lists[--s->list_count]);
	dl_lock_fini(&s->lock);
}

/* --- The work -------------------------------------------------------------------------- */

static void hit(void *context, uint32_t seed, size_t start)
{
	struct search *s = context;

	search_consider(s, search_plain(s, s->list_of[start], seed, s->starts[start].skip), 1,
		 s->worlds[start]);
}

uint32_t search_piece(uint32_t seed)
{
	return LIKELY_PIECES + (uint32_t)(seed / SEEDS_PIECE);
}

void search_breathe(struct search *s, struct spare *spare)
{
	if (s->gentle)
		spare_rest(spare, &s->stop);
}

void search_seeds(struct search *s, uint32_t number, struct spare *spare)
{
	uint64_t from = number * SEEDS_PIECE, end = from + SEEDS_PIECE;

	for (; from < end && !s->stop; from += SEEDS_BREATH) {
		search_breathe(s, spare);
		seeds_search(seeds_fastest(), s->starts, s->start_count, from, from + SEEDS_BREATH,
			     &s->stop, hit, s);
	}
}

void search_run(struct search *s)
{
	struct spare spare = { 0 };
	uint32_t piece;

	while (!s->stop && (piece = s->next++) < s->end) {
		if (piece < LIKELY_PIECES)
			search_likely(s, piece, &spare);
		else
			search_seeds(s, (piece - LIKELY_PIECES + s->from) % PIECES, &spare);
	}
}
