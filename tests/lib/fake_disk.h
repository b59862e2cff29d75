/* A disk tier in memory, with faults, in place of the real one.  For one test program only: it
 * defines what the disk library would.
 *
 * Thread-safety: every call on any thread.
 */
#pragma once
#include <assert.h>
#include <string.h>

#include "base/lock.h"
#include "prefetch/store/disk.h"

#define FAKE_RECORDS 4096u

struct fake_record {
	struct disk_key key;
	struct disk_identity identity;
	struct buf bytes;
};

struct disk {
	struct dl_lock lock;           /* guards everything below */
	pthread_cond_t changed;
	struct fake_record records[FAKE_RECORDS];
	unsigned count, puts, hits, waiting;
	int fault;                     /* what disk_get() says instead */
	bool closed;                   /* disk_get() waits until it is opened again */
};

static inline void fake_disk_init(struct disk *d)
{
	*d = (struct disk){ .count = 0 };
	dl_lock_init(&d->lock);
	dl_cond_init(&d->changed);
}

static inline void fake_disk_fini(struct disk *d)
{
	for (unsigned i = 0; i < d->count; i++)
		buf_free(&d->records[i].bytes);
	pthread_cond_destroy(&d->changed);
	dl_lock_fini(&d->lock);
}

/* Hold what disk_get() is asked from now on, or let it go. */
static inline void fake_disk_gate(struct disk *d, bool closed)
{
	DL_HOLD(&d->lock);
	d->closed = closed;
	pthread_cond_broadcast(&d->changed);
}

static inline void fake_disk_fail(struct disk *d, int error)
{
	DL_HOLD(&d->lock);
	d->fault = error;
}

/* Wait until so many are inside disk_get() before a closed gate. */
static inline void fake_disk_await(struct disk *d, unsigned waiting)
{
	DL_HOLD(&d->lock);
	while (d->waiting < waiting)
		dl_cond_wait(&d->changed, &d->lock);
}

static inline unsigned fake_disk_puts(struct disk *d)
{
	DL_HOLD(&d->lock);
	return d->puts;
}

static inline struct fake_record *fake_disk_find(struct disk *d, const struct disk_key *key,
						 const struct disk_identity *id)
{
	for (unsigned i = 0; i < d->count; i++)
		if (memcmp(&d->records[i].key, key, sizeof(*key)) == 0 &&
		    memcmp(&d->records[i].identity, id, sizeof(*id)) == 0)
			return &d->records[i];
	return NULL;
}

/* --- What the source sees -------------------------------------------------------------------- */

bool disk_has(struct disk *d, const struct disk_key *key, const struct disk_identity *id)
{
	DL_HOLD(&d->lock);
	return fake_disk_find(d, key, id) != NULL;
}

int disk_get(struct disk *d, const struct disk_key *key, const struct disk_identity *id,
	     struct buf *ret)
{
	struct fake_record *found;

	DL_HOLD(&d->lock);
	d->waiting++;
	pthread_cond_broadcast(&d->changed);
	while (d->closed)
		dl_cond_wait(&d->changed, &d->lock);
	d->waiting--;
	if (d->fault)
		return d->fault;
	found = fake_disk_find(d, key, id);
	d->hits += found != NULL;
	return found ? buf_append(ret, found->bytes.at, found->bytes.len) : -ENOENT;
}

bool disk_put(struct disk *d, const struct disk_key *key, const struct disk_identity *id,
	      struct bytes bytes)
{
	struct fake_record *r;

	DL_HOLD(&d->lock);
	d->puts++;
	if (fake_disk_find(d, key, id))
		return true;
	if (d->count == FAKE_RECORDS)
		return false;          /* full */
	r = &d->records[d->count++];
	*r = (struct fake_record){ .key = *key, .identity = *id };
	if (buf_append(&r->bytes, bytes.at, bytes.len) < 0)
		abort();
	return true;
}
