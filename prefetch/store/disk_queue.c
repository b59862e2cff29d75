/* What waits to be written, and what is known of it. */
#include <string.h>

#include "prefetch/store/disk_writer.h"

bool writer_put(struct disk *d, struct queued *q)
{
	bool room;

	DL_HOLD(&d->lock);
	room = d->queued_bytes + record_bytes(&q->record) <= d->queue_most && !d->closing;
	if (!room) {
		free(q);
		return false;
	}
	q->next = NULL;
	*d->last = q;
	d->last = &q->next;
	d->queued++;
	d->queued_bytes += record_bytes(&q->record);
	pthread_cond_signal(&d->wake);
	return true;
}

int disk_key_order(const void *a, const void *b)
{
	const struct disk_key *x = a, *y = b;

	return memcmp(x->hash, y->hash, sizeof(x->hash));
}

void disk_drop_waiting(struct disk *d, const struct disk_key *keys, size_t count)
{
	struct queued *q, **at = &d->first;

	DL_HOLD(&d->lock);
	while ((q = *at) != NULL) {
		if (!bsearch(&q->record.key, keys, count, sizeof(*keys), disk_key_order)) {
			at = &q->next;
			continue;
		}
		*at = q->next;
		d->taken++;
		d->queued_bytes -= record_bytes(&q->record);
		atomic_fetch_add(&d->dropped, 1);
		free(q);
	}
	d->last = at;
}

uint64_t disk_queued(struct disk *d)
{
	DL_HOLD(&d->lock);
	return d->queued;
}

bool disk_settle(struct disk *d, uint64_t number, uint64_t deadline)
{
	DL_HOLD(&d->lock);
	while (d->settled < number)
		if (!dl_cond_wait_until(&d->idled, &d->lock, deadline))
			return false;
	return true;
}

/* What was taken is in the index, or nowhere. */
static void settle(struct disk *d)
{
	dl_assert_held(&d->lock);
	if (d->writer.batched > 0 || d->settled == d->taken)
		return;
	d->settled = d->taken;
	pthread_cond_broadcast(&d->idled);
}

/* Until something is queued or, while it is offline, it may be tried again.  true: the store is
 * to be closed. */
static bool rest(struct disk *d)
{
	uint64_t until = d->online ? UINT64_MAX : d->suspended_until;

	d->idle = true;
	settle(d);
	pthread_cond_broadcast(&d->idled);
	if (until == UINT64_MAX)
		dl_cond_wait(&d->wake, &d->lock);
	else if (!dl_cond_wait_until(&d->wake, &d->lock, until))
		return true;
	return false;
}

struct queued *writer_take(struct disk *d, bool wait)
{
	struct queued *q;
	bool over = false;

	DL_HOLD(&d->lock);
	while (wait && !over && !d->first && !d->closing && !d->trim && !d->weed)
		over = rest(d);
	d->idle = false;
	q = d->first;
	if (!q)
		return NULL;
	d->first = q->next;
	if (!d->first)
		d->last = &d->first;
	return q;
}

void writer_took(struct disk *d, const struct queued *q)
{
	DL_HOLD(&d->lock);
	d->queued_bytes -= record_bytes(&q->record);
	d->taken++;
	settle(d);
}

void writer_settle(struct disk *d)
{
	DL_HOLD(&d->lock);
	settle(d);
}

void writer_drain(struct disk *d)
{
	DL_HOLD(&d->lock);
	while (d->first || !d->idle)
		dl_cond_wait(&d->idled, &d->lock);
}
