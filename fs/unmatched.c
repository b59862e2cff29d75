#include "fs/unmatched.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/pattern.h"
#include "prefetch/manifest/list.h"

#define MOMENT_NS (CLOCK_S / 4)
#define LOOK_US 1000

/* Or it is not known, since the server stops: who has millions of files need not wait for this. */
static bool may_match_any(const struct serve *s, const struct list *all, const char *pattern)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;

	for (uint32_t i = 0; i < list_count(all); i++) {
		if (s->stopping)
			return true;
		path.len = 0;
		if (manifest_path(s->manifest, node_of_sample(list_at(all, i)), &path) < 0 ||
		    pattern_matches(pattern, (char *)path.at))
			return true;
	}
	return false;
}

static void say(struct serve *s, const char *key, const char *pattern)
{
	char text[sizeof(s->unmatched)];

	snprintf(text, sizeof(text), "%s: no file of the dataset matches \"%.150s\"", key,
		 pattern);
	log_warning("%s", text);
	if (!*s->unmatched)
		memcpy(s->unmatched, text, sizeof(text));
}

static void look(struct serve *s, const struct list *all, const char *key, const char *patterns)
{
	dl_cleanup(dl_freep) char *copy = strdup(patterns);
	char *rest = copy, *pattern;

	while ((pattern = strsep(&rest, "\n")) != NULL)
		if (*pattern && !may_match_any(s, all, pattern))
			say(s, key, pattern);
}

static bool has_patterns(const struct config *c)
{
	return *c->keep || *c->never || *c->recode_match;
}

void unmatched_warn(struct serve *s)
{
	const struct config *c = s->options->config;
	dl_cleanup(list_unrefp) struct list *all = NULL;

	if (!has_patterns(c) || list_new(s->manifest, LIST_ALL, NODE_ROOT, &all) < 0)
		return;
	look(s, all, "keep", c->keep);
	look(s, all, "never", c->never);
	look(s, all, "recode_match", c->recode_match);
	s->matched = true;
}

void unmatched_note(struct serve *s, char *ret, size_t size)
{
	uint64_t deadline = clock_now() + MOMENT_NS;

	while (has_patterns(s->options->config) && !s->matched && clock_now() < deadline)
		usleep(LOOK_US);
	snprintf(ret, size, "%s", s->matched ? s->unmatched : "");
}
