#include "prefetch/order/follow.h"

#include <string.h>

#include "base/clock.h"
#include "prefetch/order/absent.h"
#include "prefetch/order/numpy.h"

#define BITS 64
#define PASSED_NS CLOCK_S              /* longer than a source needs for the next sample */
#define RESUME_PART 2                  /* of the window: an epoch's workers begin within it */
#define STRETCH 4u                     /* windows, before and beyond */
#define NARROW 1024u                   /* positions: as lanes tell as well */
#define LATELY 8192u                   /* opens of readers who went on */
#define ASKED_BEFORE 64u               /* positions after the first that we hear of */

static size_t words_of(uint32_t length)
{
	return (length + BITS - 1) / BITS;
}

int follow_new(struct list *list, struct sequence *sequence, const struct epoch *rule,
	       struct follow **ret)
{
	dl_cleanup(follow_freep) struct follow *f = calloc(1, sizeof(*f));
	int r;

	if (!f) {
		sequence_unref(sequence);
		return -ENOMEM;
	}
	f->course = (struct course){ .sequence = sequence, .epoch = rule->number };
	f->rule = *rule;
	f->opened = calloc(words_of(sequence->length) + 1, sizeof(*f->opened));
	if (sequence->pieces)
		f->asked = calloc(words_of(sequence->length) + 1, sizeof(*f->asked));
	if (!f->opened || (sequence->pieces && !f->asked))
		return -ENOMEM;
	f->course.opened = f->opened;
	f->course.positions = &f->positions;
	r = positions_init(&f->positions, sequence);
	if (r == 0)
		r = absent_init(f);
	if (r == 0)
		r = follow_over(f, list);
	if (r < 0)
		return r;
	*ret = DL_TAKE(f);
	return 0;
}

void follow_free(struct follow *f)
{
	if (!f)
		return;
	positions_fini(&f->positions);
	free(f->opened);
	absent_fini(f);
	free(f->asked);
	list_unref(f->course.list);
	sequence_unref(f->course.sequence);
	sequence_unref(f->course.next);
	free(f);
}

static bool opened_at(const struct follow *f, uint32_t position)
{
	return f->opened[position / BITS] >> (position % BITS) & 1;
}

static bool asked_at(const struct follow *f, uint32_t position)
{
	return f->asked[position / BITS] >> (position % BITS) & 1;
}

static void advance_front(struct follow *f)
{
	struct course *c = &f->course;

	while (c->front < c->sequence->length &&
	       (opened_at(f, c->front) || absent_at(f, c->front) ||
		(c->front < f->unheard && !asked_at(f, c->front))))
		c->front++;
	c->reach = DL_MAX(c->reach, c->front);
}

int follow_over(struct follow *f, struct list *list)
{
	struct list *before = f->course.list;
	int r = absent_over(f, list);

	if (r < 0)
		return r;
	f->course.list = list_ref(list);
	list_unref(before);
	advance_front(f);
	return 0;
}

/* In this part of it a job's workers are: each rank has so much of its own. */
static uint32_t window(const struct follow *f)
{
	uint64_t most = (uint64_t)TRACKER_SPREAD * f->course.sequence->step;

	return (uint32_t)DL_MIN(most, (uint64_t)TRACKER_WIDEST);
}

/* How far behind the foremost reader others are waited for.  Of what is drawn all will be read, if
 * their reader lives.  While one waits for the source the others go on through all that is there;
 * and of readers that are dead, one in four leaves no more behind than there is room for. */
static uint32_t patience(const struct follow *f)
{
	const struct sequence_pieces *pieces = f->course.sequence->pieces;
	uint64_t most = pieces ? DL_MAX(UINT64_C(4) * pieces->reservoir, (uint64_t)FOLLOW_WINDOW)
			       : window(f);

	most = DL_MIN(most, (uint64_t)window(f));
	_Static_assert(BUFFER_BEHIND * NUMPY_BUFFER_MOST <= TRACKER_WIDEST, "it is waited for");
	return DL_MAX((uint32_t)most, buffer_behind(f->course.sequence));
}

/* Many workers with large batches are further apart than any patience: it is seen how far.  A
 * worker may have to wait for a processor, so that others go on for long. */
static void note_reader(struct follow *f, uint32_t position, uint64_t now)
{
	if (!f->course.sequence->buffer)
		f->behind = DL_MAX(f->behind, f->course.reach - position);
	if (++f->went_on < LATELY || now < f->behind_since + PASSED_NS)
		return;
	f->behind_before = f->behind;
	f->behind = f->went_on = 0;
	f->behind_since = now;
}

/* 0: they are not far apart. */
static uint32_t behind_lately(const struct follow *f)
{
	uint32_t behind = DL_MAX(f->behind, f->behind_before);

	return behind > NARROW ? behind : 0;
}

/* In the beginning some may not have been seen yet. */
static uint32_t given_up(const struct follow *f)
{
	uint32_t reach = f->course.reach, spread = patience(f), most = TRACKER_WIDEST;

	if (f->behind_since > 0)
		most = DL_MIN(2 * behind_lately(f), most);
	if (!f->course.sequence->pieces && !f->course.sequence->buffer)
		spread = DL_MAX(spread, most);
	return reach - DL_MIN(reach, spread);
}

/* agrees: or else it may be another job's that lies where this one will come to: if the window went
 * along with such, it would soon have left the readers behind. */
static void mark(struct follow *f, uint32_t position, bool agrees, uint64_t now)
{
	struct course *c = &f->course;
	uint32_t before = c->front;

	f->opened_count += !opened_at(f, position);
	f->opened[position / BITS] |= UINT64_C(1) << (position % BITS);
	if (agrees) {
		c->reach = DL_MAX(c->reach, position + 1);
		note_reader(f, position, now);
		absent_opened(f, position, now);
	}
	advance_front(f);
	/* What lies so far behind the foremost reader is not waited for any more. */
	if (c->front < given_up(f)) {
		c->front = given_up(f);
		advance_front(f);
	}
	if (c->front != before)
		f->moved = now;
}

/* A reader that agrees and has no lane near the front has passed it: it was resumed beyond, or
 * opens were lost, or a rank is elsewhere.  What is left behind is not waited for.  But if one of
 * two readers waits for the source, the other goes on through what is there: so not at once. */
static void pass_by(struct follow *f, uint64_t now)
{
	struct course *c = &f->course;
	uint32_t low, high, room;

	if (c->sequence->pieces || f->opened_count % 32 != 0 || f->judged < 32 ||
	    !follow_alive(f) || (!f->hasty && f->moved && now < f->moved + PASSED_NS) ||
	    !score_lately(&f->score, &low, &high))
		return;
	room = 2 * (high - low) + 64 + buffer_behind(c->sequence);
	room = DL_MAX(room, behind_lately(f));
	if (low < c->front + room)
		return;
	c->front = low - room;
	advance_front(f);
	f->hasty = true;
}

bool follow_stretch(struct follow *f, uint32_t position)
{
	struct course *c = &f->course;
	uint32_t first = DL_MIN(position, c->front), last = DL_MAX(position, c->reach);
	uint32_t most = STRETCH * window(f);

	if (c->sequence->pieces || position + most <= c->front || position >= c->reach + most ||
	    last - first > TRACKER_WIDEST)
		return false;
	if (position < c->front ? opened_at(f, position) : position < c->reach)
		return false;
	f->behind = DL_MAX(f->behind, last - first);
	absent_greet(f, position, c->last_open);
	c->front = first;
	c->reach = last;
	return true;
}

void follow_elsewhere(struct follow *f, uint32_t position)
{
	if (position < f->course.front && !opened_at(f, position))
		f->hasty = false;
}

/* The one before it is where a reader was last. */
static bool is_next(const struct follow *f, uint32_t position)
{
	struct scale scale = scale_of(f->course.sequence);

	return position >= scale.step && score_succeeds(&f->score, position, scale);
}

/* Of the positions that have this index: one that continues a lane, else the lowest that is
 * still to come; POSITION_NONE: all are behind.  Where a reader comes to next, another job's open
 * may have been taken for his. */
static uint32_t expected(const struct follow *f, uint32_t index)
{
	uint32_t lowest = POSITION_NONE;

	for (uint32_t p = positions_first(&f->positions, index); p != POSITION_NONE;
	     p = positions_following(&f->positions, index, p)) {
		if (p < f->course.front || (opened_at(f, p) && !is_next(f, p)))
			continue;
		if (score_continues(&f->score, p, scale_of(f->course.sequence)))
			return p;
		if (lowest == POSITION_NONE)
			lowest = p;
	}
	return lowest;
}

static bool opened_lately(const struct follow *f, uint32_t index)
{
	for (uint32_t p = positions_first(&f->positions, index); p != POSITION_NONE;
	     p = positions_following(&f->positions, index, p))
		for (unsigned i = 0; i < f->score.lanes; i++)
			if (f->score.tails[i] == p)
				return true;
	return false;
}

/* The position before was opened, perhaps so long ago that its lane is forgotten. */
static bool goes_on(const struct follow *f, uint32_t position)
{
	uint32_t step = f->course.sequence->step;

	return position >= step && position - step >= f->course.front &&
	       position < f->course.reach &&
	       (opened_at(f, position - step) || absent_lost(f, position - step));
}

enum follow_verdict follow_judge(const struct follow *f, uint32_t index, uint32_t *ret_position)
{
	uint32_t p = expected(f, index);

	if (p == POSITION_NONE && positions_first(&f->positions, index) == POSITION_NONE)
		return FOLLOW_FOREIGN;
	if (p == POSITION_NONE && opened_lately(f, index))
		return FOLLOW_AGAIN;
	if (p == POSITION_NONE || p >= f->course.reach + window(f))
		return FOLLOW_ELSEWHERE;
	*ret_position = p;
	if (score_succeeds(&f->score, p, scale_of(f->course.sequence)) || goes_on(f, p))
		return FOLLOW_SUCCEEDS;
	return score_continues(&f->score, p, scale_of(f->course.sequence)) ? FOLLOW_CONTINUES
									    : FOLLOW_WITHIN;
}

static void agree(struct follow *f, bool agrees)
{
	f->agreed = f->agreed << 1 | agrees;
	f->judged = DL_MIN(f->judged + 1, (unsigned)FOLLOW_WINDOW);
}

void follow_trust(struct follow *f)
{
	f->judged = (unsigned)__builtin_popcountll(f->agreed);
	f->agreed = f->judged < FOLLOW_WINDOW ? (UINT64_C(1) << f->judged) - 1 : UINT64_MAX;
}

bool follow_knows(const struct follow *f, uint32_t pid)
{
	for (unsigned i = 0; pid && i < FOLLOW_PIDS; i++)
		if (f->pids[i] == pid)
			return true;
	return false;
}

static void remember_pid(struct follow *f, uint32_t pid)
{
	if (pid == 0 || follow_knows(f, pid))
		return;
	memmove(&f->pids[1], &f->pids[0], (FOLLOW_PIDS - 1) * sizeof(f->pids[0]));
	f->pids[0] = pid;
}

/* The first open that agrees is far from the beginning: a reader that was resumed there.  Others
 * of its workers may be some batches behind; what is drawn is held from there on, so there is a
 * limit. */
static void begin_late(struct follow *f, uint32_t position)
{
	const struct sequence_pieces *pieces = f->course.sequence->pieces;
	uint32_t behind = window(f) / RESUME_PART;

	if (pieces && pieces->reservoir / 2 < behind)
		behind = DL_MAX(pieces->reservoir / 2, (uint32_t)FOLLOW_WINDOW);
	if (!f->begun && position >= f->course.front + behind)
		f->course.front = f->course.reach = position - behind;
}

/* Near the end of what is drawn: what nobody asked for since we hear was read before. */
static void give_up_unheard(struct follow *f)
{
	if (f->perhaps_asked == 0 || !follow_nearly_done(f))
		return;
	f->unheard = f->perhaps_asked;
	f->perhaps_asked = 0;
	advance_front(f);
}

void follow_take(struct follow *f, uint32_t position, uint32_t pid, uint64_t now)
{
	struct scale scale = scale_of(f->course.sequence);
	bool continues = score_continues(&f->score, position, scale);
	bool agrees = score_agrees(&f->score, position, scale) || f->course.sequence->pieces ||
		      goes_on(f, position);

	if (agrees) {
		begin_late(f, position);
		f->begun = true;
	}
	agree(f, continues || goes_on(f, position));
	if (is_next(f, position) && !opened_at(f, position - scale.step))
		mark(f, position - scale.step, agrees, now);   /* it was his as well */
	score_open(&f->score, position, scale);
	mark(f, position, agrees, now);
	give_up_unheard(f);
	pass_by(f, now);
	if (agrees)
		remember_pid(f, pid);
	f->course.last_open = now;
	f->course.pid = pid;
}

void follow_perhaps(struct follow *f, uint32_t position)
{
	agree(f, false);
	score_open(&f->score, position, scale_of(f->course.sequence));
}

void follow_asked_before(struct follow *f, uint32_t position)
{
	if (!f->is_asked)
		f->perhaps_asked = DL_MIN(position + ASKED_BEFORE, f->course.sequence->length);
	f->is_asked = true;
}

void follow_ask(struct follow *f, uint32_t position)
{
	follow_asked_before(f, position);
	f->asked[position / BITS] |= UINT64_C(1) << (position % BITS);
}

bool follow_awaits(const struct follow *f, uint32_t index, uint32_t *ret_position)
{
	uint32_t p = f->course.sequence->pieces->where[index];

	*ret_position = p;
	return (asked_at(f, p) || p < f->perhaps_asked) && !opened_at(f, p);
}

void follow_after(struct follow *f, const struct follow *before)
{
	f->behind = DL_MAX(f->behind, before->behind);
	f->behind_before = before->behind_before;
	f->went_on = before->went_on;
	f->behind_since = before->behind_since;
	absent_after(f, before);
	advance_front(f);
}

void follow_miss(struct follow *f)
{
	agree(f, false);
}

void follow_jump(struct follow *f, uint32_t position)
{
	struct course *c = &f->course;

	c->front = c->reach = position;
	f->score = (struct score){ 0 };
	f->agreed = 0;
	f->judged = 0;
	f->hasty = true;               /* what was opened before it is not known */
	f->begun = true;
	absent_again(f);
	/* What was opened behind is behind; ahead of the new front nothing has been. */
	for (uint32_t p = position; p < c->sequence->length; p++)
		f->opened[p / BITS] &= ~(UINT64_C(1) << (p % BITS));
}

void follow_resume(struct follow *f, uint32_t position)
{
	follow_jump(f, position);
	for (uint32_t p = 0; p < position; p++)
		f->opened[p / BITS] |= UINT64_C(1) << (p % BITS);
	f->opened_count = position;
}

void follow_end(struct follow *f)
{
	f->course.front = f->course.reach = f->course.sequence->length;
}

bool follow_refuted(const struct follow *f)
{
	return f->judged == FOLLOW_WINDOW && __builtin_popcountll(f->agreed) < FOLLOW_WINDOW / 4;
}

bool follow_doubtful(const struct follow *f)
{
	return f->judged >= 16 && __builtin_popcountll(f->agreed & 0xffff) <= 4;
}

bool follow_alive(const struct follow *f)
{
	return f->judged > 0 && (unsigned)__builtin_popcountll(f->agreed) * 4 >= f->judged;
}

bool follow_confirmed(const struct follow *f)
{
	unsigned agreed = (unsigned)__builtin_popcountll(f->agreed);

	return agreed >= 8 && agreed * 2 >= f->judged;
}

bool follow_mostly_read(const struct follow *f)
{
	uint32_t most = f->course.sequence->length / 10 * 9;

	return f->course.front >= most || f->opened_count + f->lost_count >= most;
}

bool follow_finished(const struct follow *f)
{
	return f->course.front >= f->course.sequence->length;
}

bool follow_is_left(const struct follow *f, uint32_t beyond)
{
	return beyond + f->course.sequence->length - f->course.front > patience(f);
}

/* One reader at the end is not enough, who may be another job's, and there by chance; but opens
 * may have been lost. */
bool follow_nearly_done(const struct follow *f)
{
	uint32_t most = f->course.sequence->length / 4 * 3;

	return f->course.reach >= f->course.sequence->length / 10 * 9 &&
	       (f->course.sequence->pieces || f->course.front >= most ||
		f->opened_count + f->lost_count >= most);
}
