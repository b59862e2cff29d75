#include "prefetch/manifest/list.h"

#include <stdatomic.h>
#include <string.h>

#include "prefetch/manifest/internal.h"
#include "prefetch/manifest/number.h"

struct run {                           /* index .. index + count - 1 are ids from `id` on */
	uint32_t index, id, count;
};

struct list {
	_Atomic unsigned refs;
	enum list_kind kind;
	node_id root;
	uint32_t count;

	uint32_t run_count, id_count;  /* either runs ... */
	struct run *by_index;
	struct run *by_id;             /* without overlaps: a sample has one index here */

	uint32_t *ids;                 /* ... or tables: by index, */
	uint32_t *indices;             /* and by id - first; NONE: it is not in the list */
	uint32_t first, span;

	struct buf borders;            /* indices */
	uint64_t *lost;                /* a bit an index, or NULL */
};

static int by_id(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Where runs overlap (a file reached by its name and by a link) the earlier in id order stays
 * whole, and of the others what sticks out. */
static void make_disjoint(struct list *l)
{
	uint64_t end = 0;

	qsort(l->by_id, l->run_count, sizeof(struct run), by_id);
	for (uint32_t i = 0; i < l->run_count; i++) {
		struct run x = l->by_id[i];
		uint32_t known = (uint32_t)(x.id < end ? DL_MIN(end - x.id, (uint64_t)x.count) : 0);

		if (known == x.count)
			continue;
		end = (uint64_t)x.id + x.count;
		l->by_id[l->id_count++] = (struct run){
			x.index + known, x.id + known, x.count - known,
		};
	}
}

static uint32_t count_runs(const uint32_t *ids, uint32_t count)
{
	uint32_t runs = 1;

	for (uint32_t i = 1; i < count; i++)
		runs += ids[i] != ids[i - 1] + 1;
	return runs;
}

static int make_runs(struct list *l, const uint32_t *ids, uint32_t runs)
{
	l->by_index = malloc(runs * sizeof(struct run));
	l->by_id = malloc(runs * sizeof(struct run));
	if (!l->by_index || !l->by_id)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->count; i++) {
		if (i > 0 && ids[i] == ids[i - 1] + 1)
			l->by_index[l->run_count - 1].count++;
		else
			l->by_index[l->run_count++] = (struct run){ i, ids[i], 1 };
	}
	memcpy(l->by_id, l->by_index, runs * sizeof(struct run));
	make_disjoint(l);
	return 0;
}

/* Of a sample that comes several times, the first index. */
static int make_tables(struct list *l, struct buf *ids)
{
	uint32_t *shorter = realloc(ids->at, l->count * sizeof(*l->ids));

	if (!shorter)
		return -ENOMEM;
	ids->at = (void *)shorter;
	l->indices = malloc(l->span * sizeof(*l->indices));
	if (!l->indices)
		return -ENOMEM;
	l->ids = (void *)buf_take(ids).at;
	memset(l->indices, 0xff, l->span * sizeof(*l->indices));
	for (uint32_t i = l->count; i-- > 0;)
		l->indices[l->ids[i] - l->first] = i;
	return 0;
}

static void list_free(struct list *l)
{
	free(l->by_index);
	free(l->by_id);
	free(l->ids);
	free(l->indices);
	buf_free(&l->borders);
	free(l->lost);
	free(l);
}

/* Whatever takes less memory. */
static int make(struct list *l, struct buf *ids)
{
	const uint32_t *at = (void *)ids->at;
	uint32_t runs = count_runs(at, l->count), last = 0;

	l->first = UINT32_MAX;
	for (uint32_t i = 0; i < l->count; i++) {
		l->first = DL_MIN(l->first, at[i]);
		last = DL_MAX(last, at[i]);
	}
	l->span = last - l->first + 1;
	if (runs * UINT64_C(2) * sizeof(struct run) <= (l->count + (uint64_t)l->span) * sizeof(*at))
		return make_runs(l, at, runs);
	return make_tables(l, ids);
}

static int list_of(enum list_kind kind, node_id root, struct buf *ids, struct list **ret)
{
	struct list *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->refs = 1;
	l->kind = kind;
	l->root = root;
	l->count = (uint32_t)(ids->len / sizeof(uint32_t));
	r = make(l, ids);
	if (r < 0)
		list_free(l);
	else
		*ret = l;
	return r;
}

int list_new(struct manifest *m, enum list_kind kind, node_id root, struct list **ret)
{
	dl_cleanup(buf_free) struct buf ids = BUF_EMPTY;
	int r;

	if (!manifest_scanned(m))
		return -EAGAIN;
	if (!node_is_folder(root))
		return -ENOTDIR;
	if (root < NODE_ROOT || root > m->head->folders)
		return -ENOENT;
	r = number_samples(m, kind, root, &ids);
	return r < 0 ? r : list_of(kind, root, &ids, ret);
}

int list_renew(const struct list *l, const struct manifest *m, struct list **ret)
{
	dl_cleanup(buf_free) struct buf ids = BUF_EMPTY;
	dl_cleanup(dl_freep) uint64_t *lost = calloc(l->count / 64 + 1, sizeof(*lost));
	bool any = false;
	int r = lost ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < l->count; i++) {
		sample_id id;

		if (!manifest_newest(m, list_at(l, i), &id)) {
			lost[i / 64] |= UINT64_C(1) << (i % 64);
			any = true;
		}
		r = buf_append(&ids, &id, sizeof(id));
	}
	if (r == 0)
		r = list_of(l->kind, l->root, &ids, ret);
	if (r == 0 && any)
		(*ret)->lost = DL_TAKE(lost);
	return r;
}

const uint64_t *list_lost(const struct list *l)
{
	return l->lost;
}

struct list *list_ref(struct list *l)
{
	atomic_fetch_add(&l->refs, 1);
	return l;
}

void list_unref(struct list *l)
{
	if (!l || atomic_fetch_sub(&l->refs, 1) > 1)
		return;
	list_free(l);
}

uint32_t list_count(const struct list *l)
{
	return l->count;
}

node_id list_root(const struct list *l)
{
	return l->root;
}

enum list_kind list_kind(const struct list *l)
{
	return l->kind;
}

sample_id list_at(const struct list *l, uint32_t index)
{
	uint32_t low = 0, high = l->run_count;

	if (l->ids)
		return l->ids[index];
	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (l->by_index[mid].index <= index)
			low = mid;
		else
			high = mid;
	}
	return l->by_index[low].id + (index - l->by_index[low].index);
}

bool list_index(const struct list *l, sample_id id, uint32_t *ret_index)
{
	uint32_t low = 0, high = l->id_count;

	if (l->ids) {
		if (id < l->first || id - l->first >= l->span || l->indices[id - l->first] == NONE)
			return false;
		*ret_index = l->indices[id - l->first];
		return true;
	}
	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (l->by_id[mid].id <= id)
			low = mid;
		else
			high = mid;
	}
	if (id < l->by_id[low].id || id - l->by_id[low].id >= l->by_id[low].count)
		return false;
	*ret_index = l->by_id[low].index + (id - l->by_id[low].id);
	return true;
}

const uint32_t *list_borders(const struct list *l, size_t *ret_count)
{
	*ret_count = l->borders.len / sizeof(uint32_t);
	return (void *)l->borders.at;
}

int list_find_borders(struct list *l, const struct manifest *m)
{
	node_id folder = 0;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < l->count; i++) {
		node_id parent = manifest_parent(m, node_of_sample(list_at(l, i)));

		if (parent != folder && i > 0)
			r = buf_append(&l->borders, &i, sizeof(i));
		folder = parent;
	}
	return r;
}

/* The same ids are always kept the same way. */
bool list_same(const struct list *a, const struct list *b)
{
	if (a->count != b->count || a->run_count != b->run_count || !a->ids != !b->ids)
		return false;
	if (a->ids)
		return memcmp(a->ids, b->ids, a->count * sizeof(*a->ids)) == 0;
	return memcmp(a->by_index, b->by_index, a->run_count * sizeof(struct run)) == 0;
}

size_t list_bytes(const struct list *l)
{
	return sizeof(*l) + (l->run_count * UINT64_C(2)) * sizeof(struct run) +
		(l->ids ? (l->count + (uint64_t)l->span) * sizeof(*l->ids) : 0);
}
