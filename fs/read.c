/* READ: an answer from the store, or a parked request.  A request that needs two blocks of a big
 * file gets what the first one has and then the second; no thread ever waits. */
#include <fcntl.h>
#include <string.h>

#include "base/clock.h"
#include "fs/control.h"
#include "fs/fuse.h"
#include "fs/survey.h"

struct parked_read {
	struct waiter waiter;
	fuse_req_t req;
	struct serve *serve;
	sample_id id;
	uint64_t offset;               /* of the next byte to answer */
	size_t left;
	struct buf bytes;              /* gathered so far, when one block was not enough */
	uint64_t since;
	struct read_by by;
	struct stale_reader stale;
	bool newer;                    /* the bytes are those of a version that came after it */
};

static void go_on(struct parked_read *p);

int serve_error(int error)
{
	switch (error) {
	case -ENOENT:
	case -EACCES:
	case -ESTALE:
		return -error;
	}
	return EIO;
}

static void reply_error(struct parked_read *p, int error)
{
	fuse_reply_err(p->req, serve_error(error));
	buf_free(&p->bytes);
	free(p);
}

/* Whether a newer version can be given out as this one: all of it with one answer, so that nobody
 * gets parts of two, and of the size that the reader was told.  Pages of the old one that are still
 * in the page cache are not asked for; but O_DIRECT goes past them. */
static bool can_be_newer(const struct parked_read *p, sample_id newest)
{
	uint64_t size, now;

	return newest != p->id && !p->newer && !p->by.direct && p->offset == 0 &&
		p->bytes.len == 0 && manifest_sample(p->serve->manifest, p->id, &size) &&
		manifest_sample(p->serve->manifest, newest, &now) && now == size &&
		p->left == size;
}

static void on_seen(struct stale_reader *r)
{
	struct parked_read *p = dl_container_of(r, struct parked_read, stale);
	sample_id newest;

	if (!manifest_newest(p->serve->manifest, p->id, &newest) || !can_be_newer(p, newest)) {
		reply_error(p, -ESTALE);
		return;
	}
	p->id = newest;
	p->newer = true;
	go_on(p);
}

/* Who is told that it is another file now opens it again, and shall have that one.  The open was
 * not asked for, so the kernel cannot be told then, when it would look the name up anew by itself;
 * of a READ the reader himself is told. */
static void finish_error(struct parked_read *p, int error)
{
	p->stale = (struct stale_reader){ .id = p->id, .answer = on_seen };
	if (error != -ESTALE || !survey_stale_read(p->serve, &p->stale))
		reply_error(p, error);
}

static void finish(struct parked_read *p, const void *at, size_t len)
{
	stats_add(&p->serve->stats->bytes_served, len);
	fuse_reply_buf(p->req, at, len);
	buf_free(&p->bytes);
	free(p);
}

/* Use a block that is here.  true: the request was answered. */
static bool use(struct parked_read *p, struct entry *e, uint64_t start)
{
	struct engine *engine = p->serve->engine;
	struct block b = store_block(e);
	struct bytes view = store_view(e);
	size_t skip = (size_t)(p->offset - start);
	size_t len = skip < view.len ? DL_MIN(p->left, view.len - skip) : 0;
	const char *at = (const char *)view.at + skip;
	bool whole = p->bytes.len == 0 && len == p->left, newer = p->newer;
	int r = whole ? 0 : buf_append(&p->bytes, at, len);

	/* Not once its end was read: requests overtake each other, and some read backwards. */
	if (store_add_read(e, len))
		engine_spent(engine, b);
	if (store_was_read(e) && !p->by.direct && !p->newer)
		engine_cached(engine, b);
	if (r < 0)
		finish_error(p, r);
	else if (whole)
		finish(p, at, len);
	/* What could not be pushed, since the kernel had not come so far, can be now; and what it
	 * has by this answer need not be. */
	if (!newer)                    /* whose own node the kernel need not know */
		engine_known(engine, b.id);
	store_unpin(e);
	if (r < 0 || whole)
		return true;
	p->offset += len;
	p->left -= len;
	if (len > 0 && p->left > 0)
		return false;
	finish(p, p->bytes.at, p->bytes.len);
	return true;
}

static void on_wake(struct waiter *w, int result, struct entry *e)
{
	struct parked_read *p = dl_container_of(w, struct parked_read, waiter);
	uint64_t start;

	stats_add(&p->serve->stats->wait_ns, clock_now() - p->since);
	if (result < 0) {
		finish_error(p, result);
		return;
	}
	engine_block(p->serve->engine, p->id, p->offset, &start);
	if (!use(p, e, start))
		go_on(p);
}

static void go_on(struct parked_read *p)
{
	struct engine *engine = p->serve->engine;
	struct entry *e;
	struct block b;
	uint64_t start;
	int r;

	do {
		b = engine_block(engine, p->id, p->offset, &start);
		p->since = clock_now();
		r = engine_read(engine, b, p->by, &p->waiter, &e);
		if (r == 0)
			return;                /* parked: on_wake() has it, or had it already */
		if (r < 0) {
			finish_error(p, r);
			return;
		}
	} while (!use(p, e, start));
}

static void read_control(fuse_req_t req, struct serve *s, fuse_ino_t ino, size_t size, off_t off)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	int r = control_read(s, ino, (uint64_t)off, size, &text);

	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_buf(req, (char *)text.at, text.len);
}

void serve_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct serve *s = serve_of(req);
	struct parked_read *p;
	uint64_t file;

	if (control_is(ino)) {
		read_control(req, s, ino, size, off);
		return;
	}
	if (node_is_folder(ino) || !manifest_sample(s->manifest, node_sample(ino), &file)) {
		fuse_reply_err(req, node_is_folder(ino) ? EISDIR : ESTALE);
		return;
	}
	if (s->served)                 /* of what is not known yet, at most so much */
		file = served_size(s->served, s->manifest, node_sample(ino));
	if (off < 0 || (uint64_t)off >= file) {
		fuse_reply_buf(req, NULL, 0);
		return;
	}
	file = DL_MIN(file, (uint64_t)off + size);
	p = file <= engine_readable(s->engine) ? malloc(sizeof(*p)) : NULL;
	if (!p) {
		fuse_reply_err(req, file > engine_readable(s->engine) ? EFBIG : ENOMEM);
		return;
	}
	*p = (struct parked_read){
		.waiter.wake = on_wake, .req = req, .serve = s, .id = node_sample(ino),
		.offset = (uint64_t)off, .left = (size_t)(file - (uint64_t)off),
		/* The flags come with each READ, also where no OPEN does. */
		.by = { (uint32_t)fuse_req_ctx(req)->pid, fi->flags & O_DIRECT },
	};
	go_on(p);
}
