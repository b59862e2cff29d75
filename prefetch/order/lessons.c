#include "prefetch/order/lessons.h"

#include <stdio.h>
#include <string.h>

#include "prefetch/order/numpy.h"

static bool same(const struct lesson *a, const struct lesson *b)
{
	return a->n == b->n && a->seed == b->seed && a->skip == b->skip && a->world == b->world &&
	       a->buffer == b->buffer;
}

static void take_out(struct lessons *l, size_t from, size_t count)
{
	l->count -= count;
	memmove(&l->at[from], &l->at[from + count], (l->count - from) * sizeof(l->at[0]));
}

/* Epochs of the run that begins here. */
static size_t run_length(const struct lessons *l, size_t from)
{
	size_t length = 0;

	while (from + length < l->count && l->at[from + length].n != 0)
		length++;
	return length;
}

static void make_room(struct lessons *l)
{
	size_t oldest = run_length(l, 0);

	if (oldest < l->count)
		take_out(l, 0, oldest + 1);
	else                           /* there is but one */
		take_out(l, 0, l->count / 2);
}

static void append(struct lessons *l, struct lesson epoch)
{
	if (l->count == LESSONS_MAX)
		make_room(l);
	l->at[l->count++] = epoch;
}

void lessons_add(struct lessons *l, struct lesson epoch)
{
	if (epoch.n != 0)
		append(l, epoch);
}

static bool begins_like(const struct lessons *l, size_t run, size_t other)
{
	size_t length = run_length(l, run);

	if (length > run_length(l, other))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!same(&l->at[run + i], &l->at[other + i]))
			return false;
	return true;
}

/* Of the last run and one before it that say the same, the one that says less goes. */
static void forget_repeats(struct lessons *l)
{
	size_t last = l->count;

	while (last > 0 && l->at[last - 1].n != 0)
		last--;
	for (size_t run = 0; run < last;) {
		size_t length = run_length(l, run) + 1;

		if (begins_like(l, last, run)) {
			take_out(l, last, l->count - last);
			return;
		}
		if (begins_like(l, run, last)) {
			take_out(l, run, length);
			last -= length;
		} else {
			run += length;
		}
	}
}

void lessons_begin(struct lessons *l)
{
	forget_repeats(l);
	if (l->count > 0 && l->at[l->count - 1].n != 0)
		append(l, (struct lesson){ 0 });
}

size_t lessons_last_run(const struct lessons *l, const struct lesson **ret)
{
	size_t end = l->count, first;

	if (end > 0 && l->at[end - 1].n == 0)
		end--;
	for (first = end; first > 0 && l->at[first - 1].n != 0; first--)
		;
	*ret = &l->at[first];
	return end - first;
}

void lessons_insert(struct lessons *l, const struct lesson *run, size_t length)
{
	const struct lesson *epochs;
	size_t running;

	while (l->count > 0 && l->count + length + 1 > LESSONS_MAX)
		make_room(l);
	running = l->count && l->at[l->count - 1].n ? lessons_last_run(l, &epochs) : 0;
	memmove(&l->at[l->count - running + length + 1], &l->at[l->count - running],
		running * sizeof(l->at[0]));
	memcpy(&l->at[l->count - running], run, length * sizeof(l->at[0]));
	l->at[l->count - running + length] = (struct lesson){ 0 };
	l->count += length + 1;
}

bool lessons_has(const struct lessons *l, const struct lesson *epoch)
{
	for (size_t i = l->count; i-- > 0 && l->at[i].n != 0;)
		if (l->at[i].n == epoch->n)
			return l->at[i].seed == epoch->seed && l->at[i].skip == epoch->skip;
	return false;
}

/* The next epoch of the same run and as many samples: others are of a validation set. */
static const struct lesson *next_of(const struct lessons *l, size_t at)
{
	for (size_t i = at + 1; i < l->count && l->at[i].n != 0; i++)
		if (l->at[i].n == l->at[at].n)
			return &l->at[i];
	return NULL;
}

const struct lesson *lessons_after(const struct lessons *l, const struct lesson *epoch)
{
	const struct lesson *next = NULL;

	for (size_t i = l->count; !next && i-- > 0;)
		if (same(&l->at[i], epoch))
			next = next_of(l, i);
	return next;
}

int lessons_print(const struct lessons *l, struct buf *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < l->count; i++) {
		const struct lesson *e = &l->at[i];

		if (e->n > 0)
			r = buf_printf(ret, "%u %u %llu %u", e->n, e->seed,
				       (unsigned long long)e->skip, e->world);
		if (r == 0 && e->buffer > 0)
			r = buf_printf(ret, " %u", e->buffer);
		if (r == 0)
			r = buf_printf(ret, "\n");
	}
	return r;
}

static bool parse_epoch(const char *line, struct lesson *ret)
{
	unsigned long long skip;
	struct lesson e = { 0 };
	char space, end;
	int fields = sscanf(line, "%u %u %llu %u%c%u%c", &e.n, &e.seed, &skip, &e.world, &space,
			    &e.buffer, &end);

	if (fields != 4 && (fields != 6 || space != ' ' || e.buffer == 0 ||
			    e.buffer > NUMPY_BUFFER_MOST))
		return false;
	if (skip > UINT32_MAX || e.world > ORDER_RANKS_MAX)
		return false;
	e.skip = skip;
	*ret = e;
	return true;
}

static void parse_line(const char *line, struct lessons *ret)
{
	struct lesson e;

	if (line[0] == '\0')
		lessons_begin(ret);
	else if (parse_epoch(line, &e))
		lessons_add(ret, e);
}

void lessons_parse(struct bytes text, struct lessons *ret)
{
	const char *from = text.at;
	char line[80];

	*ret = (struct lessons){ .count = 0 };
	for (size_t i = 0, len; i < text.len; i += len + 1) {
		const char *at = from + i, *stop = memchr(at, '\n', text.len - i);

		len = stop ? (size_t)(stop - at) : text.len - i;
		if (len < sizeof(line)) {
			memcpy(line, at, len);
			line[len] = '\0';
			parse_line(line, ret);
		}
	}
}
