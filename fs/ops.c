/* One handler a request: thin, from the manifest; it never waits for data. */
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "fs/announce.h"
#include "fs/early.h"
#include "fs/epoch.h"
#include "fs/fuse.h"
#include "fs/notify.h"
#include "fs/sized.h"
#include "fs/watch/watch.h"
#include "fs/xattr.h"

#define NS ((int64_t)CLOCK_S)
#define EPOCH_ATTR_SECONDS 1.0

static struct timespec time_of(int64_t ns)
{
	struct timespec t = { .tv_sec = ns / NS, .tv_nsec = ns % NS };

	if (t.tv_nsec < 0) {
		t.tv_sec--;
		t.tv_nsec += NS;
	}
	return t;
}

void fill_stat(const struct serve *s, const struct attr *a, struct stat *ret)
{
	*ret = (struct stat){
		.st_ino = manifest_inode(s->manifest, a), .st_mode = a->mode, .st_nlink = a->nlink,
		.st_uid = a->uid, .st_gid = a->gid, .st_size = (off_t)a->size,
		.st_blksize = 128 * KiB, .st_blocks = (blkcnt_t)((a->size + 511) / 512),
		.st_mtim = time_of(a->mtime_ns), .st_ctim = time_of(a->ctime_ns),
		.st_atim = time_of(a->mtime_ns),
	};
}

/* What .dlfs says is true now; a folder of an epoch may get other entries after a refresh. */
double attr_seconds(const struct serve *s, const struct attr *a)
{
	if (control_is(a->node) && S_ISREG(a->mode))
		return 0;
	return epoch_is(a->node) && S_ISDIR(a->mode) ? EPOCH_ATTR_SECONDS : s->entry_timeout;
}

void fill_entry(struct serve *s, const struct attr *a, struct fuse_entry_param *ret)
{
	bool text = control_is(a->node) && S_ISREG(a->mode);

	*ret = (struct fuse_entry_param){
		.ino = a->node, .attr_timeout = attr_seconds(s, a),
		/* Entries of an epoch are looked up each time: see epoch.h. */
		.entry_timeout = text || (epoch_is(a->node) && S_ISLNK(a->mode))
			? 0 : s->entry_timeout,
	};
	fill_stat(s, a, &ret->attr);
	if (control_is(a->node))
		return;
	if (S_ISREG(a->mode))
		announce_reply(s->announce, node_sample(a->node));
	else if (S_ISDIR(a->mode) && s->watch)
		watch_folder(s->watch, a->node);
}

static int lookup(struct serve *s, fuse_ino_t parent, const char *name, struct attr *ret)
{
	int r;

	if (control_is(parent) || parent == NODE_ROOT) {
		r = control_lookup(s, parent, name, ret);
		if (r == 0 || control_is(parent))
			return r;
	}
	if (strcmp(name, ".") == 0)
		return manifest_attr(s->manifest, parent, ret);
	if (strcmp(name, "..") == 0)
		return manifest_attr(s->manifest, manifest_parent(s->manifest, parent), ret);
	return manifest_lookup(s->manifest, parent, name, ret);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct serve *s = serve_of(req);
	struct fuse_entry_param e;
	struct attr a;
	int r = lookup(s, parent, name, &a);

	if (r == -EAGAIN && epoch_is(parent)) {
		if (early_park(s, req, parent, name))
			return;
		r = lookup(s, parent, name, &a);
	}
	if (r == -ENOENT) {            /* remembered for a while: an entry with node 0 */
		e = (struct fuse_entry_param){ .entry_timeout = s->negative_timeout };
		fuse_reply_entry(req, &e);
		return;
	}
	if (r < 0) {
		fuse_reply_err(req, -r);
		return;
	}
	sized_lookup(req, s, &a);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct serve *s = serve_of(req);
	struct attr a;
	int r = control_is(ino) ? control_attr(s, ino, &a) : manifest_attr(s->manifest, ino, &a);

	(void)fi;
	if (r < 0) {
		fuse_reply_err(req, -r);
		return;
	}
	sized_getattr(req, s, &a);
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct serve *s = serve_of(req);
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	int r = control_is(ino) ? control_readlink(s, ino, &text)
				: manifest_readlink(s->manifest, ino, &text);

	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_readlink(req, (char *)text.at);
}

/* ENOSYS, once: from then on the kernel opens files without asking, for as long as the mount
 * lives.  Only observe=open keeps the round trip, since it tells who opens what. */
static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct serve *s = serve_of(req);

	if (s->no_open && !control_is(ino)) {
		fuse_reply_err(req, ENOSYS);
		return;
	}
	if (!control_is(ino))
		watch_opened(s, ino, (uint32_t)fuse_req_ctx(req)->pid);
	fi->keep_cache = 1;
	fuse_reply_open(req, fi);
}

static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct serve *s = serve_of(req);

	(void)ino;
	if (s->no_opendir) {
		fuse_reply_err(req, ENOSYS);
		return;
	}
	fi->cache_readdir = 1;
	fi->keep_cache = 1;
	fuse_reply_open(req, fi);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)serve_of(req);
	(void)ino;
	(void)fi;
	fuse_reply_err(req, 0);
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct serve *s = serve_of(req);
	struct manifest_usage u = manifest_usage(s->manifest);
	struct statvfs v = {
		.f_bsize = 4096, .f_frsize = 4096, .f_namemax = 255, .f_blocks = u.bytes / 4096 + 1,
		.f_files = u.files + u.folders, .f_flag = ST_RDONLY,
	};

	(void)ino;
	fuse_reply_statfs(req, &v);
}

/* Nothing is kept a lookup, but for the texts of .dlfs. */
static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t nlookup)
{
	if (control_is(ino))
		control_forget(serve_of(req), ino, nlookup);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	for (size_t i = 0; i < count; i++)
		if (control_is(forgets[i].ino))
			control_forget(serve_of(req), forgets[i].ino, forgets[i].nlookup);
	fuse_reply_none(req);
}

static void want(struct fuse_conn_info *c, unsigned capability)
{
	c->want |= c->capable & capability;
}

static void op_init(void *userdata, struct fuse_conn_info *c)
{
	struct serve *s = userdata;

	c->want &= ~(unsigned)(FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_AUTO_INVAL_DATA |
			       FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_WRITEBACK_CACHE);
	want(c, FUSE_CAP_READDIRPLUS | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_ASYNC_READ |
	     FUSE_CAP_EXPORT_SUPPORT | FUSE_CAP_NO_OPENDIR_SUPPORT);
#ifdef FUSE_CAP_CACHE_SYMLINKS
	want(c, FUSE_CAP_CACHE_SYMLINKS);
#endif
	s->no_open = c->capable & FUSE_CAP_NO_OPEN_SUPPORT &&
		s->options->config->observe != OBSERVE_OPEN;
	s->no_opendir = c->capable & FUSE_CAP_NO_OPENDIR_SUPPORT;
	c->max_readahead = (unsigned)MiB;
}

/* Whatever would change something: the mount is read-only, so the kernel refuses nearly all of
 * it itself; the rest, and mounts that somebody remounted, are refused here. */
#define READ_ONLY(name, ...) \
	static void name(fuse_req_t req, __VA_ARGS__) \
	{ \
		(void)serve_of(req); \
		fuse_reply_err(req, EROFS); \
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
READ_ONLY(op_setattr, fuse_ino_t ino, struct stat *st, int to_set, struct fuse_file_info *fi)
READ_ONLY(op_mknod, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev)
READ_ONLY(op_mkdir, fuse_ino_t parent, const char *name, mode_t mode)
READ_ONLY(op_unlink, fuse_ino_t parent, const char *name)
READ_ONLY(op_symlink, const char *link, fuse_ino_t parent, const char *name)
READ_ONLY(op_rename, fuse_ino_t a, const char *b, fuse_ino_t c, const char *d, unsigned flags)
READ_ONLY(op_link, fuse_ino_t ino, fuse_ino_t parent, const char *name)
READ_ONLY(op_create, fuse_ino_t p, const char *name, mode_t m, struct fuse_file_info *fi)
READ_ONLY(op_fallocate, fuse_ino_t i, int m, off_t o, off_t n, struct fuse_file_info *fi)
#pragma GCC diagnostic pop

/* A shared mapping of a file that was opened for writing changes the page cache, and so what all
 * others read, before anything comes here. */
static void op_write(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t len, off_t off,
		     struct fuse_file_info *fi)
{
	struct serve *s = serve_of(req);

	(void)bytes;
	(void)len;
	(void)off;
	if (fi->writepage)
		notify_forget_pages(s->notify, ino);
	fuse_reply_err(req, EROFS);
}

const struct fuse_lowlevel_ops serve_ops = {
	.init = op_init, .lookup = op_lookup, .forget = op_forget,
	.forget_multi = op_forget_multi, .getattr = op_getattr, .readlink = op_readlink,
	.open = op_open, .read = serve_read, .release = op_release,
	.opendir = op_opendir, .readdir = serve_readdir, .readdirplus = serve_readdirplus,
	.releasedir = op_release, .statfs = op_statfs,
	.getxattr = xattr_get, .listxattr = xattr_list, .setxattr = xattr_set,
	.removexattr = xattr_remove,
	.setattr = op_setattr, .mknod = op_mknod, .mkdir = op_mkdir, .unlink = op_unlink,
	.rmdir = op_unlink, .symlink = op_symlink, .rename = op_rename, .link = op_link,
	.write = op_write, .create = op_create, .fallocate = op_fallocate,
};
