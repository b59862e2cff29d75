/* What order=auto has learned outlives the run: in a file, which may be lost at any time. */
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "prefetch/engine_internal.h"
#include "prefetch/order/recall.h"

#define FILE_MAX (256 * KiB)

static void load(const char *path, struct lessons *ret)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;

	if (file_read(path, FILE_MAX, &text) == 0)
		lessons_parse((struct bytes){ text.at, text.len }, ret);
}

void learn_start(struct engine *e)
{
	if (e->options.lessons_file)
		load(e->options.lessons_file, &e->lessons);
	lessons_begin(&e->lessons);
	tracker_teach(e->tracker, &e->lessons);
	finder_lessons(e->finder, &e->lessons, false);
}

/* --- An order that nothing explains ----------------------------------------------------- */

struct kept_order {
	struct list *list;
	struct sequence *sequence;
};

static void kept_free(struct kept_order *k)
{
	if (!k)
		return;
	list_unref(k->list);
	sequence_unref(k->sequence);
	free(k);
}

static int path_of_kept(const struct engine *e, struct buf *ret)
{
	return e->options.lessons_file ? buf_printf(ret, "%s.again", e->options.lessons_file)
				       : -ENOENT;
}

/* Only the first of a run, by which the next one is known; and that one needs no other. */
static void look_for_order(struct engine *e)
{
	const struct sequence *q;
	struct kept_order *k;
	struct list *list;

	if (e->order_kept)
		return;
	q = tracker_written(e->tracker, &list);
	e->order_kept = q || tracker_replays(e->tracker);
	k = q ? malloc(sizeof(*k)) : NULL;
	if (!k)
		return;
	*k = (struct kept_order){ list_ref(list), sequence_ref((struct sequence *)q) };
	kept_free(atomic_exchange(&e->to_keep, k));
	finder_lessons(e->finder, &e->lessons, true);
}

static int write_order(const struct engine *e, const struct kept_order *k)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY, root = BUF_EMPTY, bytes = BUF_EMPTY;
	int r = path_of_kept(e, &path);

	if (r == 0)
		r = manifest_path(e->options.manifest, list_root(k->list), &root);
	if (r == 0)
		r = recall_print(list_kind(k->list), (struct bytes){ root.at, root.len },
				 k->sequence, &bytes);
	return r < 0 ? r : file_replace((char *)path.at, (struct bytes){ bytes.at, bytes.len });
}

int learn_recall(struct engine *e, struct list **ret_list, struct sequence **ret)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY, bytes = BUF_EMPTY;
	dl_cleanup(recall_fini) struct recall recall = { 0 };
	dl_cleanup(list_unrefp) struct list *list = NULL;
	node_id root;
	int r = path_of_kept(e, &path);

	if (r == 0)
		r = file_read((char *)path.at, RECALL_MAX, &bytes);
	if (r == 0)
		r = recall_parse((struct bytes){ bytes.at, bytes.len }, &recall);
	if (r == 0)
		r = manifest_resolve(e->options.manifest, recall.root, &root);
	if (r == 0)
		r = node_is_folder(root) ? list_new(e->options.manifest, recall.kind, root, &list)
					 : -ENOTDIR;
	if (r == 0 && list_count(list) != recall.sequence->n)
		r = -ESTALE;
	if (r < 0)
		return r;
	*ret_list = DL_TAKE(list);
	*ret = DL_TAKE(recall.sequence);
	return 0;
}

void learn_fini(struct engine *e)
{
	kept_free(e->to_keep);
}

/* --- Lessons ----------------------------------------------------------------------------- */

void learn_look(struct engine *e)
{
	struct lesson now;

	look_for_order(e);
	if (!tracker_lesson(e->tracker, &now) || lessons_has(&e->lessons, &now))
		return;
	lessons_add(&e->lessons, now);
	tracker_teach(e->tracker, &e->lessons);
	finder_lessons(e->finder, &e->lessons, true);
}

struct foretold_ask {
	struct ask ask;
	const struct forecast *forecast;
};

static void take_foretold(struct engine *e, struct ask *a)
{
	forecast_teach(dl_container_of(a, struct foretold_ask, ask)->forecast, &e->lessons);
	tracker_teach(e->tracker, &e->lessons);
	finder_lessons(e->finder, &e->lessons, true);
}

void learn_foretold(void *engine, const struct forecast *f)
{
	struct foretold_ask a = { .ask.run = take_foretold, .forecast = f };

	if (ask(engine, &a.ask) < 0)
		log_info("what was forecast of the order is not used: the planner is busy");
}

static int write_file(const char *path, const struct lessons *l)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	int r = lessons_print(l, &text);

	return r < 0 ? r : file_replace(path, (struct bytes){ text.at, text.len });
}

void learn_save(void *engine, const struct lessons *l)
{
	struct engine *e = engine;
	struct kept_order *k = atomic_exchange(&e->to_keep, NULL);
	int r = e->options.lessons_file ? write_file(e->options.lessons_file, l) : 0;

	if (r == 0 && k && e->options.lessons_file)
		r = write_order(e, k);
	kept_free(k);
	if (r < 0 && r != -EFBIG)
		log_warning("what was learned of the order cannot be kept in %s: %s",
			    e->options.lessons_file, strerror(-r));
}
