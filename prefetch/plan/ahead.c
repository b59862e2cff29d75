#include "prefetch/plan/ahead.h"

#define BEHIND 2u                      /* requests of one reader overtake each other */
#define GROWTH 4u                      /* twice costs a distant source two answers more */

static bool is_near(const struct ahead_stream *s, uint32_t number)
{
	return number <= s->next ? s->next - number <= BEHIND
				 : s->run > 0 && number - s->next < BEHIND;
}

static struct ahead_stream *find(struct ahead *a, sample_id id, uint32_t pid)
{
	for (struct ahead_stream *s = a->streams; s < a->streams + AHEAD_STREAMS; s++)
		if (s->seen && s->id == id && s->pid == pid)
			return s;
	return NULL;
}

/* That of others who take the blocks of a file in turns with him.  A single one of them is near by
 * chance, unless it is the very next. */
static struct ahead_stream *find_shared(struct ahead *a, sample_id id, uint32_t number,
					uint64_t now)
{
	struct ahead_stream *best = NULL;

	for (struct ahead_stream *s = a->streams; s < a->streams + AHEAD_STREAMS; s++)
		if (s->seen && s->id == id && now < s->seen + AHEAD_PAUSE &&
		    (s->run > 0 ? is_near(s, number) : number == s->next) &&
		    (!best || s->run > best->run))
			best = s;
	return best;
}

static struct ahead_stream *take_oldest(struct ahead *a)
{
	struct ahead_stream *s = a->streams;

	for (unsigned i = 1; i < AHEAD_STREAMS; i++)
		if (a->streams[i].seen < s->seen)
			s = &a->streams[i];
	return s;
}

static struct ahead_stream *find_or_take(struct ahead *a, sample_id id, uint32_t pid,
					 uint32_t number, uint64_t now)
{
	struct ahead_stream *own = find(a, id, pid), *shared;

	if (own && is_near(own, number))
		return own;
	shared = find_shared(a, id, number, now);
	if (shared || own)
		return shared ? shared : own;
	own = take_oldest(a);
	*own = (struct ahead_stream){ .id = id, .pid = pid, .next = UINT32_MAX };
	return own;
}

static void shrink(struct ahead_stream *s)
{
	s->run = s->most = s->run / GROWTH;
	s->was_let_go = true;
	s->taken = 0;
	s->asked = s->next;
}

/* The block after the last one, or one that has overtaken that. */
static void step(struct ahead_stream *s, uint32_t number, enum ahead_got got, uint32_t most)
{
	bool let_go = got == AHEAD_ABSENT && number < s->asked;

	s->next = number + 1;
	if (let_go)
		shrink(s);
	else if (s->was_let_go)
		most = DL_MIN(most, s->most + ++s->taken / GROWTH);
	if (!let_go && got != AHEAD_READY)
		s->run = DL_MIN(s->run * GROWTH + 1, most);
	s->asked = DL_MAX(s->asked, s->next);
}

struct ahead_range ahead_read(struct ahead *a, sample_id id, uint32_t pid, uint32_t number,
			      enum ahead_got got, uint32_t most, uint64_t now)
{
	struct ahead_stream *s = find_or_take(a, id, pid, number, now);
	uint32_t first, end;

	s->seen = DL_MAX(now, UINT64_C(1));
	if (!is_near(s, number)) {
		s->next = s->asked = number + 1;
		s->run = 0;
	} else if (number >= s->next) {
		step(s, number, got, most);
	}
	first = s->asked;
	end = s->next + s->run;
	s->asked = DL_MAX(first, end);
	return (struct ahead_range){ first, s->asked };
}

void ahead_no_room(struct ahead *a, sample_id id, uint32_t number)
{
	for (struct ahead_stream *s = a->streams; s < a->streams + AHEAD_STREAMS; s++)
		if (s->seen && s->id == id && number < s->asked)
			s->asked = DL_MAX(number, s->next);
}

bool ahead_in_hand(const struct ahead *a, sample_id id, uint32_t number, uint64_t now)
{
	for (const struct ahead_stream *s = a->streams; s < a->streams + AHEAD_STREAMS; s++)
		if (s->seen && s->id == id && now < s->seen + AHEAD_PAUSE &&
		    number < s->next && s->next - number <= BEHIND)
			return true;
	return false;
}

bool ahead_wanted(const struct ahead *a, sample_id id, uint32_t number, bool in_run, uint64_t now)
{
	for (const struct ahead_stream *s = a->streams; s < a->streams + AHEAD_STREAMS; s++)
		if (s->seen && s->id == id && s->run >= in_run && now < s->seen + AHEAD_PAUSE &&
		    number + BEHIND >= s->next && number < s->asked)
			return true;
	return false;
}
