/* What is kept of a dataset that does not fit: the measured cost, the rule, and what it brings over
 * epochs beside first-come and LRU. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "prefetch/keep/keep.h"

#define FILES 4000u
#define EPOCHS 4u

struct sample { uint64_t hash, size; };

static struct random state;
static struct sample samples[FILES];
static uint64_t all_bytes;

static double uniform(void) { return (double)(random_next(&state) >> 11) * 0x1p-53; }

/* spread 0: all of one size; else sizes as photos have them: log-normal. */
static void make_samples(double spread)
{
	state = (struct random){ 7 };
	all_bytes = 0;
	for (unsigned i = 0; i < FILES; i++) {
		double z = sqrt(-2 * log(uniform() + 1e-12)) * cos(2 * M_PI * uniform());

		samples[i].hash = random_next(&state);
		samples[i].size = (uint64_t)(110000 * exp(spread * z));
		all_bytes += samples[i].size;
	}
}

static struct keep_room takes(uint64_t size) { return (struct keep_room){ size, 1 }; }

static enum keep_wish if_room(unsigned i)
{
	(void)i;
	return KEEP_IF_ROOM;
}

static struct keep_census *take_census_of(enum keep_wish (*wish)(unsigned i))
{
	struct keep_census *c;

	cr_assert_eq(keep_census_new(&c), 0);
	for (unsigned i = 0; i < FILES; i++)
		cr_assert_eq(keep_census_add(c, samples[i].hash, samples[i].size,
					     takes(samples[i].size), wish(i)), 0);
	return c;
}

static struct keep_census *take_census(void) { return take_census_of(if_room); }

/* --- Cost ------------------------------------------------------------------------------------ */

struct cost_case {
	char why[48];
	double request, byte;          /* of the source */
	unsigned parallel;             /* fetches at once */
	double spread;
	double least, most;            /* cost of a request that should be measured */
};

/* Fetches at once share a line of 1/byte; each has a latency of `request` first. */
static struct keep_cost measure(const struct cost_case *k)
{
	struct keep_meter m = { 0 };
	double line = 1, ends[64];
	uint64_t sizes[64];

	make_samples(k->spread);
	for (unsigned i = 0; i < FILES; i++) {
		unsigned at = i % k->parallel;
		double now = i < k->parallel ? 1 : ends[at];

		if (i >= k->parallel)
			keep_meter_ended(&m, (uint64_t)now, sizes[at]);
		keep_meter_began(&m, (uint64_t)now);
		line = DL_MAX(now + k->request, line) + k->byte * (double)samples[i].size;
		ends[at] = line;
		sizes[at] = samples[i].size;
	}
	return keep_meter_cost(&m);
}

ParameterizedTestParameters(keep, cost_of_a_request)
{
	static struct cost_case cases[] = {
		{ "one at a time, far away", 10e6, 1, 1, 0.5, 9.5e6, 10.5e6 },
		{ "one at a time, near", 1e5, 10, 1, 0.5, 0.9e5, 1.1e5 },
		{ "the line is full: latency hides", 10e6, 10, 64, 0.5, 0, 2e4 },
		{ "latency hides in part", 10e6, 0.01, 16, 0.5, 5.5e5, 7e5 },
		{ "all sizes are one: nothing to choose by", 10e6, 1, 1, 0, 0, 0 },
	};
	return cr_make_param_array(struct cost_case, cases, DL_COUNT(cases));
}

ParameterizedTest(struct cost_case *k, keep, cost_of_a_request)
{
	struct keep_cost c = measure(k);

	cr_expect(c.request_ns >= k->least && c.request_ns <= k->most, "%s: %.0f", k->why,
		  c.request_ns);
	cr_expect(c.byte_ns > 0 || c.request_ns > 0, "%s: nothing was measured", k->why);
}

Test(keep, few_fetches_tell_nothing)
{
	struct keep_meter m = { 0 };

	for (unsigned i = 1; i < 8; i++) {
		keep_meter_began(&m, i * 100);
		keep_meter_ended(&m, i * 100 + 50, 1000);
	}
	cr_expect_eq(keep_meter_cost(&m).request_ns + keep_meter_cost(&m).byte_ns, 0);
	keep_meter_began(&m, 900);
	keep_meter_ended(&m, 950, 0);
	cr_expect_eq(m.windows, 7, "a failure was measured");
}

/* --- Choice ---------------------------------------------------------------------------------- */

static const struct keep_cost far = { 10e6, 1 }, line = { 0, 10 }, unknown = { 0, 0 };

static struct keep_rule *choose_within(struct keep_room room, struct keep_cost cost)
{
	struct keep_census *c = take_census();
	struct keep_rule *r;

	cr_assert_eq(keep_choose(c, room, cost, &r), 0);
	keep_census_free(c);
	return r;
}

static struct keep_rule *choose(double part, struct keep_cost cost)
{
	return choose_within((struct keep_room){ (uint64_t)((double)all_bytes * part),
						 UINT64_MAX }, cost);
}

Test(keep, as_much_as_fits_and_the_smallest_of_a_far_source)
{
	const struct keep_cost costs[] = { far, line, unknown };

	make_samples(0.5);
	for (unsigned k = 0; k < 3; k++) {
		for (double part = 0.1; part <= 1.01; part += 0.1) {
			struct keep_rule *r = choose(part, costs[k]);
			uint64_t kept = 0, largest = 0, smallest_left = UINT64_MAX;

			for (unsigned i = 0; i < FILES; i++) {
				uint64_t size = samples[i].size;

				if (keep_wants(r, samples[i].hash, size)) {
					kept += size;
					largest = DL_MAX(largest, size);
				} else {
					smallest_left = DL_MIN(smallest_left, size);
				}
			}
			cr_expect_float_eq((double)kept / (double)all_bytes, DL_MIN(part, 1.0),
					   0.005, "%u: %f", k, (double)kept / (double)all_bytes);
			cr_expect_eq(r->firm, k < 2);
			if (k == 0 && part < 0.95)     /* but for the class that fits in part */
				cr_expect_lt((double)largest, (double)smallest_left * 1.51);
			keep_rule_free(r);
		}
	}
}

struct outcome_within { uint64_t files, bytes; double saved; };

static struct outcome_within count_within(struct keep_room room, struct keep_cost by,
					  struct keep_cost cost)
{
	struct keep_rule *r = choose_within(room, by);
	struct outcome_within o = { 0 };

	for (unsigned i = 0; i < FILES; i++) {
		if (!keep_wants(r, samples[i].hash, samples[i].size))
			continue;
		o.files++;
		o.bytes += samples[i].size;
		o.saved += cost.request_ns + cost.byte_ns * (double)samples[i].size;
	}
	keep_rule_free(r);
	return o;
}

/* Both bounds hold, one of them is used up, and hardly less is saved than by an even part. */
Test(keep, a_bound_on_records_holds_too)
{
	const struct keep_cost near = { 1e5, 10 }, costs[] = { far, near, line, unknown };

	make_samples(0.5);
	for (unsigned k = 0; k < DL_COUNT(costs); k++) {
		for (unsigned bytes = 1; bytes <= 10; bytes += 3) {
			for (unsigned records = 1; records <= 10; records += 3) {
				struct keep_room room = { all_bytes / 10 * bytes,
							  FILES / 10 * records };
				struct outcome_within o = count_within(room, costs[k], costs[k]);
				struct outcome_within even = count_within(room, unknown, costs[k]);
				double full = DL_MAX((double)o.bytes / (double)room.bytes,
						     (double)o.files / (double)room.records);

				cr_expect_float_eq(full, 1, 0.04, "%u: %u, %u: %.3f", k, bytes,
						   records, full);
				cr_expect_geq(o.saved, even.saved * 0.9, "%u: %u, %u: %.3f", k,
					      bytes, records, o.saved / even.saved);
			}
		}
	}
}

/* Where records are scarce and bytes cost, the large ones are kept. */
Test(keep, of_few_records_the_large_ones)
{
	struct keep_room room;
	struct outcome_within o, even;

	make_samples(0.5);
	room = (struct keep_room){ all_bytes, FILES / 10 };
	o = count_within(room, line, line);
	even = count_within(room, unknown, line);
	cr_expect_gt(o.saved, even.saved * 1.8, "%.3f", o.saved / even.saved);
}

static enum keep_wish some_wishes(unsigned i)
{
	return i % 10 == 0 ? KEEP_PINNED : i % 10 == 1 ? KEEP_NEVER : KEEP_IF_ROOM;
}

/* A place that others have taken before is not given back for them. */
Test(keep, the_pinned_find_a_place_when_they_come_last)
{
	const struct keep_cost costs[] = { far, line, unknown };
	struct keep_census *c;
	struct keep_rule *r;

	make_samples(0.5);
	c = take_census_of(some_wishes);
	for (unsigned k = 0; k < DL_COUNT(costs); k++) {
		for (uint64_t records = FILES / 5; records < FILES * 4 / 5; records += 37) {
			uint64_t wanted = 0;

			cr_assert_eq(keep_choose(c, (struct keep_room){ all_bytes, records },
						 costs[k], &r), 0);
			for (unsigned i = 0; i < FILES; i++)
				wanted += keep_wants(r, samples[i].hash, samples[i].size);
			cr_expect_leq(wanted, records, "%u: %ju of %ju", k, (uintmax_t)wanted,
				      (uintmax_t)records);
			cr_expect_geq(wanted, records * 97 / 100);
			keep_rule_free(r);
		}
	}
	keep_census_free(c);
}

Test(keep, pinned_first_and_never_never)
{
	struct keep_census *c;
	struct keep_rule *r;
	uint64_t pinned = 0, kept_pinned = 0, kept_never = 0, kept = 0;

	make_samples(0.5);
	c = take_census_of(some_wishes);
	for (unsigned k = 0; k < 2; k++) {
		uint64_t room = all_bytes / (k ? 20 : 3);

		pinned = kept_pinned = kept_never = kept = 0;
		cr_assert_eq(keep_choose(c, (struct keep_room){ room, UINT64_MAX }, far, &r), 0);
		for (unsigned i = 0; i < FILES; i++) {
			bool wanted = keep_wants(r, samples[i].hash, samples[i].size);

			pinned += i % 10 == 0 ? samples[i].size : 0;
			kept_pinned += i % 10 == 0 && wanted ? samples[i].size : 0;
			kept_never += i % 10 == 1 && wanted;
			kept += wanted ? samples[i].size : 0;
		}
		cr_expect_eq(kept_never, 0);
		cr_expect_float_eq((double)kept_pinned / (double)DL_MIN(pinned, room), 1,
				   0.03);
		cr_expect_float_eq((double)kept / (double)room, 1, 0.02);
		keep_rule_free(r);
	}
	keep_census_free(c);
}

/* --- Epochs ---------------------------------------------------------------------------------- */

struct outcome { double hits, saved; };        /* an epoch, steady */

static void shuffle(unsigned order[FILES])
{
	for (unsigned i = 0; i < FILES; i++)
		order[i] = i;
	random_shuffle(&state, order, FILES);
}

static double saved_by(uint64_t size)
{
	return far.request_ns + far.byte_ns * (double)size;
}

/* A room that takes what the rule wants (NULL: whatever comes first), and lets go of nothing. */
static struct outcome keep_epochs(double part, const struct keep_rule *r)
{
	static bool there[FILES];
	static unsigned order[FILES];
	uint64_t used = 0, room = (uint64_t)((double)all_bytes * part);
	struct outcome last = { 0, 0 };

	memset(there, 0, sizeof(there));
	for (unsigned e = 0; e < EPOCHS; e++) {
		last = (struct outcome){ 0, 0 };
		shuffle(order);
		for (unsigned i = 0; i < FILES; i++) {
			const struct sample *s = &samples[order[i]];

			if (there[order[i]]) {
				last.hits++;
				last.saved += saved_by(s->size);
			} else if (used + s->size <= room &&
				   (!r || keep_wants(r, s->hash, s->size))) {
				there[order[i]] = true;
				used += s->size;
			}
		}
	}
	return last;
}

static struct outcome lru_epochs(double part)
{
	static uint64_t used_at[FILES];
	static unsigned order[FILES];
	uint64_t used = 0, now = 0, room = (uint64_t)((double)all_bytes * part);
	struct outcome last = { 0, 0 };

	memset(used_at, 0, sizeof(used_at));
	for (unsigned e = 0; e < EPOCHS; e++) {
		last = (struct outcome){ 0, 0 };
		shuffle(order);
		for (unsigned i = 0; i < FILES; i++) {
			unsigned id = order[i];

			if (used_at[id]) {
				last.hits++;
				last.saved += saved_by(samples[id].size);
			} else {
				used += samples[id].size;
			}
			used_at[id] = ++now;
			while (used > room) {
				unsigned oldest = FILES;

				for (unsigned k = 0; k < FILES; k++)
					if (used_at[k] && (oldest == FILES ||
							   used_at[k] < used_at[oldest]))
						oldest = k;
				used_at[oldest] = 0;
				used -= samples[oldest].size;
			}
		}
	}
	return last;
}

Test(keep, epochs_have_as_many_hits_as_there_is_room)
{
	const double parts[] = { 0.1, 0.3, 0.5, 0.9 };

	make_samples(0);
	for (unsigned i = 0; i < DL_COUNT(parts); i++) {
		struct keep_rule *r = choose(parts[i], far);
		double hits = keep_epochs(parts[i], r).hits, lru = lru_epochs(parts[i]).hits;

		cr_expect_geq(hits / (parts[i] * FILES), 0.99, "%.1f: %.0f", parts[i], hits);
		cr_expect_gt(hits, lru, "%.1f: %.0f, LRU %.0f", parts[i], hits, lru);
		keep_rule_free(r);
	}
}

Test(keep, of_a_far_source_more_time_is_saved_than_by_first_come)
{
	const double parts[] = { 0.1, 0.3, 0.5, 0.9 };

	make_samples(0.5);
	for (unsigned i = 0; i < DL_COUNT(parts); i++) {
		struct keep_rule *r = choose(parts[i], far);
		double saved = keep_epochs(parts[i], r).saved;
		double first = keep_epochs(parts[i], NULL).saved, lru = lru_epochs(parts[i]).saved;

		cr_expect_geq(saved, first, "%.1f: %.2f of first-come", parts[i], saved / first);
		cr_expect_gt(saved, lru, "%.1f: %.2f of LRU", parts[i], saved / lru);
		keep_rule_free(r);
	}
}

Test(keep, a_rule_is_worth_what_it_saves)
{
	struct keep_census *c;
	struct keep_rule *a, *b;

	make_samples(0.5);
	c = take_census();
	a = choose(0.3, far);
	b = choose(0.3, line);
	cr_expect_gt(keep_saving(c, a, far), 1.2 * keep_saving(c, b, far));
	cr_expect_float_eq(keep_saving(c, a, line) / keep_saving(c, b, line), 1, 0.02);
	keep_rule_free(a);
	keep_rule_free(b);
	keep_census_free(c);
}
