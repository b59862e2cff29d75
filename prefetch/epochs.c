#include "prefetch/epochs.h"

#include <string.h>

#include "base/lock.h"
#include "base/random.h"

/* At 150 MB/s a seek of 8 ms takes an eighth of the time of the one, a twelfth of the other's. */
#define PIECE_MIN (8 * MiB)
#define PIECE_MAX (12 * MiB)
#define PIECE_SHARE 8                  /* at most this part of the room */

struct kept {
	uint64_t number, used;
	struct epoch_view view;
};

struct epochs {
	struct manifest *manifest;
	uint64_t room;
	struct dl_lock lock;           /* guards what follows */
	uint64_t uses;
	struct epoch_view now;         /* of the dataset as it is; no list: to be made */
	struct order_spec spec;        /* for `now` */
	struct kept kept[EPOCHS_KEPT];
};

void epoch_view_fini(struct epoch_view *v)
{
	list_unref(v->list);
	sequence_unref(v->sequence);
	*v = (struct epoch_view){ .list = NULL };
}

int epochs_new(struct manifest *m, uint64_t room, struct epochs **ret)
{
	struct epochs *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->manifest = m;
	e->room = room;
	dl_lock_init(&e->lock);
	*ret = e;
	return 0;
}

void epochs_free(struct epochs *e)
{
	if (!e)
		return;
	epoch_view_fini(&e->now);
	for (size_t i = 0; i < EPOCHS_KEPT; i++)
		epoch_view_fini(&e->kept[i].view);
	dl_lock_fini(&e->lock);
	free(e);
}

void epochs_changed(struct epochs *e)
{
	DL_HOLD(&e->lock);
	epoch_view_fini(&e->now);
}

/* --- The dataset ----------------------------------------------------------------------- */

static const char *extension_of(const struct epochs *e, const struct list *l, uint32_t index)
{
	const char *name = manifest_name(e->manifest, node_of_sample(list_at(l, index)));
	const char *dot = strrchr(name, '.');

	return dot && dot > name && strlen(dot) < EPOCH_EXTENSION_MAX ? dot : "";
}

static void find_extension(const struct epochs *e, struct epoch_view *v)
{
	const char *first = extension_of(e, v->list, 0);

	for (uint32_t i = 1; i < list_count(v->list); i++)
		if (strcmp(extension_of(e, v->list, i), first) != 0)
			return;
	strcpy(v->extension, first);
}

/* Pieces as large as they may be while there is one of each folder in the reservoir. */
static uint64_t piece_bytes(const struct epochs *e, size_t folders)
{
	uint64_t piece = DL_MAX(e->room / 5 * 4 / folders, PIECE_MIN);

	piece = DL_MIN(piece, PIECE_MAX);
	return DL_MIN(piece, e->room / PIECE_SHARE);
}

static uint32_t samples(uint64_t bytes, uint64_t mean, uint32_t count)
{
	uint64_t n = bytes / mean;

	return (uint32_t)DL_MIN(n, (uint64_t)count);
}

/* An eighth of the room is for what is read just now, and because samples differ in size; three
 * pieces for those that are under way. */
static void measure(struct epochs *e, uint32_t count, size_t folders)
{
	struct manifest_usage u = manifest_usage(e->manifest);
	uint64_t mean = u.paged / DL_MAX(u.files, UINT64_C(1)) + 1;
	uint64_t piece = piece_bytes(e, folders);

	e->spec = (struct order_spec){
		.kind = ORDER_DRAWN,
		.piece = DL_MAX(samples(piece, mean, count), 1u),
		.reservoir = samples(e->room / 8 * 7 - 3 * piece, mean, count),
	};
}

static int look(struct epochs *e)
{
	struct epoch_view v = { .list = NULL };
	size_t borders;
	int r;

	dl_assert_held(&e->lock);
	if (e->now.list)
		return 0;
	r = list_new(e->manifest, LIST_IMAGE_FOLDER, NODE_ROOT, &v.list);
	if (r == -ENOENT)
		r = list_new(e->manifest, LIST_ALL, NODE_ROOT, &v.list);
	if (r == 0)
		r = list_find_borders(v.list, e->manifest);
	if (r < 0) {
		epoch_view_fini(&v);
		return r;
	}
	find_extension(e, &v);
	v.version = (uint32_t)random_mix((uint64_t)manifest_entries(e->manifest) << 32 |
					 list_count(v.list));
	list_borders(v.list, &borders);
	measure(e, list_count(v.list), borders + 1);
	e->now = v;
	return 0;
}

int epochs_spec(struct epochs *e, struct order_spec *spec, struct list **ret)
{
	int r;

	DL_HOLD(&e->lock);
	r = look(e);
	if (r < 0)
		return r;
	if (spec->piece == 0)
		spec->piece = e->spec.piece;
	if (spec->reservoir == 0)
		spec->reservoir = e->spec.reservoir;
	*ret = list_ref(e->now.list);
	return 0;
}

/* --- Epochs ---------------------------------------------------------------------------- */

static struct kept *find(struct epochs *e, uint64_t number)
{
	for (size_t i = 0; i < EPOCHS_KEPT; i++)
		if (e->kept[i].view.list && e->kept[i].number == number)
			return &e->kept[i];
	return NULL;
}

static struct kept *oldest(struct epochs *e)
{
	struct kept *best = &e->kept[0];

	for (size_t i = 1; i < EPOCHS_KEPT; i++)
		if (e->kept[i].used < best->used)
			best = &e->kept[i];
	return best;
}

static int keep(struct epochs *e, uint64_t number, struct kept **ret)
{
	struct epoch epoch = { .rule = EPOCH_DRAWN, .number = number };
	struct kept k = { .number = number };
	const uint32_t *borders;
	size_t count;
	int r = look(e);

	if (r < 0)
		return r;
	k.view = e->now;
	borders = list_borders(k.view.list, &count);
	r = order_drawn(&e->spec, &epoch, list_count(k.view.list), borders, count,
			&k.view.sequence);
	if (r < 0)
		return r;
	list_ref(k.view.list);
	*ret = oldest(e);
	epoch_view_fini(&(*ret)->view);
	**ret = k;
	return 0;
}

int epochs_get(struct epochs *e, uint64_t number, bool draw, struct epoch_view *ret)
{
	struct kept *k;
	int r = 0;

	DL_HOLD(&e->lock);
	k = find(e, number);
	if (!k && draw)
		r = keep(e, number, &k);
	else if (!k)
		r = look(e);
	if (r < 0)
		return r;
	if (k)
		k->used = ++e->uses;
	*ret = k ? k->view : e->now;
	list_ref(ret->list);
	if (ret->sequence)
		sequence_ref(ret->sequence);
	return 0;
}
