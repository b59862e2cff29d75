/* What is kept of a dataset that does not fit: a rule, made from all of it at once.
 *
 * A sample is used once an epoch, so what is kept for the next one must never be traded for another
 * sample of the same worth: then an epoch has as many hits as there is room, and no policy can have
 * more (MinIO: CoorDL, VLDB 2021).  The one question is which samples.  A fetch takes so much time
 * a request and so much a byte (keep_cost, measured); per byte kept, that is dearest for the
 * smallest.  So where requests cost something, the smallest are kept, which is also the most hits
 * that a room can have; where only bytes do, or nothing is known, each sample is as good as any
 * other, and a uniform part is kept.  What the user pinned comes before all of it.
 *
 * The room may be bounded in records as well.  Per record the dearest are the largest, so where
 * that bound comes first, smaller ones are left out, as many as let both bounds be used up.  Where
 * some are pinned a fiftieth of what they leave stays free: how many others a share of hashes means
 * is known but about, and one that has a place is not given up for a pinned one.
 *
 * A rule depends on sizes and hashes alone, so each run comes to the same one, and what an earlier
 * run kept is what this one wants.
 *
 * Pure: no I/O, no clock, no lock.
 */
#pragma once
#include "base/dl.h"

#define KEEP_CLASSES 128u              /* of size */
#define KEEP_ALL UINT64_MAX

/* The class of a size: two an octave, so those of a class differ by half at most.  0 and 1 are in
 * the classes of 2 and 3. */
static inline unsigned keep_class(uint64_t size)
{
	unsigned octave = 63 - (unsigned)__builtin_clzll(size | 2);

	return octave * 2 + (unsigned)((size >> (octave - 1)) & 1);
}

/* --- Cost ------------------------------------------------------------------------------------ */

struct keep_cost { double request_ns, byte_ns; };      /* both 0: not known */

/* Measures it while a source works.  Of fetches that run at once each takes long, but together they
 * may take no longer: so it is the time that the source was busy that is explained, by how many
 * fetches ended in it and how many bytes they brought. */
struct keep_meter {
	uint64_t begun;                /* of the running window; 0: the source is idle */
	uint64_t flying, ended, bytes; /* fetches; and those that ended in the window */
	uint64_t windows, measured;    /* fetches measured */
	double nn, nb, bb, nt, bt;     /* sums over windows, older ones fading */
};
void keep_meter_began(struct keep_meter *m, uint64_t now);
/* `bytes` 0: it failed, and tells nothing. */
void keep_meter_ended(struct keep_meter *m, uint64_t now, uint64_t bytes);
struct keep_cost keep_meter_cost(const struct keep_meter *m);

/* --- Choice ---------------------------------------------------------------------------------- */

enum keep_wish { KEEP_IF_ROOM, KEEP_PINNED, KEEP_NEVER };

struct keep_room { uint64_t bytes, records; };

struct keep_census;                    /* the dataset, counted */
int keep_census_new(struct keep_census **ret) DL_MUST_CHECK;
void keep_census_free(struct keep_census *c);  /* NULL is fine */
static inline void keep_census_freep(struct keep_census **c) { keep_census_free(*c); }
/* `takes`: the room that it takes.  -ENOMEM */
int keep_census_add(struct keep_census *c, uint64_t hash, uint64_t size, struct keep_room takes,
		    enum keep_wish wish) DL_MUST_CHECK;

bool keep_has_pins(const struct keep_census *c);

struct keep_rule {                     /* immutable */
	bool firm;                     /* what is there and not wanted may go for what is; else it
	                                * only says what is worth keeping in room that is free */
	uint64_t share[KEEP_CLASSES], pinned_share;    /* samples whose hash is below are wanted */
	uint64_t *hashes;              /* sorted: the pinned, then those never to be kept */
	size_t pinned, never;
};
/* -ENOMEM */
int keep_choose(const struct keep_census *c, struct keep_room room, struct keep_cost cost,
		struct keep_rule **ret) DL_MUST_CHECK;
void keep_rule_free(struct keep_rule *r);      /* NULL is fine */
bool keep_wants(const struct keep_rule *r, uint64_t hash, uint64_t size);
/* Time that an epoch is shorter by what a rule keeps, in ns: to compare rules. */
double keep_saving(const struct keep_census *c, const struct keep_rule *r, struct keep_cost cost);
