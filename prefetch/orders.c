/* From a spec to a tracker that follows it: lists, the list file's text, and all errors. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/log.h"
#include "prefetch/engine_internal.h"
#include "prefetch/find/search.h"

#define ROOTS_MAX 6
#define LISTS_MAX (ROOTS_MAX + TRACKER_FOLLOWED + STANDING_JOBS)
#define LIST_FILE_SHARE 4              /* a list file may take this part of the memory bound */
#define LIST_FILE_MIN (64 * MiB)

struct told {                          /* an order that was prepared on the caller's thread */
	struct ask ask;
	struct order_spec spec;
	struct list *lists[LISTS_MAX];
	size_t list_count;
	bool again;                            /* it goes on: it was followed so far, over ... */
	struct standing stood;
	struct list *followed[TRACKER_FOLLOWED];
	size_t followed_count;
	struct renewed renewed[TRACKER_FOLLOWED];      /* ... these, which are now others */
	size_t renewed_count;
	struct list_epochs listed;
	struct list *recalled_over;            /* what an earlier run kept, or NULL */
	struct sequence *recalled;
	int result;
};

static void drop_lists(struct told *t)
{
	while (t->list_count > 0)
		list_unref(t->lists[--t->list_count]);
}

static void told_fini(struct told *t)
{
	order_spec_fini(&t->spec);
	drop_lists(t);
	while (t->followed_count > 0)
		list_unref(t->followed[--t->followed_count]);
	list_epochs_fini(&t->listed);
	list_unref(t->recalled_over);
	sequence_unref(t->recalled);
}

static int refuse(char reterr[160], int error, const char *what, const char *name)
{
	snprintf(reterr, 160, "%.100s: %s", name, what);
	return error;
}

/* No files are an order that cannot be; all else is trouble on the way. */
static int refuse_list(char reterr[160], int error, const char *name)
{
	if (error == -ENOENT)
		return refuse(reterr, -EINVAL, "no files in it", name);
	if (error == -ELOOP)
		return refuse(reterr, error, "links make it many times larger than it is", name);
	return refuse(reterr, error, strerror(-error), name);
}

static int add_list(struct told *t, struct manifest *m, enum list_kind kind, node_id root)
{
	int r = list_new(m, kind, root, &t->lists[t->list_count]);

	if (r == 0)
		t->list_count++;
	return r;
}

/* Without root= every folder that may be an ImageFolder's is a candidate; a dataset of another
 * kind is numbered by path. */
static int find_lists(struct engine *e, struct told *t, char reterr[160])
{
	struct manifest *m = e->options.manifest;
	node_id roots[ROOTS_MAX], root;
	size_t count;
	int r;

	if (t->spec.root) {
		r = manifest_resolve(m, t->spec.root, &root);
		if (r < 0 || !node_is_folder(root))
			return refuse(reterr, -EINVAL, "no such folder in the dataset",
				      t->spec.root);
		r = add_list(t, m, LIST_IMAGE_FOLDER, root);
		if (r == -ENOENT)
			r = add_list(t, m, LIST_ALL, root);
		return r < 0 ? refuse_list(reterr, r, t->spec.root) : 0;
	}
	count = list_roots(m, roots, ROOTS_MAX - 1);
	for (size_t i = 0; i < count; i++) {
		r = add_list(t, m, LIST_IMAGE_FOLDER, roots[i]);
		if (r < 0 && r != -ENOENT)
			return refuse_list(reterr, r, "the dataset");
	}
	if (t->list_count > 0)
		return 0;
	r = add_list(t, m, LIST_ALL, NODE_ROOT);
	return r < 0 ? refuse_list(reterr, r, "the dataset") : 0;
}

struct resolving {
	struct manifest *m;
	const struct list *list;
	const char *mountpoint;
};

static int resolve(void *context, const char *path)
{
	const struct resolving *c = context;
	size_t len = strlen(c->mountpoint);
	uint32_t index;
	node_id node;
	int r;

	if (strncmp(path, c->mountpoint, len) == 0 && path[len] == '/')
		path += len;
	r = manifest_resolve(c->m, path, &node);
	if (r < 0)
		return r;
	if (node_is_folder(node) || !list_index(c->list, node_sample(node), &index))
		return -ENOENT;
	return index <= INT_MAX ? (int)index : -EOVERFLOW;
}

static int read_text(const struct engine *e, const char *file, struct buf *ret, char reterr[160])
{
	dl_cleanup(dl_closep) int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	uint64_t most = DL_MAX(e->options.memory / LIST_FILE_SHARE, LIST_FILE_MIN);
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return refuse(reterr, -errno, strerror(errno), file);
	if (!S_ISREG(st.st_mode))
		return refuse(reterr, -EINVAL, "not a file", file);
	if ((uint64_t)st.st_size > most)
		return refuse(reterr, -EFBIG, "larger than 64MiB, and a quarter of memory=",
			      file);
	n = buf_reserve(ret, (size_t)st.st_size + 1);
	if (n == 0)
		n = file_fill(fd, ret->at, (size_t)st.st_size);
	if (n < 0)
		return refuse(reterr, (int)n, strerror((int)-n), file);
	ret->len = (size_t)n;
	return 0;
}

/* Indices count the ImageFolder of the root, where there is one that has all of the files that
 * a path can name; paths may name any file. */
static int read_list(struct engine *e, struct told *t, const char *mountpoint, char reterr[160])
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	struct resolving c = { .m = e->options.manifest, .mountpoint = mountpoint };
	int r = read_text(e, t->spec.file, &text, reterr);

	if (r < 0)
		return r;
	for (int kind = 0; kind < 2; kind++) {
		drop_lists(t);
		r = add_list(t, c.m, kind == 0 ? LIST_IMAGE_FOLDER : LIST_ALL, NODE_ROOT);
		if (r == -ENOENT && kind == 0)
			continue;
		if (r < 0)
			return refuse_list(reterr, r, "the dataset");
		c.list = t->lists[0];
		r = list_file_parse((struct bytes){ text.at, text.len }, list_count(c.list),
				    resolve, &c, &t->listed, reterr);
		if (r == 0)
			return 0;
	}
	drop_lists(t);
	return r;
}

static void follow_told(struct engine *e, struct ask *a)
{
	struct told *t = dl_container_of(a, struct told, ask);

	if (t->again)
		t->result = tracker_again(e->tracker, &t->spec, t->lists, t->list_count,
					  t->listed.count ? &t->listed : NULL, t->renewed,
					  t->renewed_count);
	else
		t->result = tracker_order(e->tracker, &t->spec, t->lists, t->list_count,
					  t->listed.count ? &t->listed : NULL);
	if (t->result < 0)
		return;
	if (t->recalled)
		tracker_recall(e->tracker, t->recalled_over, t->recalled);
	finder_lists(e->finder, t->lists, t->spec.kind == ORDER_AUTO ? t->list_count : 0);
	plan_fill(e->plan, t->spec.kind == ORDER_AUTO);
	e->looked = 0;
	e->drawn = t->spec.kind == ORDER_DRAWN;
	if (e->drawn)
		looks_hand_over(&e->looks, t->spec.epoch, e->tracker, clock_now());
	looks_forget(&e->looks);
	snprintf(e->spec, sizeof(e->spec), "%s", t->spec.text);
}

struct found_ask {
	struct ask ask;
	const struct found *found;
	bool taken;
};

static void follow_found(struct engine *e, struct ask *a)
{
	struct found_ask *f = dl_container_of(a, struct found_ask, ask);

	f->taken = tracker_found(e->tracker, f->found);
}

bool order_found(void *engine, const struct found *found)
{
	struct found_ask a = { .ask.run = follow_found, .found = found };

	return ask(engine, &a.ask) == 0 && a.taken;
}

struct look_ask {
	struct ask ask;
	node_id root;
	struct list *lists[SEARCH_LISTS];
	size_t count;
	bool looked;
};

static void begin_to_look(struct engine *e, struct ask *a)
{
	struct look_ask *l = dl_container_of(a, struct look_ask, ask);

	l->looked = e->looked == l->root;
	e->looked = l->root;
}

/* Unless an order was told meanwhile. */
static void take_lists(struct engine *e, struct ask *a)
{
	struct look_ask *l = dl_container_of(a, struct look_ask, ask);

	if (e->looked == l->root && tracker_lists(e->tracker, l->lists, l->count))
		finder_instead(e->finder, l->lists, l->count);
}

/* Only now all lists are made, and only of the folder whose files are opened. */
void order_look(void *engine, const sample_id *opened, size_t count)
{
	struct engine *e = engine;
	struct manifest *m = e->options.manifest;
	struct look_ask l = {
		.ask.run = begin_to_look, .root = list_root_of(m, opened, count), .looked = true,
	};

	if (ask(e, &l.ask) < 0 || l.looked)
		return;
	l.count = list_candidates(m, l.root, l.lists, DL_COUNT(l.lists));
	l.ask = (struct ask){ .run = take_lists };
	if (l.count > 0 && ask(e, &l.ask) < 0)
		log_info("the lists of what is opened are not used: the planner is busy");
	while (l.count > 0)
		list_unref(l.lists[--l.count]);
}

static int take_epochs(struct engine *e, struct told *t)
{
	int r = epochs_spec(e->epochs, &t->spec, &t->lists[0]);

	t->list_count = r == 0;
	return r;
}

/* An empty dataset is no error there, nor is it one that nothing was kept. */
static void find_for_auto(struct engine *e, struct told *t)
{
	char ignored[160];

	find_lists(e, t, ignored);
	if (learn_recall(e, &t->recalled_over, &t->recalled) < 0)
		t->recalled = NULL;
}

/* --- An order that goes on ---------------------------------------------------------------- */

static void take_followed(struct engine *e, struct ask *a)
{
	struct told *t = dl_container_of(a, struct told, ask);

	t->stood = tracker_standing(e->tracker);
	t->followed_count = tracker_followed(e->tracker, t->followed);
}

static const struct list *same_list(const struct told *t, const struct list *list)
{
	for (size_t i = 0; i < t->list_count; i++)
		if (list_same(t->lists[i], list))
			return t->lists[i];
	return NULL;
}

/* Its readers have listed the files before they changed.  Of a list that cannot be read any more,
 * as files in it are gone, it is what was read before. */
static int renew(struct engine *e, struct told *t, const struct list *before)
{
	dl_cleanup(list_unrefp) struct list *list = NULL;
	const struct list *now;
	int r = list_renew(before, e->options.manifest, &list);

	if (r < 0)
		return r;
	now = same_list(t, list);
	if (!now && t->listed.count > 0)       /* whose indices are of another list now */
		return 0;
	if (!now)
		now = t->lists[t->list_count++] = DL_TAKE(list);
	t->renewed[t->renewed_count++] = (struct renewed){ before, now };
	return 0;
}

/* With auto the lists of the folder that is read are made late. */
static int add_stood(struct engine *e, struct told *t, const struct standing_job *job)
{
	int r;

	for (size_t i = 0; i < t->list_count; i++)
		if (list_kind(t->lists[i]) == job->kind && list_root(t->lists[i]) == job->root)
			return 0;
	r = add_list(t, e->options.manifest, job->kind, job->root);
	return r == -ENOMEM ? r : 0;
}

static int go_on(struct engine *e, struct told *t)
{
	int r;

	t->ask.run = take_followed;
	r = ask(e, &t->ask);
	for (size_t i = 0; r == 0 && i < t->followed_count; i++)
		r = renew(e, t, t->followed[i]);
	for (uint32_t i = 0; r == 0 && i < t->stood.job_count && t->spec.kind == ORDER_AUTO; i++)
		r = add_stood(e, t, &t->stood.jobs[i]);
	return r;
}

static int take_order(struct engine *e, struct told *t, const char *spec, const char *mountpoint,
		      char reterr[160])
{
	int r = order_parse(spec, &t->spec, reterr), unread = 0;

	if (r < 0)
		return r;
	if (t->spec.kind != ORDER_NONE && !manifest_scanned(e->options.manifest))
		return refuse(reterr, -EAGAIN, "the dataset has not been read to its end yet",
			      spec);
	if (t->spec.kind == ORDER_LIST)
		unread = read_list(e, t, mountpoint, reterr);
	else if (t->spec.kind == ORDER_DRAWN)
		r = take_epochs(e, t);
	else if (t->spec.kind == ORDER_AUTO)
		find_for_auto(e, t);
	else if (t->spec.kind != ORDER_NONE)
		r = find_lists(e, t, reterr);
	if (r == 0 && t->again && t->spec.kind != ORDER_DRAWN)
		r = go_on(e, t);
	if (r < 0 || (unread < 0 && t->list_count == 0))
		return r < 0 ? r : unread;
	t->ask.run = follow_told;
	r = ask(e, &t->ask);
	if (r == -ETIMEDOUT)
		return refuse(reterr, r, "dlfs is too busy, and did not come to it", spec);
	return r < 0 ? r : t->result;
}

static int tell_order(struct engine *e, bool again, const char *spec, const char *mountpoint,
		      char reterr[160])
{
	dl_cleanup(told_fini) struct told t = { .again = again };
	int r;

	reterr[0] = 0;
	r = take_order(e, &t, spec, mountpoint, reterr);
	return r < 0 && !reterr[0] ? refuse(reterr, r, strerror(-r), spec) : r;
}

int engine_order(struct engine *e, const char *spec, const char *mountpoint, char reterr[160])
{
	return tell_order(e, false, spec, mountpoint, reterr);
}

int engine_order_again(struct engine *e, const char *spec, const char *mountpoint, char reterr[160])
{
	return tell_order(e, true, spec, mountpoint, reterr);
}

struct epoch_ask {
	struct ask ask;
	uint64_t epoch;
	int result;
	char *reterr;
};

static int refuse_epoch(char reterr[160], const char *spec, int error)
{
	if (error == -ERANGE)
		return refuse(reterr, -EINVAL, "its last epoch comes before that, by epochs=",
			      spec);
	if (strncmp(spec, "auto", 4) == 0)
		return refuse(reterr, -EINVAL, "finds out by itself which epoch is read", spec);
	if (strncmp(spec, "drawn", 5) == 0)
		return refuse(reterr, -EINVAL, "its readers say which epoch they read", spec);
	return refuse(reterr, -EINVAL, "no order is followed that has epochs", "epoch");
}

static void set_epoch(struct engine *e, struct ask *ask)
{
	struct epoch_ask *a = dl_container_of(ask, struct epoch_ask, ask);

	a->result = tracker_epoch(e->tracker, a->epoch);
	if (a->result < 0)
		a->result = refuse_epoch(a->reterr, e->spec, a->result);
}

int engine_epoch(struct engine *e, uint64_t epoch, char reterr[160])
{
	struct epoch_ask a = { .ask.run = set_epoch, .epoch = epoch, .reterr = reterr };
	int r;

	reterr[0] = 0;
	r = ask(e, &a.ask);
	return r < 0 ? r : a.result;
}

void engine_scanned(struct engine *e)
{
	const struct manifest *m = e->options.manifest;
	struct manifest_usage usage = manifest_usage(m);

	stats_set(&e->options.stats->samples, usage.files);
	epochs_changed(e->epochs);
	tell(e, (struct fact){ .kind = FACT_GROWN, .number = manifest_entries(m),
			       .time = usage.paged });
}

int engine_epoch_view(struct engine *e, uint64_t number, bool draw, struct epoch_view *ret)
{
	return epochs_get(e->epochs, number, draw, ret);
}

bool engine_resolved(struct engine *e, uint64_t number, uint32_t position, sample_id id)
{
	tell(e, (struct fact){ .kind = FACT_RESOLVED, .time = number, .id = id,
			       .number = position });
	return e->drawn || !e->view_read;
}
