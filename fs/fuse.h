/* libfuse's low-level interface, in the version that dlfs is written for, and what the files of
 * fs/ that answer requests share.  Nothing outside fs/ includes this.
 * Thread-safety: every call on any request thread; replies on any thread.
 */
#pragma once
#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "fs/serve.h"

extern const struct fuse_lowlevel_ops serve_ops;

/* Begins every handler: who serves the request, which is counted. */
static inline struct serve *serve_of(fuse_req_t req)
{
	struct serve *s = fuse_req_userdata(req);

	stats_add(&s->stats->requests, 1);
	return s;
}

/* A manifest's attributes as the kernel wants them. */
void fill_stat(const struct serve *s, const struct attr *a, struct stat *ret);
/* ops.c ← dir.c, read.c */
void serve_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		   struct fuse_file_info *fi);
void serve_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		       struct fuse_file_info *fi);
void serve_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
/* The errno that a program may be told; anything odd is an I/O error. */
int serve_error(int error);
/* How long the kernel may believe a node's attributes. */
double attr_seconds(const struct serve *s, const struct attr *a);
/* The entry of a node for LOOKUP and READDIRPLUS, and telling who wants to know of it. */
void fill_entry(struct serve *s, const struct attr *a, struct fuse_entry_param *ret);
