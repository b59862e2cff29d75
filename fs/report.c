#include "fs/report.h"

#include <stdio.h>

#include "base/clock.h"
#include "config/units.h"
#include "fs/command.h"
#include "fs/control.h"
#include "fs/watch/watch.h"

/* Reasons that are alike are told together. */
static void look_served(struct serve *s)
{
	struct served_report r = served_report(s->served);
	struct stats *to = s->stats;
	uint64_t kind = 0;

	for (unsigned i = RECODE_OFF; i < RECODE_REASONS; i++)
		kind += r.as_it_is[i];
	kind -= r.as_it_is[RECODE_NO_GAIN] + r.as_it_is[RECODE_DAMAGED] +
		r.as_it_is[RECODE_LIMITS] + r.as_it_is[RECODE_NO_MEMORY] +
		r.as_it_is[RECODE_UNREADABLE];
	stats_set(&to->recode_memory, served_room(s->served));
	stats_set(&to->recoded, r.coded);
	stats_set(&to->recoded_bytes, r.coded_bytes);
	stats_set(&to->recoded_source_bytes, r.source_bytes);
	stats_set(&to->recoded_decode_ns, r.decode_ns);
	stats_set(&to->recoded_source_decode_ns, r.source_decode_ns);
	stats_set(&to->as_is_no_gain, r.as_it_is[RECODE_NO_GAIN]);
	stats_set(&to->as_is_damaged, r.as_it_is[RECODE_DAMAGED]);
	stats_set(&to->as_is_kind, kind);
	stats_set(&to->as_is_limits, r.as_it_is[RECODE_LIMITS] + r.as_it_is[RECODE_NO_MEMORY]);
	stats_set(&to->as_is_unreadable, r.as_it_is[RECODE_UNREADABLE]);
}

struct report_texts { char store[80], asked[COMMAND_TEXT], refused[COMMAND_TEXT]; };

static const char *name_of_watch(const struct serve *s)
{
	return s->watch && s->watch->ops ? s->watch->ops->name : "off";
}

static int look(struct serve *s, struct report_texts *texts, struct report *ret)
{
	const struct serve_options *o = s->options;

	*ret = (struct report){
		.stats = s->stats, .version = DLFS_VERSION, .source = o->config->source,
		.mountpoint = o->mountpoint,
		.observe = name_of_watch(s),
		.pid = (uint64_t)getpid(), .memory = o->memory,
		.uptime_ns = clock_now() - control_started(s->control),
	};
	tier_problem(s, texts->store);
	command_refused(s, texts->asked, texts->refused);
	ret->store_problem = texts->store;
	ret->asked = texts->asked;
	ret->refused = texts->refused;
	/* Also while it is looked through for the first time. */
	stats_set(&s->stats->samples, manifest_usage(s->manifest).files);
	tier_report(s);
	look_served(s);
	return engine_report(s->engine, &ret->engine);
}

int report_json(struct serve *s, struct buf *ret)
{
	struct report_texts texts;
	struct report r;
	int error = look(s, &texts, &r);

	return error < 0 ? error : report_print_json(&r, ret);
}

int report_metrics(struct serve *s, struct buf *ret)
{
	struct report_texts texts;
	struct report r;
	int error = look(s, &texts, &r);

	return error < 0 ? error : report_print_metrics(&r, ret);
}

int report_config(struct serve *s, struct buf *ret)
{
	const struct config *c = s->options->config;
	struct config_note notes[5];
	size_t count = 0;
	char size[32];

	if (c->memory == 0) {
		notes[count].key = "memory";
		snprintf(notes[count++].text, sizeof(notes->text), "%s",
			 units_human_size(s->options->memory, size));
	}
	if (c->lead == 0) {
		notes[count].key = "lead";
		snprintf(notes[count++].text, sizeof(notes->text), "%llu now",
			 (unsigned long long)stats_get(&s->stats->lead_target));
	}
	if (c->observe == OBSERVE_AUTO) {
		notes[count].key = "observe";
		snprintf(notes[count++].text, sizeof(notes->text), "%s", name_of_watch(s));
	}
	if (c->threads == 0) {
		notes[count].key = "threads";
		snprintf(notes[count++].text, sizeof(notes->text), "%u", s->threads);
	}
	if (c->store_size == 0 && s->tier.disk) {
		notes[count].key = "store.size";
		snprintf(notes[count++].text, sizeof(notes->text), "%s",
			 units_human_size(s->tier.limit, size));
	}
	return config_print_yaml(c, notes, count, ret);
}
