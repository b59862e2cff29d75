/* What is served, kept for the next mount: a head, then the entries that are known. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/sum.h"
#include "prefetch/source/served_internal.h"

#define MAGIC UINT64_C(0x32307652736c6401)

struct file_head {
	uint64_t magic, recipe, count;
	struct served_time time;
	uint64_t sum;                  /* of all that stands before it, and of the entries */
};

struct file_entry {
	uint64_t version;              /* of the file, in one number */
	uint32_t id, size;
	float ssim;
	uint8_t quality, known;
	uint8_t zero[2];
};

/* --- The recipe ------------------------------------------------------------------------- */

static uint64_t add(uint64_t sum, const char *text)
{
	return sum_of(text, strlen(text), sum);
}

/* The programs that code: this one and its libraries, by what says that a file was replaced.  They
 * lie in another order each time. */
static uint64_t add_programs(uint64_t sum)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4500], path[4097], mode[5], text[160];
	uint64_t programs = 0;
	struct stat st;

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%*s %4s %*s %*s %*s %4096s", mode, path) != 2 ||
		    mode[2] != 'x' || stat(path, &st) < 0)
			continue;
		snprintf(text, sizeof(text), "%llu %lld %lld", (unsigned long long)st.st_ino,
			 (long long)st.st_size, (long long)st.st_mtim.tv_sec);
		programs += add(add(0, path), text);
	}
	if (maps)
		fclose(maps);
	return sum_of(&programs, sizeof(programs), sum);
}

/* Mathematics may differ in the last digit between processors. */
static uint64_t add_processor(uint64_t sum)
{
	FILE *info = fopen("/proc/cpuinfo", "re");
	char line[8192];

	while (info && fgets(line, sizeof(line), info) && line[0] != '\n')
		if (strncmp(line, "model", 5) == 0 || strncmp(line, "flags", 5) == 0 ||
		    strncmp(line, "Features", 8) == 0)
			sum = add(sum, line);
	if (info)
		fclose(info);
	return sum;
}

uint64_t served_recipe_of(const struct recode_want *want, const char *match)
{
	char text[160];

	snprintf(text, sizeof(text), "%.17g %u %u %d", want->quality_ratio, want->max_short_side,
		 want->max_long_side, want->png_fast);
	return add_processor(add_programs(add(add(0, text), match)));
}

/* --- Saving ----------------------------------------------------------------------------- */

static uint64_t version_of(const struct served *s, sample_id id)
{
	struct attr a;
	int64_t what[4];

	if (manifest_attr(s->manifest, node_of_sample(id), &a) < 0)
		return 0;
	what[0] = (int64_t)a.size;
	what[1] = (int64_t)a.ino;
	what[2] = a.mtime_ns;
	what[3] = a.ctime_ns;
	return sum_of(what, sizeof(what), 0);
}

/* That there was no memory is no property of the file. */
static bool is_kept(const struct served_entry *e)
{
	return e->known != 0 && e->known != SERVED_BROKEN && e->known != RECODE_NO_MEMORY + 1;
}

static int gather(const struct served *s, struct buf *ret)
{
	uint32_t end = DL_MIN(manifest_entries(s->manifest), SERVED_MOST);
	int r = 0;

	for (sample_id id = 0; r == 0 && id < end; id++) {
		const struct served_entry *e = &s->table->entries[id];
		struct file_entry f = { .id = id };

		if (!is_kept(e))
			continue;
		f.version = version_of(s, id);
		f.known = e->known;
		f.size = e->size;
		f.ssim = e->ssim;
		f.quality = e->quality;
		r = buf_append(ret, &f, sizeof(f));
	}
	return r;
}

static uint64_t sum_file(const struct file_head *h, struct bytes entries)
{
	return sum_of(entries.at, entries.len, sum_of(h, offsetof(struct file_head, sum), 0));
}

int served_save(const struct served *s, const char *path)
{
	dl_cleanup(buf_free) struct buf entries = BUF_EMPTY;
	const struct served_table *t = s->table;
	struct file_head h = {
		.magic = MAGIC, .recipe = s->recipe,
		.time = { t->timed, t->timed_bytes, t->timed_source_ns, t->timed_ns },
	};
	int r = gather(s, &entries);

	if (r < 0)
		return r;
	h.count = entries.len / sizeof(struct file_entry);
	h.sum = sum_file(&h, (struct bytes){ entries.at, entries.len });
	return file_replace_parts(path, (struct iovec[]){
		{ &h, sizeof(h) }, { entries.at, entries.len },
	}, 2);
}

/* --- Loading ---------------------------------------------------------------------------- */

static void take(struct served *s, const struct file_entry *f)
{
	struct recoded coded = { .size = f->size, .ssim = (double)f->ssim, .quality = f->quality };

	if (f->known == 0 || f->known > RECODE_REASONS || !served_wants(s, f->id) ||
	    f->version != version_of(s, f->id))
		return;
	if (f->known == RECODE_DONE + 1 && f->size == 0)
		return;
	if (served_tell(s, f->id, f->known - 1u, &coded) < 0)
		return;                /* it is known already */
}

int served_load(struct served *s, const char *path)
{
	dl_cleanup(buf_free) struct buf file = BUF_EMPTY;
	struct file_head h;
	struct file_entry f;
	size_t len;
	int r = file_read(path, sizeof(h) + (size_t)SERVED_MOST * sizeof(f), &file);

	if (r < 0)
		return r;
	if (file.len < sizeof(h))
		return -ESTALE;
	memcpy(&h, file.at, sizeof(h));
	len = file.len - sizeof(h);
	if (h.magic != MAGIC || h.recipe != s->recipe || h.count != len / sizeof(f) ||
	    len % sizeof(f) != 0 ||
	    h.sum != sum_file(&h, (struct bytes){ file.at + sizeof(h), len }))
		return -ESTALE;
	served_timed(s, &h.time);
	for (size_t i = 0; i < h.count; i++) {
		memcpy(&f, file.at + sizeof(h) + i * sizeof(f), sizeof(f));
		take(s, &f);
	}
	return 0;
}
