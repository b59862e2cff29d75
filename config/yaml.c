/* The subset of YAML that a configuration needs: mappings, scalars, and sequences of them where a
 * setting is a list.  Anchors, aliases, tags and second documents are refused, so no short file can
 * become a large one.
 */
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/file.h"
#include "config/param.h"

#define YAML_TEXT_MAX (1 * MiB)
#define YAML_DEPTH_MAX 8

struct reader {
	yaml_parser_t parser;
	struct config *config;
	struct config_error *error;
	bool *seen;                    /* by parameter */
	/* where we are: "store.path" while the value of path is next */
	char key[PARAM_TEXT_MAX];
	size_t prefix[YAML_DEPTH_MAX]; /* how much of key belongs to the mapping around */
	size_t depth, settings[YAML_DEPTH_MAX];
	bool value_is_next;
	const struct param *list;      /* whose members come; NULL: of none */
	unsigned documents;
};

static void at(struct reader *rd, yaml_mark_t mark)
{
	rd->error->line = (unsigned)mark.line + 1;
	rd->error->column = (unsigned)mark.column + 1;
}

static int refuse_syntax(struct reader *rd)
{
	const yaml_parser_t *p = &rd->parser;

	if (p->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	at(rd, p->problem_mark);
	/* "order: torch: seed=7" */
	if (p->problem && strstr(p->problem, "mapping values are not allowed"))
		return param_refuse(rd->error, "\": \" has no place here; inside a value leave out "
				    "the blank, as in order: torch:seed=7, or quote it");
	if (p->error == YAML_READER_ERROR)
		return param_refuse(rd->error, "not UTF-8 text (%s at byte %zu)", p->problem,
				    p->problem_offset);
	return param_refuse(rd->error, "not YAML: %s%s%s", p->problem ? p->problem : "unreadable",
			    p->context ? " " : "", p->context ? p->context : "");
}

static int take_key(struct reader *rd, const char *text, size_t len)
{
	size_t prefix = rd->prefix[rd->depth - 1];

	if (len == 0 || memchr(text, '\0', len) || prefix + len + 2 > sizeof(rd->key))
		return param_refuse(rd->error, "a key is the name of a setting, such as memory");
	memcpy(rd->key + prefix, text, len);
	rd->key[prefix + len] = '\0';
	rd->settings[rd->depth - 1]++;
	rd->value_is_next = true;
	return 0;
}

/* The setting that the value is for, which has no other. */
static int take_setting(struct reader *rd, yaml_mark_t mark, const struct param **ret)
{
	const struct param *p = param_find(rd->key);

	if (!p)
		return param_unknown(rd->key, rd->error);
	at(rd, mark);
	if (rd->seen[p - params])
		return param_refuse(rd->error, "%s is given twice; keep one of them", p->key);
	rd->seen[p - params] = true;
	*ret = p;
	return 0;
}

static int take_value(struct reader *rd, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	const struct param *p = rd->list;
	int r = p ? 0 : take_setting(rd, event->start_mark, &p);

	if (r < 0)
		return r;
	at(rd, event->start_mark);
	if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	    (*text == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0))
		return param_refuse(rd->error, "%s has no value; its default is \"%s\"", p->key,
				    p->def);
	if (strlen(text) != event->data.scalar.length)
		return param_refuse(rd->error, "%s holds a NUL character", p->key);
	rd->value_is_next = rd->list;
	if (p->kind != PARAM_LIST)
		return param_set(rd->config, p, text, rd->error);
	if (!rd->list && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strchr(text, ','))
		return param_refuse(rd->error, "several patterns are written %s: [a, b]; one that "
				    "has a comma stands in quotes", p->key);
	r = rd->list ? 0 : param_set(rd->config, p, "", rd->error);
	return r < 0 || (!rd->list && !*text) ? r : param_add(rd->config, p, text, rd->error);
}

static int on_sequence(struct reader *rd, const yaml_event_t *event)
{
	const struct param *p = rd->value_is_next ? param_find(rd->key) : NULL;
	int r;

	if (!p || p->kind != PARAM_LIST || rd->list) {
		at(rd, event->start_mark);
		return param_refuse(rd->error, "a list has no place here: write \"key: value\"");
	}
	if (event->data.sequence_start.anchor || event->data.sequence_start.tag)
		return param_refuse(rd->error, "anchors (&) and tags (!) are not used here: "
				    "write the values themselves");
	r = take_setting(rd, event->start_mark, &p);
	rd->list = p;
	return r < 0 ? r : param_set(rd->config, p, "", rd->error);
}

static int on_sequence_end(struct reader *rd)
{
	rd->list = NULL;
	rd->value_is_next = false;
	return 0;
}

static int on_scalar(struct reader *rd, const yaml_event_t *event)
{
	if (event->data.scalar.anchor || event->data.scalar.tag) {
		at(rd, event->start_mark);
		return param_refuse(rd->error, "anchors (&) and tags (!) are not used here: "
				    "write the value itself");
	}
	if (rd->depth == 0) {
		/* A file of comments only is a document with an empty scalar. */
		if (event->data.scalar.length == 0 &&
		    event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
			return 0;
		return param_refuse(rd->error, "settings are written as \"key: value\"");
	}
	if (rd->value_is_next)
		return take_value(rd, event);
	return take_key(rd, (const char *)event->data.scalar.value, event->data.scalar.length);
}

static int on_mapping(struct reader *rd, const yaml_event_t *event)
{
	size_t len = strlen(rd->key);

	if (event->data.mapping_start.anchor || event->data.mapping_start.tag)
		return param_refuse(rd->error, "anchors (&) and tags (!) are not used here: "
				    "write the settings themselves");
	if (rd->depth > 0 && !rd->value_is_next)
		return param_refuse(rd->error, "a key is the name of a setting, such as memory");
	if (rd->list)
		return param_refuse(rd->error, "%s is a list of single values", rd->list->key);
	if (rd->depth > 0 && param_find(rd->key))
		return param_refuse(rd->error, "%s takes one value, not a group of settings",
				    rd->key);
	if (rd->depth == YAML_DEPTH_MAX)
		return param_refuse(rd->error, "settings are nested more than %d deep",
				    YAML_DEPTH_MAX);
	if (rd->depth > 0)
		rd->key[len++] = '.';
	rd->settings[rd->depth] = 0;
	rd->prefix[rd->depth++] = len;
	rd->value_is_next = false;
	return 0;
}

static int on_mapping_end(struct reader *rd)
{
	rd->depth--;
	if (rd->depth == 0 || rd->settings[rd->depth] > 0)
		return 0;
	rd->key[rd->prefix[rd->depth] - 1] = '\0';
	return param_refuse(rd->error, "%.60s holds no setting; remove it", rd->key);
}

static int on_event(struct reader *rd, const yaml_event_t *event)
{
	/* An unknown key is reported where the key is, so a value does not move the position. */
	if (event->type != YAML_SCALAR_EVENT || !rd->value_is_next)
		at(rd, event->start_mark);
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return on_scalar(rd, event);
	case YAML_MAPPING_START_EVENT:
		return on_mapping(rd, event);
	case YAML_MAPPING_END_EVENT:
		return on_mapping_end(rd);
	case YAML_SEQUENCE_START_EVENT:
		return on_sequence(rd, event);
	case YAML_SEQUENCE_END_EVENT:
		return on_sequence_end(rd);
	case YAML_ALIAS_EVENT:
		return param_refuse(rd->error, "aliases (*) are not used here: write the value "
				    "itself");
	case YAML_DOCUMENT_START_EVENT:
		if (++rd->documents > 1)
			return param_refuse(rd->error, "a second document (---); join the two");
		return 0;
	default:
		return 0;
	}
}

static int read_events(struct reader *rd)
{
	yaml_event_t event;
	bool end = false;
	int r = 0;

	while (r == 0 && !end) {
		if (!yaml_parser_parse(&rd->parser, &event))
			return refuse_syntax(rd);
		r = on_event(rd, &event);
		end = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	return r;
}

int config_parse_yaml(struct config *c, struct bytes yaml, struct config_error *reterr)
{
	dl_cleanup(config_freep) struct config *changed = NULL;
	dl_cleanup(dl_freep) struct reader *rd = calloc(1, sizeof(*rd));
	dl_cleanup(dl_freep) bool *seen = calloc(param_count, sizeof(*seen));
	static const char mark[] = { '\xef', '\xbb', '\xbf' };  /* that some editors begin with */
	int r;

	*reterr = (struct config_error){ 0 };
	if (!rd || !seen)
		return -ENOMEM;
	/* libyaml, told the encoding, would take it for a character. */
	if (yaml.len >= sizeof(mark) && memcmp(yaml.at, mark, sizeof(mark)) == 0)
		yaml = (struct bytes){ (const char *)yaml.at + sizeof(mark),
				       yaml.len - sizeof(mark) };
	if (yaml.len > YAML_TEXT_MAX)
		return param_refuse(reterr, "longer than 1MiB: not a configuration");
	r = config_copy(c, &changed);
	if (r < 0)
		return r;
	if (!yaml_parser_initialize(&rd->parser))
		return -ENOMEM;
	yaml_parser_set_encoding(&rd->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&rd->parser, yaml.at ? yaml.at : (const void *)"", yaml.len);
	rd->config = changed;
	rd->error = reterr;
	rd->seen = seen;
	r = read_events(rd);
	yaml_parser_delete(&rd->parser);
	if (r == 0)
		config_swap(c, changed);
	return r;
}

int config_load(struct config *c, const char *path, struct config_error *reterr)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	struct config_error e;
	int r;

	*reterr = (struct config_error){ 0 };
	r = file_read(path, YAML_TEXT_MAX + 1, &text);
	if (r < 0) {
		param_refuse(reterr, "%.120s: %s", path, strerror(-r));
		return r;
	}
	r = config_parse_yaml(c, (struct bytes){ text.at, text.len }, &e);
	*reterr = e;
	if (r == -ENOMEM)
		param_refuse(reterr, "%.120s: %s", path, strerror(ENOMEM));
	else if (r < 0 && e.line > 0)
		snprintf(reterr->text, sizeof(reterr->text), "%.90s:%u:%u: %.140s", path, e.line,
			 e.column, e.text);
	else if (r < 0)
		snprintf(reterr->text, sizeof(reterr->text), "%.90s: %.140s", path, e.text);
	return r;
}
