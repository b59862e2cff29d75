#include "prefetch/store/disk.h"

#include <string.h>

#include "prefetch/store/disk_writer.h"

/* A larger sample would displace too much. */
#define RECORD_MOST(size) ((size) / 8)
#define INDEX_LEAST (256 * KiB)        /* an index of a few samples, with its free pages */

static void count(_Atomic uint64_t *what)
{
	atomic_fetch_add_explicit(what, 1, memory_order_relaxed);
}

/* --- What is kept -------------------------------------------------------------------------- */

static bool same_nevers(const struct keep_rule *a, const struct keep_rule *b)
{
	return a->never == b->never && memcmp(a->hashes + a->pinned, b->hashes + b->pinned,
					      a->never * sizeof(*a->hashes)) == 0;
}

void disk_rule(struct disk *d, uint64_t source, struct keep_rule *rule)
{
	struct keep_rule *old;

	dl_lock_take(&d->lock);
	old = d->rule;
	d->weed |= rule->never > 0 && (!old || d->source != source || !same_nevers(old, rule));
	pthread_cond_signal(&d->wake);
	d->rule = rule;
	d->has_source = true;
	d->source = source;
	d->recount = true;
	dl_lock_drop(&d->lock);
	atomic_store(&d->full, false);
	keep_rule_free(old);
}

void disk_dataset_changed(struct disk *d)
{
	DL_HOLD(&d->lock);
	d->recount = true;
	atomic_store(&d->full, false);
}

/* Too little tells nothing of the rest. */
static double shrunk(struct disk *d)
{
	uint64_t bytes, lengths;
	unsigned turn;

	if (!disk_enter(d, &turn))     /* what there is, is just being read in */
		return 1;
	dl_lock_take(&d->lock);
	space_sums(d, &bytes, &lengths);
	dl_lock_drop(&d->lock);
	disk_leave(d, turn);
	return bytes > d->size / 16 && lengths > bytes ? (double)bytes / (double)lengths : 1;
}

struct keep_room disk_room(struct disk *d)
{
	uint64_t lost = d->segment_most + d->margin + INDEX_LEAST;
	uint64_t bytes = d->size > lost ? (uint64_t)((double)(d->size - lost) / shrunk(d)) : 0;

	return (struct keep_room){ bytes, d->records_most };
}

/* len: of this part of a file of that size. */
static bool chosen(struct disk *d, const struct disk_key *key, uint64_t len, uint64_t size)
{
	if (len > RECORD_MOST(d->size) || !atomic_load(&d->online) || atomic_load(&d->full) ||
	    writer_suspended(d))
		return false;
	DL_HOLD(&d->lock);
	return !d->rule || keep_wants(d->rule, key->hash[1], size);
}

static bool look_up(struct disk *d, const struct disk_key *key, struct record *ret)
{
	struct place at;
	unsigned turn;
	bool found;

	if (!disk_enter(d, &turn))
		return false;
	found = index_get(d->index, key, ret, &at) == 0;
	disk_leave(d, turn);
	return found;
}

bool disk_wants(struct disk *d, const struct disk_key *key, uint64_t size)
{
	struct record r;

	return chosen(d, key, size, size) || look_up(d, key, &r);
}

bool disk_has(struct disk *d, const struct disk_key *key, const struct disk_identity *id)
{
	struct record r;

	return look_up(d, key, &r) && same_identity(&r.id, id);
}

/* --- Get and put --------------------------------------------------------------------------- */

/* It may have been moved between the look into the index and the read. */
static int read_record(struct disk *d, const struct disk_key *key,
		       const struct disk_identity *id, struct record *found, struct place *at,
		       struct buf *ret)
{
	struct place before = { SEGMENT_NONE, 0 };
	int r;

	for (;;) {
		if (index_get(d->index, key, found, at) < 0)
			return -ENOENT;
		if (!same_identity(&found->id, id))
			return -ESTALE;
		if (same_place(before, *at))
			return -EBADMSG;
		before = *at;
		r = segment_read(d->folder, *at, found, ret);
		if (r != -ENOENT)
			return r;
	}
}

static int unpack_record(const struct record *r, struct buf *bytes)
{
	dl_cleanup(buf_free) struct buf whole = BUF_EMPTY;
	int error = buf_reserve(&whole, r->length);

	if (error == 0)
		error = unpack((struct bytes){ bytes->at, bytes->len }, whole.at, r->length);
	if (error < 0)
		return error;
	buf_free(bytes);
	whole.len = r->length;
	*bytes = buf_take(&whole);
	return 0;
}

static int get(struct disk *d, const struct disk_key *key, const struct disk_identity *id,
	       struct buf *ret)
{
	dl_cleanup(buf_free) struct buf bytes = BUF_EMPTY;
	struct record found;
	struct place at;
	bool bad;
	int r = read_record(d, key, id, &found, &at, &bytes);

	if (r == 0 && found.stored < found.length)
		r = unpack_record(&found, &bytes);
	if (r == 0) {
		count(&d->hits);
		*ret = buf_take(&bytes);
		return 0;
	}
	bad = r == -EBADMSG || r == -EIO;
	count(bad ? &d->bad : &d->misses);
	if (bad || r == -ESTALE)
		disk_forget(d, &found, at);
	return r == -ESTALE || r == -ENOENT ? -ENOENT : r == -ENOMEM ? r : -EIO;
}

int disk_get(struct disk *d, const struct disk_key *key, const struct disk_identity *id,
	     struct buf *ret)
{
	unsigned turn;
	int r;

	if (!disk_enter(d, &turn)) {
		count(&d->misses);
		return -ENOENT;
	}
	r = get(d, key, id, ret);
	disk_leave(d, turn);
	return r;
}

/* true: it is there.  A record of another version would keep its room for ever in a store that is
 * full. */
static bool forget_other(struct disk *d, const struct disk_key *key,
			 const struct disk_identity *id)
{
	struct record found;
	struct place at;
	unsigned turn;
	bool same = false;

	if (!disk_enter(d, &turn))
		return false;
	if (index_get(d->index, key, &found, &at) == 0) {
		same = same_identity(&found.id, id);
		if (!same)
			disk_forget(d, &found, at);
	}
	disk_leave(d, turn);
	return same;
}

bool disk_put(struct disk *d, const struct disk_key *key, const struct disk_identity *id,
	      struct bytes bytes)
{
	struct queued *q;

	if (forget_other(d, key, id))
		return true;
	if (!chosen(d, key, bytes.len, id->size)) {
		count(&d->dropped);
		return false;
	}
	q = malloc(sizeof(*q) + bytes.len);
	if (q) {
		q->record = (struct record){ *key, *id, bytes.len, bytes.len };
		if (bytes.len > 0)
			memcpy(q->bytes, bytes.at, bytes.len);
	}
	if (q && writer_put(d, q))
		return true;
	count(&d->dropped);
	return false;
}

uint64_t disk_waiting(struct disk *d)
{
	DL_HOLD(&d->lock);
	return d->queued_bytes;
}

/* That there is none, or none any more, is what was asked for. */
static int drop_ended(struct disk *d, int error)
{
	if (error == 0 || error == -ENOENT)
		return 0;
	atomic_store(&d->error, error);
	return error;
}

static int drop(struct disk *d, const struct disk_key *key, uint64_t *ret)
{
	struct place at, before = { SEGMENT_NONE, 0 };
	struct record found;
	int r;

	/* It may be moved between the look and the forgetting; at one place it is tried once. */
	while ((r = index_any(d->index, key, &found, &at)) == 0 && !same_place(before, at)) {
		r = disk_forget(d, &found, at);
		if (r < 0)
			return r;
		*ret += r == 1 ? record_bytes(&found) : 0;
		before = at;
	}
	return r;
}

int disk_drop(struct disk *d, const struct disk_key *key, uint64_t *ret)
{
	unsigned turn;
	int r;

	*ret = 0;
	if (!disk_enter(d, &turn))
		return -EAGAIN;
	r = drop_ended(d, drop(d, key, ret));
	disk_leave(d, turn);
	return r;
}

int disk_drop_any(struct disk *d, uint64_t source, uint64_t *ret)
{
	struct record found;
	struct place at;
	unsigned turn;
	int r;

	*ret = 0;
	if (!disk_enter(d, &turn))
		return -EAGAIN;
	r = index_of_source(d->index, source, &found, &at);
	r = drop_ended(d, r == 0 ? drop(d, &found.key, ret) : r);
	disk_leave(d, turn);
	return r;
}

void disk_trim(struct disk *d)
{
	DL_HOLD(&d->lock);
	d->trim = true;
	pthread_cond_signal(&d->wake);
}

struct disk_report disk_report(struct disk *d)
{
	struct disk_report r = {
		.hits = d->hits, .misses = d->misses, .bad = d->bad,
		.written = d->written, .dropped = d->dropped,
		.suspended = writer_suspended(d), .error = d->error,
	};
	unsigned turn;

	r.online = disk_enter(d, &turn);
	if (!r.online)
		return r;
	dl_lock_take(&d->lock);
	r.file_bytes = space_used(d);
	space_sums(d, &r.bytes, &r.lengths);
	r.records = space_records(d);
	dl_lock_drop(&d->lock);
	disk_leave(d, turn);
	return r;
}
