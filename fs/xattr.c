#include "fs/xattr.h"

#include <stdio.h>
#include <string.h>

#include "fs/command.h"
#include "fs/control.h"
#include "fs/refresh.h"
#include "fs/warm.h"
#include "prefetch/source/kept_key.h"

#define PREFIX "user.dlfs."

/* The source may say either, too. */
int xattr_error(int error)
{
	return error == -ENOSYS || error == -EOPNOTSUPP ? EIO : -error;
}

static bool is_ours(const char *name)
{
	return strncmp(name, PREFIX, strlen(PREFIX)) == 0;
}

/* size 0 asks how much there is. */
static void reply_value(fuse_req_t req, size_t size, const void *at, size_t len)
{
	if (size == 0)
		fuse_reply_xattr(req, len);
	else if (size < len)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, at, len);
}

static void reply_buf(fuse_req_t req, size_t size, int r, const struct buf *b)
{
	if (r < 0)
		fuse_reply_err(req, xattr_error(r));
	else
		reply_value(req, size, b->at, b->len);
}

/* --- Asking ---------------------------------------------------------------------------- */

/* A getxattr that waits for a refresh. */
struct parked_refresh {
	struct refresh_waiter waiter;
	struct serve *serve;
	fuse_req_t req;
	size_t size;
};

static void reply_changed(fuse_req_t req, size_t size, int changed)
{
	char text[16];

	if (changed < 0)
		fuse_reply_err(req, xattr_error(changed));
	else
		reply_value(req, size, text,
			    (size_t)snprintf(text, sizeof(text), "%d", changed));
}

static void on_refreshed(struct refresh_waiter *w, int changed)
{
	struct parked_refresh *p = dl_container_of(w, struct parked_refresh, waiter);

	fuse_req_interrupt_func(p->req, NULL, NULL);   /* waits for one that runs */
	reply_changed(p->req, p->size, changed);
	free(p);
}

/* Who waits was killed, or hit Ctrl-C. */
static void on_interrupt(fuse_req_t req, void *data)
{
	struct parked_refresh *p = data;

	if (refresh_stop_waiting(p->serve, &p->waiter)) {
		fuse_reply_err(req, EINTR);
		free(p);
	}
}

static void get_refresh(fuse_req_t req, struct serve *s, size_t size)
{
	struct parked_refresh *p = malloc(sizeof(*p));
	int changed, r;

	if (!p) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	*p = (struct parked_refresh){
		.waiter.wake = on_refreshed, .serve = s, .req = req, .size = size,
	};
	fuse_req_interrupt_func(req, on_interrupt, p);
	r = refresh_await(s, &p->waiter, &changed);
	if (r == 0)
		return;
	fuse_req_interrupt_func(req, NULL, NULL);
	reply_changed(req, size, r < 0 ? r : changed);
	free(p);
}

static int get_root(struct serve *s, const char *what, struct buf *ret)
{
	struct engine_report report;
	int r;

	if (strcmp(what, "error") == 0)
		return command_error(s, ret);
	if (strcmp(what, "belief") == 0)
		return engine_order_describe(s->engine, ret);
	if (strcmp(what, "warm") == 0)
		return warm_report(s->warm, ret);
	if (strcmp(what, "order") != 0)
		return -ENODATA;
	r = engine_report(s->engine, &report);
	return r < 0 ? r : buf_append(ret, report.spec, strlen(report.spec));
}

static int get_served(struct serve *s, sample_id id, const char *what, struct buf *ret)
{
	struct served_file f;

	if (!s->served || served_ask(s->served, id, &f) < 0 || f.state == SERVED_UNKNOWN)
		return -ENODATA;
	if (strcmp(what, "recode") == 0)
		return buf_printf(ret, "%s", recode_reason_name(f.reason));
	if (f.state != SERVED_CODED)
		return -ENODATA;
	if (strcmp(what, "ssim") == 0 && f.ssim > 0)
		return buf_printf(ret, "%.4f", f.ssim);
	if (strcmp(what, "quality") == 0 && f.quality > 0)
		return buf_printf(ret, "%u", f.quality);
	return -ENODATA;
}

static int get_file(struct serve *s, node_id node, const char *what, struct buf *ret)
{
	static const char *const places[] = {
		[WHERE_SOURCE] = "source", [WHERE_MEMORY] = "memory",
		[WHERE_PAGE_CACHE] = "page-cache",
	};
	enum engine_where where;
	uint64_t size;

	if (node_is_folder(node) || !manifest_sample(s->manifest, node_sample(node), &size))
		return -ENODATA;
	if (strcmp(what, "source-size") == 0)
		return buf_printf(ret, "%llu", (unsigned long long)size);
	if (strcmp(what, "state") != 0)
		return get_served(s, node_sample(node), what, ret);
	where = engine_where(s->engine, node_sample(node));
	if (where == WHERE_SOURCE && s->tier.disk &&
	    kept_has(s->tier.disk, s->manifest, s->served, node_sample(node)))
		return buf_printf(ret, "disk");
	return buf_printf(ret, "%s", places[where]);
}

/* Never ENOSYS: that would end all questions for the life of the mount, ours as well.
 * EOPNOTSUPP is what makes `ls -l` ask for labels and ACLs once and not for each file. */
void xattr_get(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct serve *s = serve_of(req);
	dl_cleanup(buf_free) struct buf value = BUF_EMPTY;
	const char *what;
	int r;

	stats_add(&s->stats->xattr_requests, 1);
	if (!is_ours(name) || control_is(ino)) {
		fuse_reply_err(req, strncmp(name, "user.", 5) == 0 ? ENODATA : EOPNOTSUPP);
		return;
	}
	what = name + strlen(PREFIX);
	if (ino == NODE_ROOT && strcmp(what, "refresh") == 0) {
		get_refresh(req, s, size);
		return;
	}
	r = ino == NODE_ROOT ? get_root(s, what, &value) : get_file(s, ino, what, &value);
	reply_buf(req, size, r, &value);
}

/* The attributes exist for who asks for them; a copy of a file should not have them. */
void xattr_list(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct serve *s = serve_of(req);

	(void)ino;
	stats_add(&s->stats->xattr_requests, 1);
	reply_value(req, size, NULL, 0);
}

/* --- Telling --------------------------------------------------------------------------- */

static bool takes_commands(fuse_ino_t ino)
{
	return ino == NODE_ROOT || ino == CONTROL_NODES;       /* .dlfs itself */
}

static int run_command(struct serve *s, const char *name, const char *value)
{
	if (strcmp(name, PREFIX "order") == 0)
		return command_order(s, value);
	if (strcmp(name, PREFIX "epoch") == 0)
		return command_epoch(s, value);
	if (strcmp(name, PREFIX "warm") == 0)
		return warm_fill(s->warm, value);
	if (strcmp(name, PREFIX "drop") == 0)
		return warm_drop(s->warm, value);
	if (strcmp(name, PREFIX "cancel") == 0) {
		warm_cancel(s->warm);
		return 0;
	}
	if (strcmp(name, PREFIX "refresh") == 0)
		return refresh_begin(s);
	return command_unknown(s, name);
}

void xattr_set(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size,
	       int flags)
{
	struct serve *s = serve_of(req);
	uid_t uid = fuse_req_ctx(req)->uid;
	dl_cleanup(dl_freep) char *text = NULL;
	int r = -EROFS;

	(void)flags;
	if (takes_commands(ino) && is_ours(name)) {
		text = strndup(value, size);
		if (uid != 0 && uid != getuid())
			r = -EPERM;
		else
			r = text ? run_command(s, name, text) : -ENOMEM;
	}
	fuse_reply_err(req, xattr_error(r));
}

void xattr_remove(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	(void)serve_of(req);
	(void)ino;
	(void)name;
	fuse_reply_err(req, EROFS);
}
