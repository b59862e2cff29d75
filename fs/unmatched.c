#include "fs/unmatched.h"

#include <string.h>

#include "base/log.h"
#include "base/pattern.h"
#include "prefetch/manifest/list.h"

/* Or it is not known, since the server stops: who has millions of files need not wait for this. */
static bool may_match_any(const struct serve *s, const struct list *all, const char *pattern)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;

	for (uint32_t i = 0; i < list_count(all); i++) {
		if (s->stopping)
			return true;
		path.len = 0;
		if (manifest_path(s->manifest, node_of_sample(list_at(all, i)), &path) < 0 ||
		    buf_append(&path, "", 1) < 0 || pattern_matches(pattern, (char *)path.at))
			return true;
	}
	return false;
}

static void look(const struct serve *s, const struct list *all, const char *key,
		 const char *patterns)
{
	dl_cleanup(dl_freep) char *copy = strdup(patterns);
	char *rest = copy, *pattern;

	while ((pattern = strsep(&rest, "\n")) != NULL)
		if (*pattern && !may_match_any(s, all, pattern))
			log_warning("%s: no file of the dataset matches \"%s\"", key, pattern);
}

void unmatched_warn(struct serve *s)
{
	const struct config *c = s->options->config;
	dl_cleanup(list_unrefp) struct list *all = NULL;

	if ((!*c->keep && !*c->never && !*c->recode_match) ||
	    list_new(s->manifest, LIST_ALL, NODE_ROOT, &all) < 0)
		return;
	look(s, all, "keep", c->keep);
	look(s, all, "never", c->never);
	look(s, all, "recode_match", c->recode_match);
}
