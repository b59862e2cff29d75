/* How far a course was planned, and what of it was used meanwhile. */
#include <string.h>

#include "prefetch/plan/plan_internal.h"

#define LOOK 4096                       /* positions a step goes through */
#define SPOT_CHECKS 256u
#define AT_ONCE_MAX UINT64_C(4096)
#define NEAR 64                        /* this close to the reader only need counts */
#define LANE_DEPTH UINT64_C(16)        /* ahead of each reader, if there is no room for all, ... */
#define LANE_AT_ONCE 4u                /* ... and so many more at each of his opens */

/* Of a shuffle half of the neighbours are in order. */
static bool is_in_order(struct list *list, const struct sequence *q)
{
	uint32_t steps = q->length ? DL_MIN(q->length - 1, SPOT_CHECKS) : 0, back = 0;

	for (uint32_t i = 0; i < steps; i++) {
		uint32_t at = (uint32_t)((uint64_t)i * (q->length - 1) / steps);

		back += list_at(list, q->at[at]) > list_at(list, q->at[at + 1]);
	}
	return back <= steps / 16;
}

void slot_open(struct plan *p, struct slot *s, const struct course *c)
{
	(void)p;
	s->list = list_ref(c->list);
	s->sequence = sequence_ref(c->sequence);
	s->next = NULL;
	s->in_order = is_in_order(s->list, s->sequence);
	s->epoch = c->epoch;
	s->base = 0;
	s->front = s->reach = s->cursor = s->start = c->front;
	s->word_count = 0;
	s->present = s->sequence->step;
	link_init(&s->wants);
	link_init(&s->ahead);
	link_init(&s->todo);
}

/* Unwant what lies at `from` and beyond. */
static void cut(struct plan *p, struct slot *s, uint64_t from)
{
	while (!link_empty(&s->wants)) {
		struct want *w = dl_container_of(s->wants.prev, struct want, in);

		if (w->at < from)
			break;
		want_remove(p, w, ROLE_STALE);
	}
	for (struct link *l = s->ahead.next, *next; l != &s->ahead; l = next) {
		struct want *w = dl_container_of(l, struct want, in);

		next = l->next;
		if (w->at >= from)
			want_remove(p, w, ROLE_STALE);
	}
	s->cursor = DL_MIN(s->cursor, from);
}

void slot_close(struct plan *p, struct slot *s)
{
	cut(p, s, 0);
	assert(link_empty(&s->todo));
	sequence_unref(s->sequence);
	sequence_unref(s->next);
	list_unref(s->list);
	*s = (struct slot){ .list = NULL };
}

/* Epochs may have the same sequence: then their number tells that the next one has begun. */
static void take_sequences(struct plan *p, struct slot *s, const struct course *c)
{
	struct sequence *old = s->next;
	bool again = c->epoch == s->epoch + 1 && c->sequence == s->next;

	s->epoch = c->epoch;
	if (c->sequence != s->sequence || again) {
		assert(c->sequence == s->next);
		s->base += s->sequence->length;
		sequence_unref(s->sequence);
		s->sequence = DL_TAKE(s->next);
		s->in_order = s->next_in_order;
		old = NULL;
		s->word_count = 0;
	}
	if (s->next == c->next)
		return;
	cut(p, s, s->base + s->sequence->length);
	s->next = c->next ? sequence_ref(c->next) : NULL;
	s->next_in_order = s->next && is_in_order(s->list, s->next);
	sequence_unref(old);
}

static uint64_t known_word(const struct slot *s, uint64_t word)
{
	return word >= s->word && word - s->word < s->word_count ? s->words[word - s->word] : 0;
}

static void opened_at(struct plan *p, struct slot *s, uint32_t position)
{
	struct held *h = held_find(p, list_at(s->list, s->sequence->at[position]));
	struct want *w = h ? h->wants : NULL;

	while (w && (w->slot != s || w->at != s->base + position))
		w = w->next;
	if (w)
		want_remove(p, w, ROLE_SPENT);
}

static void add_todo(struct slot *s, struct held *h, bool by_id)
{
	struct link *l;

	for (l = s->todo.prev; l != &s->todo; l = l->prev) {
		const struct held *before = dl_container_of(l, struct held, in);

		if (by_id ? before->id <= h->id : held_due(before) <= held_due(h))
			break;
	}
	link_before(l->next, &h->in);
}

/* `at` is wanted, as soon as `due_at`: there the cursor stands, or it is as far from the front as
 * `at` is from its reader.  1: a fetch was added; 0: none is needed here; -ENOMEM, -EAGAIN: not
 * now. */
static int want_sample(struct plan *p, struct slot *s, uint64_t at, uint64_t due_at, sample_id id)
{
	struct held *found = held_find(p, id), *h = found;
	uint64_t size;
	int r;

	if (!h) {
		if (!p->sizes.size(p->sizes.context, id, &size) || size == 0)
			return 0;
		if (size > p->limits.whole || size > p->limits.room)
			return 0;
		h = held_new(p, id, size);
		if (!h)
			return -ENOMEM;
	}
	if (s->sequence->pieces && at != due_at)
		r = want_ahead(p, s, h, at, due_at);
	else
		r = want_add(p, s, h, at, due_at);
	if (found)
		return r;
	if (r < 0) {
		held_delete(p, h);
		return r;
	}
	add_todo(s, h, s->sequence->pieces || (at == due_at && at - s->front >= NEAR));
	return 1;
}

/* --- Readers that are further apart than there is room for ---------------------------- */

/* What the hindmost come to takes all room, and the source has less to do than it can.  (While it
 * has enough, who is behind goes first: a batch is waited for before those after it.) */
static bool is_short(const struct plan *p, const struct slot *s)
{
	return s->full && s->cursor < s->reach && p->fetching < p->limits.depth &&
	       !s->sequence->pieces && !s->sequence->buffer;
}

static uint64_t opened_word(const struct course *c, uint32_t i)
{
	return i < (c->reach + 63) / 64 ? c->opened[i] : 0;
}

/* How much each reader may have ahead of him.  There are as many as positions that were opened, and
 * the next of the same reader was not. */
static uint32_t lane_depth(const struct plan *p, const struct course *c)
{
	uint32_t words = c->sequence->step / 64, bits = c->sequence->step % 64;
	uint64_t count = 1;

	for (uint32_t i = c->front / 64; i < (c->reach + 63) / 64; i++) {
		uint64_t next = opened_word(c, i + words) >> bits;

		if (bits)
			next |= opened_word(c, i + words + 1) << (64 - bits);
		count += (unsigned)__builtin_popcountll(c->opened[i] & ~next);
	}
	return (uint32_t)DL_MIN(lead_share(p) / 2 / count + 1, LANE_DEPTH);
}

static struct want *wanted_at(const struct plan *p, const struct slot *s, uint32_t position)
{
	const struct held *h = held_find(p, list_at(s->list, s->sequence->at[position]));

	return h ? want_find(h, s, s->base + position) : NULL;
}

/* Somebody has opened what is at this position: what he comes to next is wanted. */
static void follow_lane(struct plan *p, struct slot *s, const struct course *c, uint32_t position,
			uint32_t depth)
{
	const struct sequence *q = s->sequence;
	uint32_t k = DL_MIN(depth, (q->length - 1 - position) / q->step), most = k;

	while (k > 0 && !wanted_at(p, s, position + k * q->step))
		k--;
	most = DL_MIN(most, k + LANE_AT_ONCE);
	while (++k <= most) {
		uint32_t next = position + k * q->step;

		if (next < c->front || c->opened[next / 64] >> (next % 64) & 1)
			continue;
		if (want_sample(p, s, s->base + next, s->front + (k - 1) * q->step,
				list_at(s->list, q->at[next])) < 0)
			return;
	}
}

static void take_opened(struct plan *p, struct slot *s, const struct course *c)
{
	uint32_t first = c->front / 64, end = DL_MIN((c->reach + 63) / 64, first + PLAN_WORDS);
	uint32_t depth = is_short(p, s) ? lane_depth(p, c) : 0;

	for (uint32_t i = first; i < end; i++)
		for (uint64_t fresh = c->opened[i] & ~known_word(s, i); fresh; fresh &= fresh - 1) {
			uint32_t position = i * 64 + (uint32_t)__builtin_ctzll(fresh);

			opened_at(p, s, position);
			if (depth > 0)
				follow_lane(p, s, c, position, depth);
		}
	s->word = first;
	s->word_count = end - DL_MIN(first, end);
	memcpy(s->words, c->opened + first, s->word_count * sizeof(s->words[0]));
}

static bool is_absent(const struct slot *s, uint64_t at)
{
	uint64_t position = at - s->base, length = s->sequence->length;
	bool next = position >= length;
	uint32_t rank = (uint32_t)(next ? (position - length) % s->next->step
					: position % s->sequence->step);

	return s->absent[rank / 64] >> (rank % 64) & 1;
}

/* What those who read nothing would come to is not wanted; of who has begun, all he comes to. */
static void take_absent(struct plan *p, struct slot *s, const struct course *c)
{
	uint32_t step = c->sequence->step;
	size_t size = c->absent ? (step + 63) / 64 * sizeof(s->absent[0]) : 0;

	if (size == 0 || memcmp(s->absent, c->absent, size) == 0)
		return;
	memcpy(s->absent, c->absent, size);
	s->present = step;
	for (size_t i = 0; i < size / sizeof(s->absent[0]); i++)
		s->present -= (uint32_t)__builtin_popcountll(s->absent[i]);
	for (struct link *l = s->wants.next, *next; l != &s->wants; l = next) {
		struct want *w = dl_container_of(l, struct want, in);

		next = l->next;
		if (is_absent(s, w->at))
			want_remove(p, w, ROLE_STALE);
	}
	s->cursor = s->front;
}

static void pass_one(struct plan *p, struct slot *s, const struct course *c, struct want *w)
{
	uint64_t position = w->at - s->base;
	bool used = w->at < s->base || c->opened[position / 64] >> (position % 64) & 1;

	want_remove(p, w, used ? ROLE_SPENT : ROLE_STALE);
}

/* What lies behind the front was used, or skipped: then it goes first when room is short. */
static void pass(struct plan *p, struct slot *s, const struct course *c)
{
	while (!link_empty(&s->wants)) {
		struct want *w = dl_container_of(s->wants.next, struct want, in);

		if (w->at >= s->front)
			break;
		pass_one(p, s, c, w);
	}
	if (s->front <= s->cursor)             /* all that is ahead is beyond the cursor */
		return;
	for (struct link *l = s->ahead.next, *next; l != &s->ahead; l = next) {
		struct want *w = dl_container_of(l, struct want, in);

		next = l->next;
		if (w->at < s->front)
			pass_one(p, s, c, w);
	}
}

void slot_update(struct plan *p, struct slot *s, const struct course *c)
{
	uint64_t front;

	take_sequences(p, s, c);
	front = s->base + c->front;
	if (front < s->front) {                /* back: all that was opened may be read again */
		cut(p, s, 0);
		s->word_count = 0;
		s->cursor = s->start = front;
	}
	s->front = front;
	s->reach = s->base + DL_MAX(c->reach, c->front);
	s->provisional = c->provisional;
	s->sequential = c->sequential;
	s->pid = c->pid;
	take_opened(p, s, c);
	pass(p, s, c);
	take_absent(p, s, c);
	s->cursor = DL_MAX(s->cursor, s->front);
	s->full = false;
}

/* The sample at a position.  false: the end of what is known. */
static bool sample_at(const struct slot *s, uint64_t at, sample_id *ret)
{
	const struct sequence *q = s->sequence;
	uint64_t position = at - s->base;

	if (position >= q->length) {
		position -= q->length;
		q = s->next;
	}
	if (!q || position >= q->length)
		return false;
	*ret = list_at(s->list, q->at[position]);
	return true;
}

static bool was_opened(const struct slot *s, uint64_t at)
{
	uint64_t position = at - s->base;

	return at < s->reach && known_word(s, position / 64) >> (position % 64) & 1;
}

static uint32_t piece_of(const struct sequence_pieces *pieces, uint32_t index)
{
	uint32_t low = 0, high = pieces->count;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (pieces->begin[mid] <= index)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* The sample at the cursor is not there: with it comes the rest of its piece. */
static int want_piece(struct plan *p, struct slot *s, uint64_t at)
{
	bool next = at - s->base >= s->sequence->length;
	const struct sequence *q = next ? s->next : s->sequence;
	uint64_t base = next ? s->base + s->sequence->length : s->base;
	uint32_t k = piece_of(q->pieces, q->at[at - base]);
	int got = 0;

	for (uint32_t i = q->pieces->begin[k]; i < q->pieces->begin[k + 1]; i++) {
		uint64_t its = base + q->pieces->where[i];
		int r = its < at || was_opened(s, its)
			? 0 : want_sample(p, s, its, at, list_at(s->list, i));

		if (r < 0)
			return got ? got : r;
		got += r;
	}
	return got;
}

static int want_position(struct plan *p, struct slot *s, uint64_t at, sample_id id)
{
	if (s->sequence->pieces && !held_find(p, id))
		return want_piece(p, s, at);
	return want_sample(p, s, at, at, id);
}

bool slot_advance(struct plan *p, struct slot *s)
{
	unsigned batch = s->cursor >= s->front + NEAR ? PLAN_BATCH : 1;
	unsigned got = 0, looked = 0;
	sample_id id;
	int r;

	if (!link_empty(&s->todo))
		return true;
	while (got < batch && looked++ < LOOK && sample_at(s, s->cursor, &id)) {
		if (s->cursor >= lead_end(p, s) && !lead_deeper(p, s))
			break;
		r = was_opened(s, s->cursor) || is_absent(s, s->cursor)
			? 0 : want_position(p, s, s->cursor, id);
		if (r < 0)
			break;
		got += (unsigned)r;
		s->cursor++;
	}
	return got > 0;
}

bool slot_in_turn(const struct slot *s, uint64_t at)
{
	bool next = at - s->base >= s->sequence->length;

	return s->sequence->pieces || (next ? s->next_in_order : s->in_order);
}

/* Who waits for what the source is not asked for yet has it fetched alone.  So it is asked for four
 * pieces, or for all that its readers, who may be batches apart, come to next. */
uint64_t slot_at_once(const struct plan *p, const struct slot *s)
{
	const struct sequence_pieces *pieces = s->sequence->pieces;

	if (pieces)
		return 4 * (s->sequence->n / DL_MAX(pieces->count, 1u) + 1);
	return s->in_order ? DL_MIN(lead_end(p, s) - s->front, AT_ONCE_MAX) : 0;
}
