#include "base/mailbox.h"

#include <string.h>

struct mailbox {
	struct dl_lock lock;
	pthread_cond_t posted;
	size_t item, limit;
	/* a ring of `cap` messages, `count` of them from `first` on */
	uint8_t *ring;
	size_t cap, first, count;
	bool closed, sleeping;
};

int mailbox_new(size_t item, size_t limit, struct mailbox **ret)
{
	struct mailbox *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	dl_lock_init(&m->lock);
	dl_cond_init(&m->posted);
	m->item = item;
	m->limit = limit;
	*ret = m;
	return 0;
}

void mailbox_free(struct mailbox *m)
{
	if (!m)
		return;
	pthread_cond_destroy(&m->posted);
	dl_lock_fini(&m->lock);
	free(m->ring);
	free(m);
}

/* The oldest n, in order; the ring may wrap within them. */
static void copy_out(const struct mailbox *m, uint8_t *at, size_t n)
{
	size_t straight = DL_MIN(n, m->cap - m->first);

	if (n == 0)
		return;
	memcpy(at, m->ring + m->first * m->item, straight * m->item);
	memcpy(at + straight * m->item, m->ring, (n - straight) * m->item);
}

static void copy_in(struct mailbox *m, const uint8_t *at, size_t n)
{
	size_t end = (m->first + m->count) % m->cap;
	size_t straight = DL_MIN(n, m->cap - end);

	memcpy(m->ring + end * m->item, at, straight * m->item);
	memcpy(m->ring, at + straight * m->item, (n - straight) * m->item);
	m->count += n;
}

/* Room for `count` more, which the limit allows. */
static int grow(struct mailbox *m, size_t count)
{
	size_t cap = m->cap ? m->cap : 64;
	uint8_t *ring;

	while (cap < m->count + count)
		cap *= 2;
	cap = DL_MIN(cap, m->limit);
	if (cap == m->cap)
		return 0;
	ring = malloc(cap * m->item);
	if (!ring)
		return -ENOMEM;
	copy_out(m, ring, m->count);
	free(m->ring);
	m->ring = ring;
	m->cap = cap;
	m->first = 0;
	return 0;
}

int mailbox_post_all(struct mailbox *m, const void *messages, size_t count, size_t spare)
{
	int r;

	DL_HOLD(&m->lock);
	if (m->closed)
		return -ESHUTDOWN;
	if (count == 0)
		return 0;
	if (m->count + count + spare > m->limit)
		return -EAGAIN;
	r = grow(m, count);
	if (r < 0)
		return r;
	copy_in(m, messages, count);
	if (m->sleeping)
		pthread_cond_signal(&m->posted);
	return 0;
}

int mailbox_post(struct mailbox *m, const void *message, size_t spare)
{
	return mailbox_post_all(m, message, 1, spare);
}

static void sleep_until(struct mailbox *m, uint64_t deadline)
{
	m->sleeping = true;
	while (m->count == 0 && !m->closed)
		if (!dl_cond_wait_until(&m->posted, &m->lock, deadline))
			break;
	m->sleeping = false;
}

size_t mailbox_take(struct mailbox *m, void *at, size_t max, uint64_t deadline)
{
	size_t n;

	DL_HOLD(&m->lock);
	if (deadline != 0)
		sleep_until(m, deadline);
	n = DL_MIN(max, m->count);
	copy_out(m, at, n);
	if (n > 0)
		m->first = (m->first + n) % m->cap;
	m->count -= n;
	return n;
}

void mailbox_close(struct mailbox *m)
{
	DL_HOLD(&m->lock);
	m->closed = true;
	pthread_cond_broadcast(&m->posted);
}

bool mailbox_closed(struct mailbox *m)
{
	DL_HOLD(&m->lock);
	return m->closed;
}

size_t mailbox_waiting(struct mailbox *m)
{
	DL_HOLD(&m->lock);
	return m->count;
}
