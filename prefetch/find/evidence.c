#include "prefetch/find/evidence.h"

#include <string.h>

#define EARLY 6u                        /* opens, ... */
#define EARLY_RUN 3u                    /* ... of these by the process that began */
#define ENOUGH 32u
#define ENOUGH_MIXED 64u                /* without knowing whose they are */
#define AMPLE_PART 4                    /* of an epoch: more of it says less of who is in it */
#define FITS_CLEAR 8
#define KEPT_OPENS 16u                  /* of each process, beyond the turn: proves its order */

/* Mostly: it goes on where it was expected, and begins a batch now and then. */
static bool is_explained(const struct evidence_reader *r)
{
	return r->fitting > 0 && r->fitting * 2 >= r->opens;
}

static struct evidence_reader *reader_of(const struct evidence *e, uint32_t pid)
{
	struct evidence_reader *r = (struct evidence_reader *)e->readers;

	for (size_t i = 0; i < e->reader_count; i++)
		if (r[i].pid == pid)
			return &r[i];
	return NULL;
}

static bool all_is_well(const struct evidence *e)
{
	return !e->held && e->count >= ENOUGH / 2 && e->fitting * 3 >= e->count * 2;
}

static uint32_t lowest_pid(const struct evidence *e)
{
	uint32_t lowest = UINT32_MAX;

	for (size_t i = 0; i < e->reader_count; i++)
		if (!is_explained(&e->readers[i]))
			lowest = DL_MIN(lowest, e->readers[i].pid);
	return lowest;
}

static bool is_early(const struct evidence *e)
{
	uint32_t lowest = lowest_pid(e);
	size_t opens = 0;

	for (size_t i = 0; i < e->count; i++)
		opens += e->opens[i].pid == lowest;
	return e->count >= EARLY && e->fitting * 3 < e->count && lowest != 0 && opens >= EARLY_RUN;
}

bool evidence_has_pids(const struct evidence *e)
{
	return e->count == 0 || e->opens[0].pid != 0;
}

enum evidence_stage evidence_stage(const struct evidence *e)
{
	size_t enough = evidence_has_pids(e) ? ENOUGH : ENOUGH_MIXED;

	if (all_is_well(e))
		return EVIDENCE_NONE;
	if (!evidence_has_pids(e) && e->count >= DL_MAX(e->ample, enough))
		return EVIDENCE_AMPLE;
	if (e->count >= e->kept + enough)
		return EVIDENCE_FULL;
	return e->kept == 0 && is_early(e) ? EVIDENCE_EARLY : EVIDENCE_NONE;
}

static bool is_alone(const struct evidence *e)
{
	for (size_t i = 1; i < e->count; i++)
		if (e->opens[i].pid != e->opens[0].pid)
			return false;
	return true;
}

bool evidence_same_start(const struct evidence *early, const struct evidence *now)
{
	return lowest_pid(early) == lowest_pid(now) && is_alone(early) == is_alone(now);
}

void evidence_clear(struct evidence *e)
{
	e->count = 0;
	e->fitting = 0;
	e->kept = 0;
	e->seen = 0;
	e->reader_count = 0;
	e->held = false;
	e->beside = false;
	e->turn++;
}

void evidence_go_on(struct evidence *e)
{
	e->beside = true;
	e->turn++;
}

static struct evidence_reader *new_reader(struct evidence *e, sample_id id, uint32_t pid)
{
	struct evidence_reader *r = reader_of(e, pid);

	if (r)
		return r;
	if (e->reader_count == EVIDENCE_READERS)
		return &e->readers[EVIDENCE_READERS - 1];
	r = &e->readers[e->reader_count++];
	*r = (struct evidence_reader){ .pid = pid, .first = id };
	return r;
}

void evidence_acquit(struct evidence *e, uint32_t pid)
{
	struct evidence_reader *r = reader_of(e, pid);
	size_t left = 0;

	if (!r)
		return;
	for (size_t i = 0, kept = e->kept; i < e->count; i++)
		if (e->opens[i].pid != pid)
			e->opens[left++] = e->opens[i];
		else if (i < kept)
			e->kept--;
	e->count = left;
	e->fitting -= DL_MIN(e->fitting, (size_t)r->fitting);
	e->seen -= DL_MIN(e->seen, (uint64_t)r->opens);
	*r = e->readers[--e->reader_count];
	if (e->reader_count == 0)
		evidence_clear(e);
}

static bool is_among(const uint32_t *pids, size_t count, uint32_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* Its first opens, which say where it began, and enough to prove it by.  Of those beyond the last
 * reader nobody knows that. */
static void shorten(struct evidence *e)
{
	unsigned opens[EVIDENCE_READERS] = { 0 };
	size_t left = 0;

	for (size_t i = 0; i < e->count; i++) {
		const struct evidence_reader *r = reader_of(e, e->opens[i].pid);

		if (r && opens[r - e->readers]++ < KEPT_OPENS)
			e->opens[left++] = e->opens[i];
	}
	e->count = e->kept = left;
}

void evidence_turn(struct evidence *e, const uint32_t *pids, size_t count)
{
	/* While ranks are waited for, or not all readers are known by name, it is all one. */
	if (e->count == 0 || e->held || e->reader_count == EVIDENCE_READERS) {
		evidence_clear(e);
		return;
	}
	for (size_t i = e->reader_count; i-- > 0;) {
		const struct evidence_reader *r = &e->readers[i];

		if (r->pid == 0 || is_explained(r) || is_among(pids, count, r->pid))
			evidence_acquit(e, r->pid);
	}
	if (e->reader_count > 0)
		shorten(e);
}

bool evidence_newcomers(const struct evidence *before, const struct evidence *now)
{
	for (size_t i = 0; i < now->reader_count; i++) {
		const struct evidence_reader *r = &now->readers[i];

		if (r->opens >= RUN_MAX && !is_explained(r) && !reader_of(before, r->pid))
			return true;
	}
	return false;
}

void evidence_parents(struct evidence *e, uint32_t (*parent)(uint32_t pid))
{
	for (size_t i = 0; i < e->reader_count; i++)
		e->readers[i].parent = e->readers[i].pid ? parent(e->readers[i].pid) : 0;
}

static void count(struct evidence *e, struct evidence_reader *r, bool fits)
{
	r->opens++;
	r->fitting += fits;
	r->row = fits ? r->row + 1 : 0;
	if (r->row >= FITS_CLEAR || (r->opens >= ENOUGH / 2 && r->fitting * 3 >= r->opens * 2))
		evidence_acquit(e, r->pid);
}

/* Also of those beyond the last reader. */
static bool knows(const struct evidence *e, uint32_t pid)
{
	if (reader_of(e, pid))
		return true;
	for (size_t i = 0; i < e->count; i++)
		if (e->opens[i].pid == pid)
			return true;
	return false;
}

/* Where ranks share an epoch that is no multiple of them, the files at its beginning come again at
 * its end: each is what some other rank's process opened first.  Others may still be reading then,
 * so that the epoch is not over with it. */
static bool pads(const struct evidence *e, sample_id id, uint32_t pid)
{
	for (size_t i = 0; i < e->reader_count; i++)
		if (e->readers[i].first == id && e->readers[i].pid != pid)
			return true;
	return false;
}

static bool is_over(const struct evidence *e, sample_id id, uint32_t pid, uint32_t epoch)
{
	if (e->seen >= epoch)
		return !reader_of(e, pid) || !pads(e, id, pid);
	return e->count == EVIDENCE_MAX && e->seen >= epoch / 2 && !knows(e, pid);
}

void evidence_open(struct evidence *e, sample_id id, uint32_t pid, bool fits, uint32_t epoch)
{
	fits &= !e->held;
	if (fits && (e->beside || !reader_of(e, pid)))
		return;
	if (is_over(e, id, pid, epoch))
		evidence_clear(e);
	if (fits && e->count == 0)
		return;
	if (e->count == EVIDENCE_MAX && e->reader_count < EVIDENCE_READERS && !reader_of(e, pid))
		shorten(e);            /* room for one that begins */
	if (e->count < EVIDENCE_MAX) {
		e->fitting += fits;
		e->opens[e->count++] = (struct evidence_open){ .id = id, .pid = pid };
	}
	e->seen += !pads(e, id, pid);
	e->ample = DL_MIN(epoch / AMPLE_PART, (size_t)EVIDENCE_MAX);
	count(e, new_reader(e, id, pid), fits);
}

static struct run *run_of(struct run *runs, size_t *count, uint32_t pid)
{
	for (size_t i = 0; i < *count; i++)
		if (runs[i].pid == pid)
			return &runs[i];
	if (*count == EVIDENCE_READERS)
		return NULL;
	runs[*count] = (struct run){ .pid = pid };
	return &runs[(*count)++];
}

static size_t lowest(const struct run *runs, size_t count)
{
	size_t best = 0;

	for (size_t i = 1; i < count; i++)
		if (runs[i].pid < runs[best].pid)
			best = i;
	return best;
}

static uint32_t parent_of(const struct evidence *e, const struct run *r)
{
	const struct evidence_reader *reader = reader_of(e, r->pid);

	return reader ? reader->parent : 0;
}

/* The lowest of a parent of which none was taken; count: there is no such. */
static size_t lowest_of_others(const struct evidence *e, const struct run *runs, size_t count,
			       const struct run *taken, size_t taken_count)
{
	size_t best = count;

	for (size_t i = 0; i < count; i++) {
		uint32_t parent = parent_of(e, &runs[i]);
		bool new = parent != 0 && runs[i].count > 1;

		for (size_t k = 0; k < taken_count; k++)
			new &= parent_of(e, &taken[k]) != parent;
		if (new && (best == count || runs[i].pid < runs[best].pid))
			best = i;
	}
	return best;
}

static size_t without_the_first(const struct run *r, struct run *ret, size_t max)
{
	size_t count = 1;

	for (ret[0] = *r; count < max && ret[count - 1].count > 2; count++) {
		ret[count] = ret[count - 1];
		ret[count].count--;
		for (unsigned i = 0; i < ret[count].count; i++)
			ret[count].at[i] = ret[count - 1].at[i + 1];
	}
	return count;
}

size_t evidence_runs(const struct evidence *e, const struct list *list, struct run *ret,
		     size_t max)
{
	struct run runs[EVIDENCE_READERS];
	size_t count = 0, taken = 0;

	for (size_t i = 0; i < e->count; i++) {
		const struct evidence_reader *reader = reader_of(e, e->opens[i].pid);
		struct run *r = NULL;
		uint32_t index;

		if (!reader || !is_explained(reader))
			r = run_of(runs, &count, e->opens[i].pid);
		if (r && r->count < RUN_MAX && list_index(list, e->opens[i].id, &index) &&
		    (r->count == 0 || r->at[r->count - 1] != index))
			r->at[r->count++] = index;
	}
	if (count == 1 && runs[0].count > 1)
		return without_the_first(&runs[0], ret, max);
	while (taken < max && count > 0) {
		size_t next = taken % 2 ? 0 : lowest(runs, count), other = count;

		if (taken == max - 1)
			other = lowest_of_others(e, runs, count, ret, taken);
		if (other < count)
			next = other;
		ret[taken] = runs[next];
		taken += ret[taken].count > 1;
		for (count--; next < count; next++)
			runs[next] = runs[next + 1];
	}
	return taken;
}
