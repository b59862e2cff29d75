#include "prefetch/source/served.h"

#include <stdatomic.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/pattern.h"
#include "prefetch/source/served_internal.h"

#define PNG_MOST 1.2                   /* of the source, see png.c */
#define ROOM_ENOUGH (512 * MiB)        /* for an image of 20 million pixels */
#define ROOM_OF_CORE (64 * MiB)

enum { WANTED_NOT_LOOKED, WANTED_NO, WANTED_YES };

/* --- Opening ---------------------------------------------------------------------------- */

static bool is_off(const struct recode_want *w)
{
	return (w->quality_ratio >= 1 || w->quality_ratio <= 0) && w->max_short_side == 0 &&
		w->max_long_side == 0 && !w->png_fast;
}

int served_open(const struct served_options *options, struct served **ret)
{
	dl_cleanup(dl_freep) struct served *s = NULL;
	size_t size = sizeof(struct served_table);

	*ret = NULL;
	if (is_off(&options->want))
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->manifest = options->manifest;
	s->want = options->want;
	s->match = strdup(options->match);
	if (!s->match)
		return -ENOMEM;
	s->table = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->table == MAP_FAILED) {
		free(s->match);
		return -errno;
	}
	s->recipe = served_recipe_of(&s->want, s->match);
	dl_lock_init(&s->lock);
	*ret = DL_TAKE(s);
	return 0;
}

void served_close(struct served *s)
{
	if (!s)
		return;
	dl_lock_fini(&s->lock);
	munmap(s->table, sizeof(*s->table));
	free(s->match);
	free(s);
}

void served_limit(struct served *s, uint64_t size)
{
	uint64_t none = 0;

	if (s)
		atomic_compare_exchange_strong(&s->table->limit, &none, size);
}

const struct recode_want *served_wish(const struct served *s)
{
	return &s->want;
}

uint64_t served_share(uint64_t memory)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t enough = cores > 0 ? (uint64_t)cores * ROOM_OF_CORE : ROOM_ENOUGH;

	enough = DL_MAX(enough, (uint64_t)ROOM_ENOUGH);
	return DL_MIN(memory / 4, enough);
}

uint64_t served_room(const struct served *s)
{
	if (!s)
		return 0;
	return s->want.limits.memory ? s->want.limits.memory : ROOM_ENOUGH;
}

uint64_t served_recipe(const struct served *s)
{
	return s ? s->recipe : 0;
}

/* --- What is wanted --------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *suffix)
{
	size_t len = strlen(name), tail = strlen(suffix);

	return len > tail && strcasecmp(name + len - tail, suffix) == 0;
}

static bool is_png(const struct served *s, sample_id id)
{
	return ends_with(manifest_name(s->manifest, node_of_sample(id)), ".png");
}

/* What is none by its name is not even looked at. */
static bool is_image(const struct served *s, sample_id id)
{
	const char *name = manifest_name(s->manifest, node_of_sample(id));
	const struct recode_want *w = &s->want;
	bool jpeg = ends_with(name, ".jpg") || ends_with(name, ".jpeg");

	if (jpeg)
		return w->quality_ratio < 1 || w->max_short_side > 0 || w->max_long_side > 0;
	return w->png_fast && ends_with(name, ".png");
}

static bool matches(const struct served *s, sample_id id)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;

	return !*s->match || (manifest_path(s->manifest, node_of_sample(id), &path) == 0 &&
			      pattern_any(s->match, (char *)path.at));
}

/* The answer stays, since handed out sizes depend on it. */
bool served_wants(const struct served *s, sample_id id)
{
	struct served_entry *e;
	uint64_t size;
	uint8_t now = WANTED_NOT_LOOKED, wanted;

	if (!s || id >= SERVED_MOST)
		return false;
	e = &s->table->entries[id];
	wanted = atomic_load_explicit(&e->wanted, memory_order_relaxed);
	if (wanted != WANTED_NOT_LOOKED)
		return wanted == WANTED_YES;
	if (!manifest_sample(s->manifest, id, &size))
		return false;
	wanted = size > 0 && size <= atomic_load(&s->table->limit) && is_image(s, id) &&
		matches(s, id) ? WANTED_YES : WANTED_NO;
	if (!atomic_compare_exchange_strong(&e->wanted, &now, wanted))
		wanted = now;
	return wanted == WANTED_YES;
}

/* --- Asking ----------------------------------------------------------------------------- */

static uint64_t most(const struct served *s, sample_id id, uint64_t size)
{
	return is_png(s, id) ? (uint64_t)((double)size * PNG_MOST) : size;
}

static void fill(const struct served_entry *e, enum recode_reason reason, struct served_file *ret)
{
	ret->reason = reason;
	if (reason != RECODE_DONE)
		return;
	ret->state = SERVED_CODED;
	ret->size = e->size;
	ret->ssim = (double)e->ssim;
	ret->quality = e->quality;
}

int served_ask(const struct served *s, sample_id id, struct served_file *ret)
{
	const struct served_entry *e;
	uint64_t size;
	uint8_t known;

	if (!manifest_sample(s->manifest, id, &size))
		return -EINVAL;
	*ret = (struct served_file){ .size = size, .reason = RECODE_OFF };
	if (!served_wants(s, id))
		return 0;
	e = &s->table->entries[id];
	known = atomic_load_explicit(&e->known, memory_order_acquire);
	if (known == 0 || known == SERVED_BROKEN) {
		ret->state = SERVED_UNKNOWN;
		ret->size = most(s, id, size);
		return 0;
	}
	fill(e, known - 1u, ret);
	return 0;
}

uint64_t served_size(const struct served *s, const struct manifest *m, sample_id id)
{
	struct served_file f;
	uint64_t size;

	if (!s)
		return manifest_sample(m, id, &size) ? size : 0;
	return served_ask(s, id, &f) == 0 ? f.size : 0;
}

/* --- Telling ---------------------------------------------------------------------------- */

static void count(struct served *s, sample_id id, const struct served_entry *e, bool add)
{
	struct served_table *t = s->table;
	uint64_t one = add ? 1 : UINT64_MAX, size = 0;
	unsigned reason = e->known - 1u;

	if (reason != RECODE_DONE) {
		atomic_fetch_add(&t->as_it_is[reason], one);
		return;
	}
	manifest_sample(s->manifest, id, &size);
	atomic_fetch_add(&t->coded, one);
	atomic_fetch_add(&t->coded_bytes, one * e->size);
	atomic_fetch_add(&t->source_bytes, one * size);
}

static bool same(const struct served_entry *e, enum recode_reason reason,
		 const struct recoded *coded)
{
	return e->known == reason + 1u && (reason != RECODE_DONE || e->size == coded->size);
}

/* Only who fills it, one at a time, writes an entry; what others may see already is not touched. */
static int tell(struct served *s, sample_id id, enum recode_reason reason,
		const struct recoded *coded)
{
	struct served_entry *e = &s->table->entries[id];

	if (e->known != 0)
		return same(e, reason, coded) ? 0 : -ESTALE;
	if (reason == RECODE_DONE) {
		e->size = (uint32_t)coded->size;
		e->ssim = (float)coded->ssim;
		e->quality = (uint8_t)DL_MIN(coded->quality, 255u);
	}
	atomic_store_explicit(&e->known, (uint8_t)(reason + 1), memory_order_release);
	count(s, id, e, true);
	atomic_fetch_add(&s->table->turn, 1);
	return 0;
}

int served_tell(struct served *s, sample_id id, enum recode_reason reason,
		const struct recoded *coded)
{
	if (reason == RECODE_DONE && coded->size > UINT32_MAX)
		return -ESTALE;
	DL_HOLD(&s->lock);
	return tell(s, id, reason, coded);
}

void served_forget(struct served *s, sample_id id)
{
	struct served_entry *e = &s->table->entries[id];

	DL_HOLD(&s->lock);
	if (e->known == 0 || e->known == SERVED_BROKEN)
		return;
	count(s, id, e, false);
	atomic_store(&e->known, SERVED_BROKEN);
	atomic_fetch_add(&s->table->turn, 1);
}

void served_renew(struct served *s, sample_id id)
{
	uint8_t broken = SERVED_BROKEN;

	if (s && id < SERVED_MOST)
		atomic_compare_exchange_strong(&s->table->entries[id].known, &broken, 0);
}

/* --- Time to decode ------------------------------------------------------------------------- */

bool served_wants_time(const struct served *s, sample_id id)
{
	const struct served_table *t = s->table;

	return t->entries[id].known == 0 && t->timed * SERVED_TIMED_OF <= t->coded;
}

void served_timed(struct served *s, const struct served_time *t)
{
	atomic_fetch_add(&s->table->timed, t->files);
	atomic_fetch_add(&s->table->timed_bytes, t->source_bytes);
	atomic_fetch_add(&s->table->timed_source_ns, t->source_ns);
	atomic_fetch_add(&s->table->timed_ns, t->ns);
}

/* As much a byte of the source as it was for those that were timed. */
static void estimate(const struct served_table *t, struct served_report *r)
{
	double more = t->timed_bytes ? (double)r->source_bytes / (double)t->timed_bytes : 0;

	r->source_decode_ns = (uint64_t)((double)t->timed_source_ns * more);
	r->decode_ns = (uint64_t)((double)t->timed_ns * more);
}

/* --- All of it -------------------------------------------------------------------------- */

struct served_report served_report(const struct served *s)
{
	struct served_report r = { 0 };
	const struct served_table *t;

	if (!s)
		return r;
	t = s->table;
	r.coded = t->coded;
	r.coded_bytes = t->coded_bytes;
	r.source_bytes = t->source_bytes;
	estimate(t, &r);
	for (size_t i = 0; i < RECODE_REASONS; i++)
		r.as_it_is[i] = t->as_it_is[i];
	return r;
}

uint64_t served_turn(const struct served *s)
{
	return s ? s->table->turn : 0;
}
