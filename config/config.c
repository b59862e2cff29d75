#include "config/config.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/edits.h"
#include "base/pattern.h"
#include "config/param.h"
#include "config/units.h"

#define STRING PARAM_STRING
#define SIZE PARAM_SIZE
#define COUNT PARAM_COUNT
#define TIME PARAM_TIME
#define CHOICE PARAM_CHOICE
#define LIST PARAM_LIST
#define RATIO PARAM_RATIO

const struct param params[] = {
#define PARAM(field, ctype, key, kind, def, min, max, unit, help) \
	{ key, kind, def, min, max, unit, help, offsetof(struct config, field) },
#include "config/params.def"
#undef PARAM
};
const size_t param_count = DL_COUNT(params);

/* A choice is stored through an int, whatever its enum is called. */
_Static_assert(sizeof(enum config_observe) == sizeof(int), "enum of another size");
_Static_assert(sizeof(enum config_verify) == sizeof(int), "enum of another size");
_Static_assert(sizeof(enum config_log) == sizeof(int), "enum of another size");
_Static_assert(sizeof(enum config_png) == sizeof(int), "enum of another size");

/* Shells expand ~ at the beginning of a word only, and nobody does in a file. */
static int set_path(char **at, const char *value)
{
	const char *home = getenv("HOME");
	char *path;
	int r;

	if (strncmp(value, "~/", 2) != 0 || !home || !*home)
		return param_set_string(at, value);
	if (asprintf(&path, "%s%s", home, value + 1) < 0)
		return -ENOMEM;
	r = param_set_string(at, path);
	free(path);
	return r;
}

static void *field(const struct config *c, const struct param *p)
{
	return (char *)(uintptr_t)c + p->offset;
}

const struct param *param_find(const char *key)
{
	for (size_t i = 0; i < param_count; i++)
		if (strcmp(params[i].key, key) == 0)
			return &params[i];
	return NULL;
}

bool param_takes_auto(const struct param *p)
{
	return !param_is_text(p) && p->kind != PARAM_CHOICE && strcmp(p->def, "auto") == 0;
}

int param_set_string(char **at, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return -ENOMEM;
	free(*at);
	*at = copy;
	return 0;
}

static int set_choice(void *at, const struct param *p, const char *value,
		      struct config_error *reterr)
{
	size_t len = strlen(value);
	const char *word = p->min;

	for (int i = 0; word; i++) {
		size_t n = strcspn(word, "|");

		if (n == len && memcmp(word, value, n) == 0) {
			memcpy(at, &i, sizeof(i));
			return 0;
		}
		word = word[n] ? word + n + 1 : NULL;
	}
	return param_refuse(reterr, "%s is one of %s, not \"%.60s\"", p->key, p->min, value);
}

static int parse_number(enum param_kind kind, const char *text, uint64_t *ret)
{
	if (kind == PARAM_SIZE)
		return units_size(text, ret);
	return kind == PARAM_TIME ? units_time(text, ret) : units_count(text, ret);
}

static const char *number_like(enum param_kind kind)
{
	if (kind == PARAM_SIZE)
		return "a size, such as 8MiB or 1.5GB";
	return kind == PARAM_TIME ? "a time with its unit, such as 250ms or 60s" :
		"a whole number, such as 64";
}

static int set_number(uint64_t *at, const struct param *p, const char *value,
		      struct config_error *reterr)
{
	const char *or_auto = param_takes_auto(p) ? ", or auto" : "";
	uint64_t n = 0, min = 0, max = 0;
	int r;

	if (param_takes_auto(p) && strcmp(value, "auto") == 0) {
		*at = 0;
		return 0;
	}
	r = parse_number(p->kind, p->min, &min);
	assert(r == 0);
	r = parse_number(p->kind, p->max, &max);
	assert(r == 0);
	r = parse_number(p->kind, value, &n);
	if (r < 0 && r != -ERANGE)
		return param_refuse(reterr, "%s is %s, from %s to %s%s, not \"%.60s\"", p->key,
				    number_like(p->kind), p->min, p->max, or_auto, value);
	if (r == -ERANGE || n < min || n > max)
		return param_refuse(reterr, "%s is from %s to %s%s, not %.60s%s", p->key, p->min,
				    p->max, or_auto, value, p->kind == PARAM_SIZE &&
				    !value[strspn(value, "0123456789")] ?
				    " bytes; write 8GiB, 8MiB or the like" : "");
	*at = n;
	return 0;
}

int param_add(struct config *c, const struct param *p, const char *member,
	      struct config_error *reterr)
{
	const char *problem = pattern_problem(member);
	char **at = field(c, p), *longer;

	if (problem)
		return param_refuse(reterr, "%s: \"%.60s\": %s", p->key, member, problem);
	if (asprintf(&longer, "%s%s\n", *at, member) < 0)
		return -ENOMEM;
	free(*at);
	*at = longer;
	return 0;
}

static int set_list(struct config *c, const struct param *p, const char *value,
		    struct config_error *reterr)
{
	char member[PARAM_TEXT_MAX];
	int r = param_set_string(field(c, p), "");

	while (*value && r == 0) {
		size_t len = strcspn(value, ",");

		snprintf(member, sizeof(member), "%.*s", (int)len, value);
		r = len < sizeof(member) ? param_add(c, p, member, reterr) :
			param_refuse(reterr, "%s: a pattern is shorter than a path may be", p->key);
		value += len + (value[len] == ',');
	}
	return r;
}

/* A decimal number with a point, whatever the locale says. */
static int set_ratio(double *at, const struct param *p, const char *value,
		     struct config_error *reterr)
{
	uint64_t millionths, min = 0, max = 0;
	int r = units_ratio(p->min, &min);

	assert(r == 0);
	r = units_ratio(p->max, &max);
	assert(r == 0);
	r = units_ratio(value, &millionths);
	if (r < 0 || millionths < min || millionths > max)
		return param_refuse(reterr, "%s is from %s to %s, such as 0.95, not \"%.60s\"",
				    p->key, p->min, p->max, value);
	*at = (double)millionths / 1e6;
	return 0;
}

int param_set(struct config *c, const struct param *p, const char *value,
	      struct config_error *reterr)
{
	if (p->kind == PARAM_STRING && strlen(value) >= PARAM_TEXT_MAX)
		return param_refuse(reterr, "%s is longer than %d bytes", p->key,
				    PARAM_TEXT_MAX - 1);
	if (p->kind == PARAM_STRING)
		return strcmp(p->unit, "path") == 0 ? set_path(field(c, p), value) :
			param_set_string(field(c, p), value);
	if (p->kind == PARAM_LIST)
		return set_list(c, p, value, reterr);
	if (p->kind == PARAM_CHOICE)
		return set_choice(field(c, p), p, value, reterr);
	if (p->kind == PARAM_RATIO)
		return set_ratio(field(c, p), p, value, reterr);
	return set_number(field(c, p), p, value, reterr);
}

int param_refuse(struct config_error *reterr, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reterr->text, sizeof(reterr->text), format, args);
	va_end(args);
	return -EINVAL;
}

#define BEGINNING 3                    /* letters that say which one was meant */

int param_unknown(const char *key, struct config_error *reterr)
{
	const char *nearest = NULL;
	size_t least = DL_MAX((size_t)2, strlen(key) / 3) + 1;

	if (param_is_flag(key))
		return param_refuse(reterr, "\"%s\" is not a setting with a value; it stands alone "
				    "after -o", key);
	for (size_t i = 0; i < param_count; i++) {
		const char *group = params[i].key;
		size_t len = strlen(key), n = edits(key, group);

		/* "store" is the name of a group. */
		if (len > 0 && strncmp(group, key, len) == 0 && group[len] == '.')
			n = 0;
		else if (len >= BEGINNING && strncmp(group, key, len) == 0)
			n = DL_MIN(n, (size_t)1);
		if (n < least) {
			least = n;
			nearest = params[i].key;
		}
	}
	if (nearest)
		return param_refuse(reterr, "there is no setting \"%.60s\"; did you mean %s?", key,
				    nearest);
	return param_refuse(reterr, "there is no setting \"%.60s\"; `dlfs mount --help` and "
			    "dlfs.yaml(5) list them all", key);
}

int config_new(struct config **ret)
{
	dl_cleanup(config_freep) struct config *c = calloc(1, sizeof(*c));
	struct config_error e;

	if (!c)
		return -ENOMEM;
	for (size_t i = 0; i < param_count; i++) {
		int r = param_set(c, &params[i], params[i].def, &e);

		assert(r == 0 || r == -ENOMEM);
		if (r < 0)
			return r;
	}
	*ret = DL_TAKE(c);
	return 0;
}

void config_free(struct config *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < param_count; i++)
		if (param_is_text(&params[i]))
			free(*(char **)field(c, &params[i]));
	free(c->fsname);
	free(c->subtype);
	free(c);
}

static int copy_strings(struct config *copy, const struct config *c)
{
	int r = 0;

	for (size_t i = 0; i < param_count && r == 0; i++)
		if (param_is_text(&params[i]))
			r = param_set_string(field(copy, &params[i]),
					     *(char **)field(c, &params[i]));
	if (r == 0 && c->fsname)
		r = param_set_string(&copy->fsname, c->fsname);
	if (r == 0 && c->subtype)
		r = param_set_string(&copy->subtype, c->subtype);
	return r;
}

int config_copy(const struct config *c, struct config **ret)
{
	dl_cleanup(config_freep) struct config *copy = malloc(sizeof(*copy));
	int r;

	if (!copy)
		return -ENOMEM;
	*copy = *c;
	for (size_t i = 0; i < param_count; i++)
		if (param_is_text(&params[i]))
			*(char **)field(copy, &params[i]) = NULL;
	copy->fsname = copy->subtype = NULL;
	r = copy_strings(copy, c);
	if (r < 0)
		return r;
	*ret = DL_TAKE(copy);
	return 0;
}

void config_swap(struct config *a, struct config *b)
{
	struct config c = *a;

	*a = *b;
	*b = c;
}

int config_set(struct config *c, const char *key, const char *value, struct config_error *reterr)
{
	const struct param *p = param_find(key);

	reterr->line = reterr->column = 0;
	return p ? param_set(c, p, value, reterr) : param_unknown(key, reterr);
}

static const char *choice_word(const struct param *p, int chosen, size_t *ret_len)
{
	const char *word = p->min;

	while (chosen-- > 0)
		word += strcspn(word, "|") + 1;
	*ret_len = strcspn(word, "|");
	return word;
}

int param_print(const struct config *c, const struct param *p, struct buf *ret)
{
	uint64_t number;
	char text[32];
	const char *word;
	size_t len;

	if (param_is_text(p))
		return buf_printf(ret, "%s", *(char **)field(c, p));
	if (p->kind == PARAM_CHOICE) {
		word = choice_word(p, *(int *)field(c, p), &len);
		return buf_append(ret, word, len);
	}
	if (p->kind == PARAM_RATIO)
		return buf_printf(ret, "%s", units_print_ratio(*(double *)field(c, p), text));
	number = *(uint64_t *)field(c, p);
	if (number == 0 && param_takes_auto(p))
		return buf_printf(ret, "auto");
	if (p->kind == PARAM_SIZE)
		return buf_printf(ret, "%s", units_print_size(number, text));
	if (p->kind == PARAM_TIME)
		return buf_printf(ret, "%s", units_print_time(number, text));
	return buf_printf(ret, "%llu", (unsigned long long)number);
}
