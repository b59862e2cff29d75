/* Seeds that somebody chose, or built in. */
#include "prefetch/order/mt19937.h"
#include "prefetch/order/mt19937_abreast.h"
#include "prefetch/order/sparse.h"
#include "prefetch/find/search_internal.h"

#define SMALL_HEAD (4 * SEEDS_WORLD_MAX)
#define MIXED_HEAD 256u
#define CONSTANT_HEAD 1024u
#define CONSTANT_PART 6u                /* of the opens; 16 workers, batches of 256: a quarter */
#define POPULAR_WORDS 64                /* some epochs of a script that draws little else */
/* YOLOv5's generator has 6148914691236517205 - 1 + what the user says: create_dataloader(). */
#define YOLO_SEED 0x55555554u

static bool head_of(uint32_t seed, uint32_t skip, uint32_t n, uint32_t length, uint32_t *ret)
{
	struct mt19937 g;

	mt19937_seed(&g, seed);
	while (skip-- > 0)
		(void)mt19937_word(&g);
	return sparse_randperm(&g, n, length, ret) == 0;
}

static bool was_opened(const struct search_part *part, uint32_t index)
{
	uint32_t bit = index % SEARCH_FILTER;

	if (!(part->filter[bit / 64] >> (bit % 64) & 1))
		return false;
	for (size_t i = 0; i < part->first_count; i++)
		if (part->first[i] == index)
			return true;
	return false;
}

static size_t count_opened(const struct search_part *part, const uint32_t *head, uint32_t length)
{
	size_t opened = 0;

	for (uint32_t i = 0; i < length; i++)
		opened += was_opened(part, head[i]);
	return opened;
}

/* Each of these costs a whole permutation, so the second epoch is the last that is tried.  Some
 * differ in a few places only: the best of them it is. */
static void try_std_shuffles(struct search *s, size_t list, struct spare *spare)
{
	struct found f = search_plain(s, list, STD_SHUFFLE_SEED, 0), best = f;
	float most = 0.0f;

	for (f.shuffle = STD_SHUFFLE; f.shuffle < STD_SHUFFLE_KINDS && !s->stop; f.shuffle++)
		for (f.skip = 0; f.skip <= (f.shuffle >= STD_SHUFFLE_EACH); f.skip++) {
			float bits;

			search_breathe(s, spare);
			bits = search_explains(&s->evidence, &f, 1);
			if (bits <= most)
				continue;
			most = bits;
			best = f;
		}
	if (most > 0.0f)
		search_consider(s, best, 1, 1);
}

/* Judging one takes ten times as long as seeing that it is far off, and an epoch may last no longer
 * than a few of them: at its head a true one has a part of what was opened, whoever opened it. */
static void try_constant(struct search *s, size_t list, uint32_t seed, uint32_t skip)
{
	const struct search_part *part = &s->parts[list];
	uint32_t n = list_count(s->lists[list]), length = DL_MIN(n, CONSTANT_HEAD);
	uint32_t head[CONSTANT_HEAD];

	if (head_of(seed, skip, n, length, head) &&
	    count_opened(part, head, length) * CONSTANT_PART >= part->first_count)
		search_consider(s, search_plain(s, list, seed, skip), 1, 1);
}

static bool begins_a_run(const struct search_part *part, uint32_t index)
{
	for (size_t i = 0; i < part->run_count; i++)
		if (part->runs[i].at[0] == index)
			return true;
	return false;
}

/* A rank's first is one of as many entries as there are ranks: with most seeds no more than those
 * need be known. */
static void try_runs(struct search *s, uint32_t seed, size_t list)
{
	uint32_t n = list_count(s->lists[list]), length = DL_MIN(n, (uint32_t)SMALL_HEAD);
	uint32_t head[SMALL_HEAD], near = 0;

	if (!head_of(seed, 0, n, SEEDS_WORLD_MAX, head))
		return;
	while (near < SEEDS_WORLD_MAX && !begins_a_run(&s->parts[list], head[near]))
		near++;
	if (near == SEEDS_WORLD_MAX || !head_of(seed, 0, n, length, head))
		return;
	for (size_t i = 0; i < s->parts[list].run_count; i++) {
		const struct run *r = &s->parts[list].runs[i];
		uint32_t distance = r->count < 3 ? 0 : seeds_distance(head, length, r->at);

		if (distance > 0 && distance <= SEEDS_WORLD_MAX)
			search_consider(s, search_plain(s, list, seed, 0), distance, distance);
	}
}

/* Ranks may share one (detectron2).  That comes first: where they are few, what one of them opens
 * looks like an order of which each open skips some. */
static void try_constants(struct search *s, struct spare *spare)
{
	for (size_t l = 0; l < s->list_count && !s->stop; l++) {
		if (s->parts[l].first_count == 0)
			continue;
		search_breathe(s, spare);
		for (size_t i = 0; s->parts[l].run_count > 0 && i < ORDER_CONSTANTS; i++)
			try_runs(s, order_constants[i], l);
		for (size_t i = 0; i < ORDER_CONSTANTS; i++)
			for (uint32_t skip = 0; skip <= 2; skip += 2)
				try_constant(s, l, order_constants[i], skip);
		try_std_shuffles(s, l, spare);
	}
}

/* A generator that was passed along is known by where it began. */
static void try_lessons(struct search *s, size_t list)
{
	const struct lesson *last = &s->lessons.at[DL_MAX(s->lessons.count, (size_t)1) - 1];

	for (size_t i = 0; i < s->lessons.count && !s->stop; i++) {
		const struct lesson *e = &s->lessons.at[i];
		uint32_t world = DL_MAX(e->world, 1u);
		struct found f = search_plain(s, list, e->seed, (uint32_t)e->skip);

		f.buffer = e->buffer;
		if (e->n == last->n && e->seed == last->seed && e->skip == last->skip)
			continue;      /* what is read now, or was just read */
		if (e->n == list_count(s->lists[list]) && e->skip <= 2)
			search_consider(s, f, world, world);
	}
}

/* Scripts that seed torch with a number that everybody likes, and draw little before their loader
 * does: its seed is one of the first words of that generator. */
static void try_words(struct search *s, uint32_t popular, size_t list)
{
	const struct search_part *part = &s->parts[list];
	uint32_t n = list_count(s->lists[list]), first;
	struct mt19937 g;

	mt19937_seed(&g, popular);
	for (unsigned i = 0; i < POPULAR_WORDS && !s->stop; i++) {
		uint32_t seed = mt19937_word(&g);

		if (head_of(seed, 0, n, 1, &first) && was_opened(part, first))
			search_consider(s, search_plain(s, list, seed, 0), 1, 1);
	}
}

static void popular_piece(struct search *s, uint32_t piece, struct spare *spare)
{
	uint32_t seeds[CHAIN_POPULAR_MAX];
	size_t count = chain_popular(seeds), end = (piece + 1) * (size_t)POPULAR_PIECE;

	for (size_t i = end - POPULAR_PIECE; i < DL_MIN(end, count); i++)
		for (size_t l = 0; l < s->list_count && !s->stop; l++) {
			if (s->parts[l].first_count == 0)
				continue;
			search_breathe(s, spare);
			try_words(s, seeds[i], l);
		}
}

/* Of what was opened so much at the head of the permutation that has these words is no chance,
 * though another job may have opened as much; or it is most of it, in small datasets.  What an
 * earlier swap has put at an entry's place is not followed: it is a sixteenth of them at most, and
 * to keep account of it would take most of the time. */
static bool is_at_head(const struct search_part *part, uint32_t n, const uint32_t *words)
{
	uint32_t length = DL_MIN(n / 8, (uint32_t)MIXED_HEAD);
	uint32_t opens = (uint32_t)part->first_count, most = DL_MIN(opens, length), opened = 0;

	for (uint32_t i = 0; i < length; i++)
		opened += was_opened(part, i + words[i] % (n - i));
	return opened >= DL_MIN(most * 3 / 4, 8 + 2 * opens * length / n);
}

/* If one is read, which world explains it? */
static void try_mixed(struct search *s, uint32_t seed)
{
	uint32_t state[MT19937_ABREAST][MT19937_WORDS], words[MT19937_WORDS];

	mt19937_abreast(seed, state);
	for (uint32_t i = 0; i < MT19937_ABREAST; i++) {
		mt19937_block(state[i], words);
		for (size_t l = 0; l < s->list_count && !s->stop; l++)
			if (s->parts[l].first_count > 0 &&
			    is_at_head(&s->parts[l], list_count(s->lists[l]), words))
				search_consider(s, search_plain(s, l, seed + i, 0), 1,
						SEEDS_WORLD_MAX);
	}
}

static void small_piece(struct search *s, uint32_t piece, struct spare *spare)
{
	bool pids = evidence_has_pids(&s->evidence);

	for (uint32_t i = 0; i < SMALL_PIECE && !s->stop; i += pids ? 1 : MT19937_ABREAST) {
		if (i % SMALL_BREATH == 0)
			search_breathe(s, spare);
		if (!pids)
			try_mixed(s, piece * SMALL_PIECE + i);
		for (size_t l = 0; pids && l < s->list_count; l++)
			if (s->parts[l].run_count > 0)
				try_runs(s, piece * SMALL_PIECE + i, l);
	}
}

/* Who read what Keras shuffled last will do so again, in a validation set or in the next run. */
static uint32_t in_turn(const struct search *s, uint32_t piece)
{
	const struct lesson *run;
	size_t count = lessons_last_run(&s->lessons, &run);

	if (piece == 0 || count == 0 || run[count - 1].buffer == 0)
		return piece;
	return piece <= NUMPY_PIECES ? LIKELY_PIECES - NUMPY_PIECES - 1 + piece
				     : piece - NUMPY_PIECES;
}

void search_likely(struct search *s, uint32_t number, struct spare *spare)
{
	uint32_t piece = in_turn(s, number);

	if (piece == 0) {
		for (size_t l = 0; l < s->list_count; l++)
			if (s->parts[l].first_count > 0)
				try_lessons(s, l);
		try_constants(s, spare);
	} else if (piece == 1) {
		search_seeds(s, YOLO_SEED / SEEDS_PIECE, spare);
	} else if (piece < SMALL_PIECES_FROM) {
		popular_piece(s, piece - 2, spare);
	} else if (piece < SMALL_PIECES_FROM + SMALL_PIECES) {
		small_piece(s, piece - SMALL_PIECES_FROM, spare);
	} else {
		search_numpy(s, piece - SMALL_PIECES_FROM - SMALL_PIECES, spare);
	}
}
