/* From the dataset's sizes to what is kept of it. */
#include <string.h>

#include "base/buf.h"
#include "prefetch/keep/keep.h"

#define BUCKETS 1024u                  /* of hashes */
/* Costs are noisy, and each mount measures them anew: it shall come to the same rule. */
#define SPREAD_LEAST 1.1               /* of the cost of a byte, below which all are alike */
#define SKIP_LEAST 1.1                 /* of what is saved, for which the smallest are left out */

struct bucket { uint64_t files, bytes; struct keep_room room; };

struct keep_census {
	struct bucket classes[KEEP_CLASSES][BUCKETS], pinned[BUCKETS];
	struct buf pins, nevers;       /* hashes */
};

static void take(struct keep_room *to, struct keep_room room)
{
	to->bytes += room.bytes;
	to->records += room.records;
}

/* --- Census ---------------------------------------------------------------------------------- */

int keep_census_new(struct keep_census **ret)
{
	struct keep_census *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	*ret = c;
	return 0;
}

void keep_census_free(struct keep_census *c)
{
	if (!c)
		return;
	buf_free(&c->pins);
	buf_free(&c->nevers);
	free(c);
}

int keep_census_add(struct keep_census *c, uint64_t hash, uint64_t size, struct keep_room takes,
		    enum keep_wish wish)
{
	size_t at = hash / (UINT64_MAX / BUCKETS + 1);
	struct bucket *b = wish == KEEP_PINNED ? &c->pinned[at] : &c->classes[keep_class(size)][at];

	if (wish == KEEP_NEVER)
		return buf_append(&c->nevers, &hash, sizeof(hash));
	b->files++;
	b->bytes += size;
	take(&b->room, takes);
	return wish == KEEP_PINNED ? buf_append(&c->pins, &hash, sizeof(hash)) : 0;
}

bool keep_has_pins(const struct keep_census *c)
{
	return c->pins.len > 0;
}

/* --- Rules ----------------------------------------------------------------------------------- */

static struct bucket sum(const struct bucket of[BUCKETS])
{
	struct bucket all = { 0 };

	for (unsigned i = 0; i < BUCKETS; i++) {
		all.files += of[i].files;
		all.bytes += of[i].bytes;
		take(&all.room, of[i].room);
	}
	return all;
}

/* How much of it there is room for, 0 to 1; *room is less by that, or nothing. */
static double fit(struct keep_room what, struct keep_room *room)
{
	double part = 1;

	if (what.bytes > room->bytes)
		part = (double)room->bytes / (double)what.bytes;
	if (what.records > room->records)
		part = DL_MIN(part, (double)room->records / (double)what.records);
	if (part < 1)
		*room = (struct keep_room){ 0, 0 };
	room->bytes -= part < 1 ? 0 : what.bytes;
	room->records -= part < 1 ? 0 : what.records;
	return part;
}

/* The hash below which so much room is taken; *room is less by that. */
static uint64_t share_of(const struct bucket of[BUCKETS], struct keep_room *room)
{
	const uint64_t width = UINT64_MAX / BUCKETS + 1;

	for (unsigned i = 0; i < BUCKETS; i++) {
		double part = fit(of[i].room, room);

		if (part < 1)
			return i * width + (uint64_t)(part * (double)width);
	}
	return KEEP_ALL;
}

static double cost_of_byte(const struct bucket *class, struct keep_cost cost)
{
	return cost.byte_ns + cost.request_ns * (double)class->files /
		((double)class->bytes + 1);
}

/* Whether it matters which samples are kept. */
static bool differ(const struct bucket classes[KEEP_CLASSES], struct keep_cost cost)
{
	double least = 0, most = 0;

	for (unsigned i = 0; i < KEEP_CLASSES; i++) {
		double dear = classes[i].files ? cost_of_byte(&classes[i], cost) : 0;

		if (dear > most)
			most = dear;
		if (dear > 0 && (least == 0 || dear < least))
			least = dear;
	}
	return most > least * SPREAD_LEAST;
}

/* That records are what there is too little room for. */
static bool lacks_records(const struct bucket classes[KEEP_CLASSES], struct keep_room room)
{
	struct keep_room all = { 0, 0 };

	for (unsigned i = 0; i < KEEP_CLASSES; i++)
		take(&all, classes[i].room);
	return all.records > room.records && (double)all.records * (double)room.bytes >
		(double)all.bytes * (double)room.records;
}

/* The k-th class, if those from `first` on come first, smallest first, and then, with the room that
 * is left, what is smaller, largest first. */
static unsigned class_at(unsigned first, unsigned k)
{
	return first + k < KEEP_CLASSES ? first + k : KEEP_CLASSES - 1 - k;
}

static double worth_from(const struct bucket classes[KEEP_CLASSES], unsigned first,
			 struct keep_room room, struct keep_cost cost)
{
	double worth = 0;

	for (unsigned k = 0; k < KEEP_CLASSES; k++) {
		const struct bucket *class = &classes[class_at(first, k)];

		worth += fit(class->room, &room) * ((double)class->files * cost.request_ns +
						    (double)class->bytes * cost.byte_ns);
	}
	return worth;
}

/* The smallest first, but for those that take records that others are worth more in. */
static void choose_by_size(const struct keep_census *c, const struct bucket classes[KEEP_CLASSES],
			   struct keep_room room, struct keep_cost cost, struct keep_rule *r)
{
	double worth = worth_from(classes, 0, room, cost) * SKIP_LEAST;
	unsigned first = 0;

	for (unsigned i = 1; i < KEEP_CLASSES; i++) {
		double other = worth_from(classes, i, room, cost);

		if (other > worth) {
			worth = other;
			first = i;
		}
	}
	for (unsigned k = 0; k < KEEP_CLASSES; k++) {
		unsigned i = class_at(first, k);

		r->share[i] = share_of(c->classes[i], &room);
	}
}

static void choose_uniform(const struct keep_census *c, struct keep_room room, struct keep_rule *r)
{
	struct bucket all[BUCKETS] = { { 0 } };
	uint64_t share;

	for (unsigned i = 0; i < KEEP_CLASSES; i++)
		for (unsigned k = 0; k < BUCKETS; k++)
			take(&all[k].room, c->classes[i][k].room);
	share = share_of(all, &room);
	for (unsigned i = 0; i < KEEP_CLASSES; i++)
		r->share[i] = share;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int take_lists(const struct keep_census *c, struct keep_rule *r)
{
	r->pinned = c->pins.len / sizeof(*r->hashes);
	r->never = c->nevers.len / sizeof(*r->hashes);
	if (r->pinned + r->never == 0)
		return 0;
	r->hashes = malloc(c->pins.len + c->nevers.len);
	if (!r->hashes)
		return -ENOMEM;
	if (r->pinned)
		memcpy(r->hashes, c->pins.at, c->pins.len);
	if (r->never)
		memcpy(r->hashes + r->pinned, c->nevers.at, c->nevers.len);
	qsort(r->hashes, r->pinned, sizeof(*r->hashes), by_value);
	qsort(r->hashes + r->pinned, r->never, sizeof(*r->hashes), by_value);
	return 0;
}

int keep_choose(const struct keep_census *c, struct keep_room room, struct keep_cost cost,
		struct keep_rule **ret)
{
	bool known = cost.request_ns > 0 || cost.byte_ns > 0;
	struct keep_rule *r = calloc(1, sizeof(*r));
	struct bucket classes[KEEP_CLASSES];

	if (!r || take_lists(c, r) < 0) {
		free(r);
		return -ENOMEM;
	}
	r->firm = known || r->pinned > 0;
	r->pinned_share = share_of(c->pinned, &room);
	/* By chance the others are some more than reckoned, and what is wanted makes no place. */
	if (r->pinned > 0 && room.records != UINT64_MAX)
		room.records -= room.records / 50;
	for (unsigned i = 0; i < KEEP_CLASSES; i++)
		classes[i] = sum(c->classes[i]);
	if (differ(classes, cost) || (known && lacks_records(classes, room)))
		choose_by_size(c, classes, room, cost, r);
	else
		choose_uniform(c, room, r);
	*ret = r;
	return 0;
}

void keep_rule_free(struct keep_rule *r)
{
	if (!r)
		return;
	free(r->hashes);
	free(r);
}

static bool below(uint64_t hash, uint64_t share)
{
	return hash < share || share == KEEP_ALL;
}

bool keep_wants(const struct keep_rule *r, uint64_t hash, uint64_t size)
{
	const uint64_t *nevers = r->hashes + r->pinned;

	if (r->never && bsearch(&hash, nevers, r->never, sizeof(hash), by_value))
		return false;
	if (r->pinned && bsearch(&hash, r->hashes, r->pinned, sizeof(hash), by_value))
		return below(hash, r->pinned_share);
	return below(hash, r->share[keep_class(size)]);
}

/* --- What a rule is worth -------------------------------------------------------------------- */

static void add_below(const struct bucket of[BUCKETS], uint64_t share, struct bucket *to)
{
	const uint64_t width = UINT64_MAX / BUCKETS + 1;

	for (unsigned i = 0; i < BUCKETS; i++) {
		uint64_t first = i * width;
		double part = share == KEEP_ALL ? 1 :
			share > first ? DL_MIN((double)(share - first) / (double)width, 1.0) : 0;

		to->files += (uint64_t)((double)of[i].files * part);
		to->bytes += (uint64_t)((double)of[i].bytes * part);
	}
}

static struct bucket count_wanted(const struct keep_census *c, const struct keep_rule *r)
{
	struct bucket all = { 0 };

	add_below(c->pinned, r->pinned_share, &all);
	for (unsigned i = 0; i < KEEP_CLASSES; i++)
		add_below(c->classes[i], r->share[i], &all);
	return all;
}

double keep_saving(const struct keep_census *c, const struct keep_rule *r, struct keep_cost cost)
{
	struct bucket all = count_wanted(c, r);

	return (double)all.files * cost.request_ns + (double)all.bytes * cost.byte_ns;
}
