/* Listings, with attributes, so that neither LOOKUP nor GETATTR comes later. */
#include <stdlib.h>

#include "fs/control.h"
#include "fs/fuse.h"
#include "fs/sized.h"

/* Cookies: 1 is after ".", 2 after ".."; those of the manifest are above 2^32. */
enum { AFTER_DOT = 1, AFTER_DOTDOT = 2 };

struct listing_reply {
	fuse_req_t req;
	struct serve *s;
	bool plus;
	char *at;
	size_t len, size;
};

static bool add(struct listing_reply *l, const char *name, struct attr *a, off_t cookie,
		bool known)
{
	struct fuse_entry_param e = {
		.attr = { .st_ino = manifest_inode(l->s->manifest, a), .st_mode = a->mode },
	};
	size_t left = l->size - l->len, n;

	if (!l->plus) {
		n = fuse_add_direntry(l->req, l->at + l->len, left, name, &e.attr, cookie);
	} else {
		/* "." and ".." have no node of their own here, as in every file system, and what
		 * has no size yet is looked up by who needs it. */
		if (known && sized(l->s, a) &&
		    fuse_add_direntry_plus(l->req, NULL, 0, name, &e, cookie) <= left)
			fill_entry(l->s, a, &e);
		n = fuse_add_direntry_plus(l->req, l->at + l->len, left, name, &e, cookie);
	}
	if (n > left)
		return false;
	l->len += n;
	return true;
}

/* 1: go on; 0: no more fits. */
static int add_dots(struct listing_reply *l, fuse_ino_t ino, off_t *off)
{
	struct serve *s = l->s;
	fuse_ino_t parent = control_is(ino) ? NODE_ROOT : manifest_parent(s->manifest, ino);
	struct attr a;
	int r;

	if (*off == 0) {
		r = control_is(ino) ? control_attr(s, ino, &a)
				    : manifest_attr(s->manifest, ino, &a);
		if (r < 0)
			return r;
		if (!add(l, ".", &a, AFTER_DOT, false))
			return 0;
		*off = AFTER_DOT;
	}
	if (*off == AFTER_DOT) {
		r = manifest_attr(s->manifest, parent, &a);
		if (r < 0)
			return r;
		if (!add(l, "..", &a, AFTER_DOTDOT, false))
			return 0;
		*off = AFTER_DOTDOT;
	}
	return 1;
}

static int add_entries(struct listing_reply *l, fuse_ino_t ino, off_t off)
{
	uint64_t cookie = off <= AFTER_DOTDOT ? 0 : (uint64_t)off;
	struct manifest_dirent d;
	int r;

	for (;;) {
		r = control_is(ino) ? control_next(l->s, ino, cookie, &d)
				    : manifest_next(l->s->manifest, ino, cookie, &d);
		/* What is old is not handed out for good: the kernel was told to forget it. */
		if (r <= 0 || !add(l, d.name, &d.attr, (off_t)d.cookie, !d.old))
			return r;
		cookie = d.cookie;
	}
}

static void list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, bool plus)
{
	struct serve *s = serve_of(req);
	struct listing_reply l = { .req = req, .s = s, .plus = plus, .size = size };
	int r;

	l.at = malloc(size);
	r = l.at ? add_dots(&l, ino, &off) : -ENOMEM;
	if (r > 0)
		r = add_entries(&l, ino, off);
	if (r < 0 && l.len == 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_buf(req, l.at, l.len);
	free(l.at);
}

void serve_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		   struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, off, false);
}

void serve_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		       struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, off, true);
}
