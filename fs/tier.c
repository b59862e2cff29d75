#include "fs/tier.h"

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/log.h"
#include "base/sum.h"
#include "fs/serve.h"
#include "prefetch/store/disk.h"

#define QUEUE_MAX (64 * MiB)

/* --- Opening ------------------------------------------------------------------------------ */

/* Half of the file system, if nothing was said. */
static uint64_t decide_size(const struct config *c)
{
	dl_cleanup(dl_freep) char *above = strdup(c->store_path);
	struct statvfs fs;
	char *slash = above ? strrchr(above, '/') : NULL;

	if (c->store_size)
		return c->store_size;
	/* The folder itself may be still to be made. */
	if (slash)
		slash[slash == above] = '\0';
	if (!above || (statvfs(c->store_path, &fs) < 0 && statvfs(above, &fs) < 0))
		return GiB;
	return (uint64_t)fs.f_blocks * fs.f_frsize / 2;
}

static int refuse_used(struct serve *s, int pid)
{
	const char *path = s->options->config->store_path;
	char *error = s->options->shared->error;

	if (s->options->replacement) {
		log_warning("the store %s went to another mount (process %d); going on without",
			    path, pid);
		return 0;
	}
	snprintf(error, sizeof(s->options->shared->error),
		 "the store %.120s is used by another mount (process %d); unmount that one, or "
		 "give this one another store.path", path, pid);
	return -EBUSY;
}

int tier_open(struct serve *s)
{
	const struct config *c = s->options->config;
	struct tier *t = &s->tier;
	struct disk_options o = {
		.folder = c->store_path, .keep_free = c->store_keep_free,
		.queue = DL_MIN(s->options->memory / 8, QUEUE_MAX),
		.patient = true, .distrust = s->options->shared->crashed,
	};
	int pid = 0, r;

	stats_set(&s->stats->store_limit, 0);
	if (!*c->store_path)
		return 0;
	o.size = decide_size(c);
	r = disk_open(&o, &t->disk, &pid);
	if (r == -EWOULDBLOCK)
		return refuse_used(s, pid);
	if (r < 0) {
		log_warning("nothing is kept in the store %s: %s", c->store_path, strerror(-r));
		return 0;
	}
	*t = (struct tier){
		.disk = t->disk, .queue = o.queue, .limit = o.size,
		.hits = stats_get(&s->stats->store_hits),
		.written = stats_get(&s->stats->store_written),
		.bad = stats_get(&s->stats->store_bad),
	};
	return 0;
}

void tier_close(struct serve *s)
{
	disk_close(DL_TAKE(s->tier.disk));
}

/* --- Telling ------------------------------------------------------------------------------ */

void tier_dataset(struct serve *s)
{
	const char *source = manifest_source(s->manifest);
	struct manifest_usage u = manifest_usage(s->manifest);

	if (s->tier.disk)
		disk_dataset(s->tier.disk, sum_of(source, strlen(source), 0), u.files, u.bytes);
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
	stats_set(&to->store_hits, t->hits + r.hits);
	stats_set(&to->store_written, t->written + r.written);
	stats_set(&to->store_bad, t->bad + r.bad);
	stats_set(&to->store_records, r.records);
	stats_set(&to->store_bytes, r.bytes);
	stats_set(&to->store_size, r.file_bytes);
}
