/* What order=auto has learned outlives the run: in a file, which may be lost at any time. */
#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "prefetch/engine_internal.h"

#define FILE_MAX (256 * KiB)

static void load(const char *path, struct lessons *ret)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	dl_cleanup(dl_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = 1;

	while (fd >= 0 && n > 0 && text.len < FILE_MAX && buf_reserve(&text, 4096) == 0) {
		n = read(fd, text.at + text.len, 4096);
		text.len += n > 0 ? (size_t)n : 0;
	}
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

void learn_look(struct engine *e)
{
	const struct lesson *last = e->lessons.count ? &e->lessons.at[e->lessons.count - 1] : NULL;
	struct lesson now;

	if (!tracker_lesson(e->tracker, &now) ||
	    (last && last->n == now.n && last->seed == now.seed && last->skip == now.skip))
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
	int r = e->options.lessons_file ? write_file(e->options.lessons_file, l) : 0;

	if (r < 0)
		log_warning("what was learned of the order cannot be kept in %s: %s",
			    e->options.lessons_file, strerror(-r));
}
