/* The table of settings, for the files of this folder. */
#pragma once
#include "config/config.h"

enum param_kind { PARAM_STRING, PARAM_SIZE, PARAM_COUNT, PARAM_TIME, PARAM_CHOICE, PARAM_LIST,
		  PARAM_RATIO };

struct param {
	const char *key;
	enum param_kind kind;
	const char *def, *min, *max;   /* of a choice, min holds the words: "a|b|c" */
	const char *unit, *help;
	size_t offset;                 /* in struct config */
};
extern const struct param params[];
extern const size_t param_count;

/* Longest value, key or word that is read anywhere: a path. */
#define PARAM_TEXT_MAX 4096

const struct param *param_find(const char *key);           /* NULL: there is none */
/* Whether "auto" is a number here: "find it out", kept as 0. */
bool param_takes_auto(const struct param *p);
/* Of a list all members, separated by commas. */
int param_set(struct config *c, const struct param *p, const char *value,
	      struct config_error *reterr) DL_MUST_CHECK;
/* One more member of a list. */
int param_add(struct config *c, const struct param *p, const char *member,
	      struct config_error *reterr) DL_MUST_CHECK;
static inline bool param_is_text(const struct param *p)
{
	return p->kind == PARAM_STRING || p->kind == PARAM_LIST;
}
/* Put a copy of value in the place of *at; -ENOMEM: nothing has changed. */
int param_set_string(char **at, const char *value) DL_MUST_CHECK;
/* Whether it is a word without a value among the options. */
bool param_is_flag(const char *word);
/* Always -EINVAL, with a text that names the nearest known key, if one is near. */
int param_unknown(const char *key, struct config_error *reterr) DL_MUST_CHECK;
/* Always -EINVAL; leaves line and column as they are. */
int param_refuse(struct config_error *reterr, const char *format, ...) DL_PRINTF(2, 3);
/* The value in force as it is written in a file, without quotes. */
int param_print(const struct config *c, const struct param *p, struct buf *ret) DL_MUST_CHECK;

/* Settings are read into a copy, so that a failure changes nothing. */
int config_copy(const struct config *c, struct config **ret) DL_MUST_CHECK;
void config_swap(struct config *a, struct config *b);
static inline void config_freep(struct config **c) { config_free(*c); }
