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

static int grow(struct mailbox *m)
{
	size_t cap = DL_MIN(m->limit, m->cap ? m->cap * 2 : 64);
	uint8_t *ring;

	ring = malloc(cap * m->item);
	if (!ring)
		return -ENOMEM;
	for (size_t i = 0; i < m->count; i++)
		memcpy(ring + i * m->item, m->ring + (m->first + i) % m->cap * m->item, m->item);
	free(m->ring);
	m->ring = ring;
	m->cap = cap;
	m->first = 0;
	return 0;
}

int mailbox_post(struct mailbox *m, const void *message, size_t spare)
{
	DL_HOLD(&m->lock);

	if (m->closed)
		return -ESHUTDOWN;
	if (m->count + spare >= m->limit)
		return -EAGAIN;
	if (m->count == m->cap) {
		int r = grow(m);

		if (r < 0)
			return r;
	}
	memcpy(m->ring + (m->first + m->count) % m->cap * m->item, message, m->item);
	m->count++;
	if (m->sleeping)
		pthread_cond_signal(&m->posted);
	return 0;
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
	for (size_t i = 0; i < n; i++)
		memcpy((uint8_t *)at + i * m->item, m->ring + (m->first + i) % m->cap * m->item,
		       m->item);
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
