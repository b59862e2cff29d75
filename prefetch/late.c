/* Blocks that a reader waits for, and the read-ahead in big files: within the reserve, and when
 * it is used up, one after the other. */
#include "prefetch/engine_internal.h"

struct late_job {
	struct entry *entry;
	uint64_t len;
	struct late_job *next;
};

static bool reserve_take(struct engine *e, uint64_t len)
{
	dl_assert_held(&e->late_lock);
	if (e->reserve_used > 0 && e->reserve_used + len > e->reserve)
		return false;
	e->reserve_used += len;
	return true;
}

/* Take what is needed (0), or queue (-EAGAIN); nothing is queued any more once we stop. */
static int take_or_queue(struct engine *e, struct entry *entry, uint64_t len)
{
	struct late_job *j;

	DL_HOLD(&e->late_lock);
	if (e->stopping)
		return -ESHUTDOWN;
	if (!e->late_first && reserve_take(e, len))
		return 0;
	j = malloc(sizeof(*j));
	if (!j)
		return -ENOMEM;
	*j = (struct late_job){ .entry = entry, .len = len };
	*e->late_last = j;
	e->late_last = &j->next;
	return -EAGAIN;
}

void late_start(struct engine *e, struct entry *entry)
{
	uint64_t len = block_len(e, store_block(entry));
	int r = take_or_queue(e, entry, len);

	if (r == 0)
		fetch_start(e, entry, (struct urgency){ .late = true }, len);
	else if (r == -EAGAIN)
		tell(e, (struct fact){ .kind = FACT_SHORT });
	else
		store_abort(entry, r);
}

bool late_short(struct engine *e)
{
	DL_HOLD(&e->late_lock);
	return e->late_first;
}

/* The last quarter of the reserve is for what readers wait for, and nothing is read ahead into it:
 * who comes next would have to wait. */
static uint64_t ahead_most(const struct engine *e)
{
	return e->reserve / 4 * 3;
}

static struct late_job *next_job(struct engine *e)
{
	struct late_job *j;

	DL_HOLD(&e->late_lock);
	j = e->stopping ? NULL : e->late_first;
	if (!j || !reserve_take(e, j->len))
		return NULL;
	e->late_first = j->next;
	if (!e->late_first)
		e->late_last = &e->late_first;
	return j;
}

static void start_waiting(struct engine *e)
{
	struct late_job *j;

	while ((j = next_job(e))) {
		fetch_start(e, j->entry, (struct urgency){ .late = true }, j->len);
		free(j);
	}
}

void late_release(struct engine *e, uint64_t len)
{
	{
		DL_HOLD(&e->late_lock);
		assert(e->reserve_used >= len);
		e->reserve_used -= len;
	}
	start_waiting(e);
}

/* The engine stops: nobody will free a part of the reserve any more. */
void late_give_up(struct engine *e)
{
	struct late_job *j;

	{
		DL_HOLD(&e->late_lock);
		j = e->late_first;
		e->late_first = NULL;
		e->late_last = &e->late_first;
	}
	while (j) {
		struct late_job *next = j->next;

		store_abort(j->entry, -ESHUTDOWN);
		free(j);
		j = next;
	}
}

bool late_wanted(struct engine *e, struct block b, bool in_run)
{
	uint64_t now = clock_now();

	DL_HOLD(&e->late_lock);
	return ahead_wanted(&e->ahead, b.id, b.number, in_run, now);
}

bool late_stays(struct engine *e, struct block b)
{
	uint64_t now = clock_now();

	DL_HOLD(&e->late_lock);
	if (e->late_first)
		return false;
	return ahead_in_hand(&e->ahead, b.id, b.number, now) ||
		(e->reserve_used <= ahead_most(e) &&
		 ahead_wanted(&e->ahead, b.id, b.number, false, now));
}

/* The room comes first: a block that nobody waits for is never queued for it. */
static bool room_for(struct engine *e, uint64_t len)
{
	DL_HOLD(&e->late_lock);
	return !e->stopping && !e->late_first && e->reserve_used + len <= ahead_most(e) &&
		reserve_take(e, len);
}

/* Half of the reserve stays for readers. */
bool late_spare(struct engine *e, uint64_t len)
{
	DL_HOLD(&e->late_lock);
	if (e->late_first || (e->reserve_used > 0 && e->reserve_used + len > e->reserve / 2))
		return false;
	return reserve_take(e, len);
}

/* false: there is no room for it. */
static bool read_one_ahead(struct engine *e, struct block b)
{
	uint64_t len = block_len(e, b);
	struct entry *entry;
	int got;

	if (!room_for(e, len))
		return false;
	got = store_begin(e->store, b, NULL, &entry);
	if (got == STORE_MINE) {
		fetch_start(e, entry, (struct urgency){ .due = 1, .late = true }, len);
		return true;
	}
	if (got == STORE_READY)
		store_unpin(entry);
	late_release(e, len);
	return true;
}

/* Half of the reserve at most; and more than keeps the source busy is of no use. */
static uint32_t window_most(const struct engine *e)
{
	return (uint32_t)DL_MIN(e->reserve / 2 / e->block_size,
				2 * (uint64_t)source_depth(e->options.source));
}

void late_read_ahead(struct engine *e, struct block b, uint32_t pid, int got)
{
	enum ahead_got found = got == STORE_READY ? AHEAD_READY :
			       got == STORE_MINE ? AHEAD_ABSENT : AHEAD_COMING;
	uint32_t most = window_most(e);
	struct ahead_range range;
	uint64_t size, now = clock_now();

	if (!manifest_sample(e->options.manifest, b.id, &size))
		return;
	{
		DL_HOLD(&e->late_lock);
		range = ahead_read(&e->ahead, b.id, pid, b.number, found, most, now);
	}
	for (struct block at = { b.id, range.first }; at.number < range.end; at.number++) {
		if (at.number * e->block_size >= size)
			return;
		if (!read_one_ahead(e, at)) {
			DL_HOLD(&e->late_lock);
			ahead_no_room(&e->ahead, b.id, at.number);
			return;
		}
	}
}
