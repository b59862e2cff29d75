#include "fs/tier.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/pattern.h"
#include "config/units.h"
#include "fs/errand.h"
#include "fs/serve.h"
#include "prefetch/manifest/list.h"
#include "prefetch/source/kept_key.h"
#include "prefetch/store/disk_folder.h"

#define QUEUE_MAX (64 * MiB)
#define GAIN_LEAST 1.05                /* for which what is kept is changed: costs are noisy */
#define CHANGE_LEAST 64                /* a part of the dataset: then it is counted again */

/* --- Opening ------------------------------------------------------------------------------ */

/* Half of the file system, if nothing was said. */
static uint64_t decide_size(const struct config *c)
{
	uint64_t there = c->store_size ? 0 : disk_folder_size(c->store_path);

	if (c->store_size)
		return c->store_size;
	return there ? there / 2 : GiB;
}

static int decide_zstd(const struct config *c)
{
	switch (c->store_zstd) {
	case CONFIG_ZSTD_AUTO:
		return DISK_AUTO;
	case CONFIG_ZSTD_OFF:
		return DISK_RAW;
	default:
		return (int)(c->store_zstd - CONFIG_ZSTD_LEVEL) + 1;
	}
}

static int refuse_used(struct serve *s, int pid)
{
	const char *path = s->options->config->store_path;
	char *error = s->options->shared->error;

	snprintf(error, sizeof(s->options->shared->error),
		 "the store %.120s is used by another mount (process %d); unmount that one, or "
		 "give this one another store.path", path, pid);
	return -EBUSY;
}

static void on_measured(void *serve);
static int list_hashes(void *serve, struct buf *ret);

static void note_problem(struct serve *s)
{
	char why[80];

	if (tier_problem(s, why))
		snprintf(s->options->shared->note, sizeof(s->options->shared->note),
			 "the store %.120s cannot be used, nothing is kept there: %s",
			 s->options->config->store_path, why);
}

int tier_open(struct serve *s)
{
	const struct config *c = s->options->config;
	struct tier *t = &s->tier;
	struct disk_options o = {
		.folder = c->store_path, .records = c->store_files,
		.keep_free = c->store_keep_free,
		.queue = DL_MIN(s->options->memory / 8, QUEUE_MAX),
		.zstd = decide_zstd(c), .patient = true,
		.heir = s->options->replacement, .distrust = s->options->shared->crashed,
		.dataset = list_hashes, .context = s,
	};
	int pid = 0, r;

	stats_set(&s->stats->store_limit, 0);
	stats_set(&s->stats->store_records_limit, 0);
	if (!*c->store_path)
		return 0;
	o.size = decide_size(c);
	r = disk_open(&o, &t->disk, &pid);
	if (r == -EWOULDBLOCK)
		return refuse_used(s, pid);
	t->error = r;
	note_problem(s);
	if (r < 0) {
		log_warning("nothing is kept in the store %s: %s", c->store_path, strerror(-r));
		return 0;
	}
	dl_lock_init(&t->lock);
	meter_init(&t->meter, on_measured, s);
	t->queue = o.queue;
	t->limit = o.size;
	t->hits = stats_get(&s->stats->store_hits);
	t->written = stats_get(&s->stats->store_written);
	t->bad = stats_get(&s->stats->store_bad);
	return 0;
}

void tier_close(struct serve *s)
{
	struct tier *t = &s->tier;

	if (!t->disk)
		return;
	disk_close(DL_TAKE(t->disk));
	keep_census_free(t->census);
	buf_free(&t->warmed);
	meter_fini(&t->meter);
	dl_lock_fini(&t->lock);
}

/* --- What is kept ------------------------------------------------------------------------- */

static enum keep_wish wish_for(const struct serve *s, const char *path)
{
	const struct config *c = s->options->config;
	const struct buf *warmed = &s->tier.warmed;

	if (*c->never && pattern_any(c->never, path))
		return KEEP_NEVER;
	if ((*c->keep && pattern_any(c->keep, path)) ||
	    (warmed->len && pattern_any((char *)warmed->at, path)))
		return KEEP_PINNED;
	return KEEP_IF_ROOM;
}

static int count_sample(const struct serve *s, sample_id id, struct buf *path,
			struct keep_census *to)
{
	struct keep_room takes;
	struct disk_key key;
	uint64_t size;
	int r;

	size = served_size(s->served, s->manifest, id);
	if (size == 0)
		return 0;
	path->len = 0;
	r = manifest_path(s->manifest, node_of_sample(id), path);
	if (r == 0)
		r = kept_key(s->manifest, id, &key);
	/* Large ones are kept in parts of up to 1 MiB. */
	takes.records = size <= engine_whole(s->engine) ? 1 : (size + MiB - 1) / MiB;
	takes.bytes = size + DISK_OVERHEAD * takes.records;
	return r < 0 ? r : keep_census_add(to, key.hash[1], size, takes,
					   wish_for(s, (char *)path->at));
}

static int count_all(struct serve *s, struct keep_census **ret)
{
	dl_cleanup(keep_census_freep) struct keep_census *census = NULL;
	dl_cleanup(list_unrefp) struct list *all = NULL;
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
	int r = keep_census_new(&census);

	if (r == 0)
		r = list_new(s->manifest, LIST_ALL, NODE_ROOT, &all);
	for (uint32_t i = 0; r == 0 && i < list_count(all); i++)
		r = count_sample(s, list_at(all, i), &path, census);
	if (r < 0)
		return r;
	*ret = DL_TAKE(census);
	return 0;
}

/* On the disk's thread. */
static int list_hashes(void *serve, struct buf *ret)
{
	struct serve *s = serve;
	dl_cleanup(list_unrefp) struct list *all = NULL;
	int r = list_new(s->manifest, LIST_ALL, NODE_ROOT, &all);

	for (uint32_t i = 0; r == 0 && i < list_count(all); i++) {
		struct disk_key key = { .part = 0 };
		uint32_t hash;

		r = kept_key(s->manifest, list_at(all, i), &key);
		hash = (uint32_t)(key.hash[1] >> 32);
		if (r == 0)
			r = buf_append(ret, &hash, sizeof(hash));
	}
	return r;
}

/* A little more is wanted than there is room for: what comes last is not kept once it is full.  But
 * what is pinned must find room whenever it comes. */
static int make_rule(const struct tier *t, struct keep_cost cost, struct keep_rule **ret)
{
	struct keep_room room = disk_room(t->disk);
	uint64_t little = room.bytes / 50;
	bool pins = keep_has_pins(t->census);

	room.bytes = pins ? room.bytes - little : room.bytes + little;
	if (!pins && room.records != UINT64_MAX)
		room.records += room.records / 50 + 1;
	return keep_choose(t->census, room, cost, ret);
}

static bool is_better(const struct tier *t, const struct keep_rule *rule, struct keep_cost cost)
{
	struct keep_rule *old;
	bool better;

	if (make_rule(t, t->cost, &old) < 0)
		return false;
	better = rule->firm != old->firm || keep_saving(t->census, rule, cost) >
		keep_saving(t->census, old, cost) * GAIN_LEAST;
	keep_rule_free(old);
	return better;
}

/* always: by another dataset, or other patterns, than before.
 *
 * Costs are not kept over mounts.  Until one is measured the rule is not firm, so a store that is
 * full stays as the earlier run chose it; and the first fetches that miss measure it anew, for a
 * source that may be another one by now. */
static void choose(struct serve *s, bool always)
{
	struct tier *t = &s->tier;
	struct keep_cost cost = meter_cost(&t->meter);
	struct keep_rule *rule;

	dl_assert_held(&t->lock);
	if (!t->census || make_rule(t, cost, &rule) < 0)
		return;
	if (!always && !is_better(t, rule, cost)) {
		keep_rule_free(rule);
		return;
	}
	t->cost = cost;
	t->choices++;
	log_debug("a fetch takes %.3f ms and %.3f ms a MB; by that the store is filled",
		  cost.request_ns / 1e6, cost.byte_ns);
	disk_rule(t->disk, kept_source(s->manifest), rule);
}

static void recount(struct serve *s)
{
	struct manifest_usage u = manifest_usage(s->manifest);
	struct tier *t = &s->tier;
	struct keep_census *census;

	dl_assert_held(&t->lock);
	if (count_all(s, &census) < 0)
		return;
	keep_census_free(t->census);
	t->census = census;
	t->files = u.files;
	t->bytes = u.bytes;
	choose(s, true);
}

static bool is_near(uint64_t is, uint64_t was)
{
	return DL_MAX(is, was) - DL_MIN(is, was) <= was / CHANGE_LEAST;
}

void tier_dataset(struct serve *s)
{
	const struct config *c = s->options->config;
	struct manifest_usage u = manifest_usage(s->manifest);
	struct tier *t = &s->tier;

	if (!t->disk)
		return;
	DL_HOLD(&t->lock);
	/* New files may match a pattern. */
	if (!t->census || *c->keep || *c->never || t->warmed.len || !is_near(u.files, t->files) ||
	    !is_near(u.bytes, t->bytes))
		recount(s);
	disk_dataset_changed(t->disk);
}

static void run_choice(struct errand *e, struct serve *s)
{
	free(e);
	DL_HOLD(&s->tier.lock);
	choose(s, false);
}

/* On a thread of the source. */
static void on_measured(void *serve)
{
	struct serve *s = serve;
	struct errand *e = s->errands ? calloc(1, sizeof(*e)) : NULL;

	if (!e)
		return;
	e->run = run_choice;
	if (errands_post(s->errands, e) < 0)
		free(e);
}

/* Its line among those that were asked for; NULL: it was not. */
static char *find_pin(const struct tier *t, const char *pattern)
{
	size_t len = strlen(pattern);
	char *line = (char *)t->warmed.at, *end;

	for (; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		if ((size_t)(end - line) == len && memcmp(line, pattern, len) == 0)
			return line;
	}
	return NULL;
}

int tier_pin(struct serve *s, const char *pattern)
{
	struct tier *t = &s->tier;
	int r;

	DL_HOLD(&t->lock);
	if (find_pin(t, pattern))
		return 0;
	r = buf_printf(&t->warmed, "%s\n", pattern);
	if (r == 0)
		recount(s);
	return r;
}

bool tier_never(const struct serve *s, sample_id id)
{
	const char *never = s->options->config->never;
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;

	return *never && manifest_path(s->manifest, node_of_sample(id), &path) == 0 &&
		pattern_any(never, (char *)path.at);
}

unsigned tier_choices(struct serve *s)
{
	DL_HOLD(&s->tier.lock);
	return s->tier.choices;
}

void tier_unpin(struct serve *s, const char *pattern)
{
	struct tier *t = &s->tier;
	size_t len = strlen(pattern) + 1;
	char *line;

	DL_HOLD(&t->lock);
	line = *pattern ? find_pin(t, pattern) : (char *)t->warmed.at;
	if (!line)
		return;
	if (*pattern) {
		memmove(line, line + len, strlen(line + len) + 1);
		t->warmed.len -= len;
	} else {
		buf_free(&t->warmed);
	}
	recount(s);
}

/* --- Telling ------------------------------------------------------------------------------ */

bool tier_problem(const struct serve *s, char why[80])
{
	int error = s->tier.disk ? disk_report(s->tier.disk).error : s->tier.error;
	uint64_t keep_free = s->options->config->store_keep_free;
	char size[32], but[48] = "";

	why[0] = '\0';
	if (error == -ENOSPC && keep_free > 0)
		snprintf(but, sizeof(but), " but store.keep_free, %s",
			 units_human_size(keep_free, size));
	if (error < 0)
		snprintf(why, 80, "%s%s", error == -ENOTEMPTY ? "it has files, and is no store" :
			 strerror(-error), but);
	return error < 0;
}

void tier_report(struct serve *s)
{
	const struct tier *t = &s->tier;
	struct stats *to = s->stats;
	struct disk_report r;

	if (!t->disk)
		return;
	r = disk_report(t->disk);
	stats_set(&to->store_limit, r.online ? t->limit : 0);
	stats_set(&to->store_records_limit, r.online ? s->options->config->store_files : 0);
	stats_set(&to->store_hits, t->hits + r.hits);
	stats_set(&to->store_written, t->written + r.written);
	stats_set(&to->store_bad, t->bad + r.bad);
	stats_set(&to->store_records, r.records);
	stats_set(&to->store_bytes, r.bytes);
	stats_set(&to->store_lengths, r.lengths);
	stats_set(&to->store_size, r.file_bytes);
}
