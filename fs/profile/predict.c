#include "fs/profile/predict.h"

/* Workers decode side by side; fetching and recoding take what they leave of all cores.
 *
 * Or more: of two groups, one of w workers and one of c threads that code, each core gives the
 * workers the part (1/w) / (1/w + 1/c) = c / (c + w) as long as both want it.  So there are c * c /
 * (c + w) cores to recode, and all of that time each worker lacks w / (c + w).
 */
static double prepare_time(const struct predict_case *c, double misses)
{
	double work = c->files * (c->decode + c->prepare);
	double others = misses * (c->recode + c->fetch);
	double hands = DL_MIN(c->cores, c->workers);
	double lacked = c->apart && c->recode > 0 ? others * hands / c->cores / c->cores : 0;

	return DL_MAX(work / hands + lacked, (work + others) / c->cores);
}

struct prediction predict(const struct predict_case *c)
{
	struct prediction p = { 0 };
	double need = c->files * c->cost, misses, two;

	if (!c->first)
		p.hits = need > c->cache ? c->cache / need : 1;
	misses = c->files * (1 - p.hits);
	p.compute = c->start + c->files * c->receive;
	if (c->step_rate > 0)
		p.compute += c->files / c->step_rate;
	p.prepare = c->start + prepare_time(c, misses);
	p.fetch = misses / c->fetch_rate;
	two = DL_MAX(p.compute, p.prepare);
	p.epoch = DL_MAX(two, p.fetch);
	p.prepare_stall = two - p.compute;
	p.fetch_stall = p.epoch - two;
	p.bound = p.fetch_stall > 0 ? PREDICT_FETCH :
		  p.prepare_stall > 0 ? PREDICT_PREPARE : PREDICT_COMPUTE;
	return p;
}

const char *predict_bound_name(enum predict_bound bound)
{
	static const char *const names[] = { "training step", "decoding", "source" };

	return names[bound];
}
