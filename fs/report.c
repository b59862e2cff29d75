#include "fs/report.h"

#include "base/clock.h"
#include "fs/control.h"
#include "fs/watch.h"

static void look(struct serve *s, struct report *ret)
{
	const struct serve_options *o = s->options;

	*ret = (struct report){
		.stats = s->stats, .version = DLFS_VERSION, .source = o->config->source,
		.mountpoint = o->mountpoint,
		.observe = s->watch && s->watch->ops ? s->watch->ops->name : "off",
		.pid = (uint64_t)getpid(), .memory = o->memory,
		.uptime_ns = clock_now() - control_started(s->control),
	};
	engine_report(s->engine, &ret->engine);
	tier_report(s);
}

int report_json(struct serve *s, struct buf *ret)
{
	struct report r;

	look(s, &r);
	return report_print_json(&r, ret);
}

int report_metrics(struct serve *s, struct buf *ret)
{
	struct report r;

	look(s, &r);
	return report_print_metrics(&r, ret);
}
