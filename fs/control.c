#include "fs/control.h"

#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/lock.h"
#include "fs/command.h"
#include "fs/epoch.h"
#include "fs/refresh.h"
#include "fs/report.h"

#define KEEP 1024                      /* texts of a file that are remembered */
#define KEEP_BYTES (32 * MiB)          /* and of these together, but for the newest two */
#define SERIAL_SHIFT 8

static int text_order(struct serve *s, struct buf *ret)
{
	return engine_order_text(s->engine, false, ret);
}

static int text_order_next(struct serve *s, struct buf *ret)
{
	return engine_order_text(s->engine, true, ret);
}

static const struct file {
	const char *name;
	int (*make)(struct serve *s, struct buf *ret);
	bool dear;                     /* as long as the dataset has files */
} files[] = {
	{ "config.yaml", report_config, false },
	{ "metrics", report_metrics, false },
	{ "order", text_order, true },
	{ "order.next", text_order_next, true },
	{ "stats.json", report_json, false },
};
#define FILES DL_COUNT(files)

struct text {
	uint64_t serial;
	uint64_t turn;                 /* of a dear one: engine_order_turn() when it was made */
	uint64_t lookups;              /* that the kernel has not forgotten */
	int64_t mtime_ns;
	struct buf bytes;
	struct text *next;             /* an older one */
};

struct control {
	struct commands *commands;
	struct refreshes *refreshes;
	uint64_t started;
	int64_t started_wall_ns;
	struct dl_lock lock;           /* guards what follows */
	struct text *texts[FILES];     /* newest first */
};

int control_start(struct control **ret)
{
	struct control *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	r = commands_start(&c->commands);
	if (r == 0)
		r = refreshes_start(&c->refreshes);
	if (r < 0) {
		commands_stop(c->commands);
		free(c);
		return r;
	}
	c->started = clock_now();
	c->started_wall_ns = clock_wall();
	dl_lock_init(&c->lock);
	*ret = c;
	return 0;
}

static void drop_text(struct text **at)
{
	struct text *t = *at;

	*at = t->next;
	buf_free(&t->bytes);
	free(t);
}

void control_stop(struct control *c)
{
	if (!c)
		return;
	refreshes_stop(c->refreshes);
	commands_stop(c->commands);
	for (size_t i = 0; i < FILES; i++)
		while (c->texts[i])
			drop_text(&c->texts[i]);
	dl_lock_fini(&c->lock);
	free(c);
}

struct commands *control_commands(struct control *c) { return c->commands; }
struct refreshes *control_refreshes(struct control *c) { return c->refreshes; }
uint64_t control_started(const struct control *c) { return c->started; }

/* --- Nodes ----------------------------------------------------------------------------- */

/* 0 is the folder, file i is i + 1; above them the serial number of its text. */
static node_id node_of(size_t number, uint64_t serial)
{
	return CONTROL_NODES | serial << SERIAL_SHIFT | number;
}

static size_t number_of(node_id node) { return node & ((1u << SERIAL_SHIFT) - 1); }
static uint64_t serial_of(node_id node) { return (node & ~CONTROL_NODES) >> SERIAL_SHIFT; }

static void fill(const struct control *c, size_t number, const struct text *t, struct attr *ret)
{
	int64_t time = t ? t->mtime_ns : c->started_wall_ns;

	*ret = (struct attr){
		.node = node_of(number, t ? t->serial : 0), .ino = node_of(number, 0),
		.size = t ? t->bytes.len : number ? 0 : 4096,
		.mtime_ns = time, .ctime_ns = time,
		/* Who may write to it may set its attributes. */
		.mode = number ? S_IFREG | 0444 : S_IFDIR | 0755,
		.uid = getuid(), .gid = getgid(), .nlink = number ? 1 : 2,
	};
}

static struct text *find_text(struct control *c, node_id node)
{
	size_t number = number_of(node);
	struct text *t = number > 0 && number <= FILES ? c->texts[number - 1] : NULL;

	dl_assert_held(&c->lock);
	while (t && t->serial != serial_of(node))
		t = t->next;
	return t;
}

/* Those that nobody can read any more go, but for the newest, which may be asked for again; and the
 * oldest, if there are many, or large ones. */
static void tidy(struct text *newest)
{
	size_t count = 1, bytes = 0;
	struct text **at = &newest->next;

	while (*at) {
		bytes += (*at)->bytes.len;
		if ((*at)->lookups == 0 || count == KEEP || (count > 1 && bytes > KEEP_BYTES)) {
			bytes -= (*at)->bytes.len;
			drop_text(at);
		} else {
			at = &(*at)->next;
			count++;
		}
	}
}

void control_forget(struct serve *s, node_id node, uint64_t lookups)
{
	struct control *c = s->control;
	struct text *t;

	if (epoch_is(node) || number_of(node) == 0)
		return;
	DL_HOLD(&c->lock);
	t = find_text(c, node);
	if (!t)
		return;
	t->lookups -= DL_MIN(t->lookups, lookups);
	if (t->lookups == 0)
		tidy(c->texts[number_of(node) - 1]);
}

/* A dear one that is still true.  false: it must be made. */
static bool find_true(struct control *c, size_t i, uint64_t turn, struct attr *ret)
{
	struct text *t;

	DL_HOLD(&c->lock);
	t = c->texts[i];
	if (!t || t->turn != turn)
		return false;
	t->lookups++;
	fill(c, i + 1, t, ret);
	return true;
}

static int look_up_file(struct serve *s, size_t i, struct attr *ret)
{
	dl_cleanup(buf_free) struct buf bytes = BUF_EMPTY;
	struct control *c = s->control;
	struct text *t;
	uint64_t turn = 0;
	int r = files[i].dear ? engine_order_turn(s->engine, &turn) : 0;

	if (r < 0)
		return r;
	if (files[i].dear && find_true(c, i, turn, ret))
		return 0;
	r = files[i].make(s, &bytes);
	if (r < 0)
		return r;
	t = malloc(sizeof(*t));
	if (!t)
		return -ENOMEM;
	DL_HOLD(&c->lock);
	*t = (struct text){
		.serial = ++s->options->shared->texts, .turn = turn, .lookups = 1,
		.mtime_ns = clock_wall(), .bytes = buf_take(&bytes), .next = c->texts[i],
	};
	c->texts[i] = t;
	tidy(t);
	fill(c, i + 1, t, ret);
	return 0;
}

void control_folder(const struct serve *s, struct attr *ret)
{
	fill(s->control, 0, NULL, ret);
}

int control_lookup(struct serve *s, node_id parent, const char *name, struct attr *ret)
{
	if (!control_is(parent)) {
		if (parent != NODE_ROOT || strcmp(name, CONTROL_FOLDER) != 0)
			return -ENOENT;
		fill(s->control, 0, NULL, ret);
		return 0;
	}
	if (epoch_is(parent))
		return epoch_lookup(s, parent, name, ret);
	if (number_of(parent) != 0)
		return -ENOTDIR;
	if (strcmp(name, "..") == 0)
		return manifest_attr(s->manifest, NODE_ROOT, ret);
	if (strcmp(name, ".") == 0) {
		fill(s->control, 0, NULL, ret);
		return 0;
	}
	if (strcmp(name, EPOCH_FOLDER) == 0) {
		epoch_root(s, ret);
		return 0;
	}
	for (size_t i = 0; i < FILES; i++)
		if (strcmp(name, files[i].name) == 0)
			return look_up_file(s, i, ret);
	return -ENOENT;
}

int control_attr(struct serve *s, node_id node, struct attr *ret)
{
	struct control *c = s->control;
	struct text *t;

	if (epoch_is(node))
		return epoch_attr(s, node, ret);
	if (number_of(node) > FILES)
		return -ESTALE;
	DL_HOLD(&c->lock);
	t = find_text(c, node);
	if (!t && serial_of(node))
		return -ESTALE;
	fill(c, number_of(node), t, ret);
	return 0;
}

/* Nothing is made for a listing: the names come with nodes that nobody reads, since each is
 * looked up again before. */
int control_next(struct serve *s, node_id folder, uint64_t cookie, struct manifest_dirent *ret)
{
	size_t i = cookie ? (size_t)(cookie - NODE_FILES) : 0;

	if (epoch_is(folder))
		return epoch_next(s, folder, cookie, ret);
	if (number_of(folder) != 0)
		return -ENOTDIR;
	if (i > FILES)
		return 0;
	if (i == FILES) {
		*ret = (struct manifest_dirent){
			.name = EPOCH_FOLDER, .cookie = NODE_FILES + i + 1,
		};
		epoch_root(s, &ret->attr);
		return 1;
	}
	*ret = (struct manifest_dirent){ .name = files[i].name, .cookie = NODE_FILES + i + 1 };
	fill(s->control, i + 1, NULL, &ret->attr);
	return 1;
}

int control_readlink(struct serve *s, node_id node, struct buf *ret)
{
	return epoch_is(node) ? epoch_readlink(s, node, ret) : -EINVAL;
}

int control_read(struct serve *s, node_id node, uint64_t offset, size_t size, struct buf *ret)
{
	struct control *c = s->control;
	const struct text *t;

	if (epoch_is(node))
		return -EINVAL;
	if (number_of(node) == 0)
		return -EISDIR;
	DL_HOLD(&c->lock);
	t = find_text(c, node);
	if (!t)
		return serial_of(node) ? -ESTALE : 0;
	if (offset >= t->bytes.len)
		return 0;
	return buf_append(ret, t->bytes.at + offset, DL_MIN(size, t->bytes.len - (size_t)offset));
}
