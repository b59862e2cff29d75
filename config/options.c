#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/edits.h"
#include "config/param.h"

/* What mount(8), fstab(5) and systemd put among the options.  dlfs is read-only, without
 * devices or set-uid programs, and keeps no access times, whatever these say; "rw" is what
 * mount(8) writes when nothing was asked for. */
static const char *const not_for_us[] = {
	"ro", "rw", "defaults", "auto", "noauto", "nofail", "_netdev", "user", "nouser", "users",
	"owner", "group", "user=*", "comment=*", "x-*", "X-*", "silent", "loud",
	"suid", "nosuid", "dev", "nodev", "exec", "noexec", "sync", "async", "dirsync",
	"atime", "noatime", "diratime", "nodiratime", "relatime", "norelatime",
	"strictatime", "nostrictatime", "lazytime", "nolazytime", "mand", "nomand",
	"iversion", "noiversion",
};

static const struct {
	const char *word;
	size_t offset;
	bool value;
} flags[] = {
	{ "allow_other", offsetof(struct config, allow_other), true },
	{ "allow_root", offsetof(struct config, allow_root), true },
	{ "nonempty", offsetof(struct config, nonempty), true },
	{ "no_default_permissions", offsetof(struct config, no_default_permissions), true },
	{ "default_permissions", offsetof(struct config, no_default_permissions), false },
};

static bool is_not_for_us(const char *word)
{
	for (size_t i = 0; i < DL_COUNT(not_for_us); i++)
		if (fnmatch(not_for_us[i], word, FNM_NOESCAPE) == 0)
			return true;
	return false;
}

bool param_is_flag(const char *word)
{
	for (size_t i = 0; i < DL_COUNT(flags); i++)
		if (strcmp(flags[i].word, word) == 0)
			return true;
	return false;
}

bool config_has(const char *key)
{
	return param_find(key) || param_is_flag(key);
}

static bool set_flag(struct config *c, const char *word)
{
	for (size_t i = 0; i < DL_COUNT(flags); i++) {
		if (strcmp(flags[i].word, word) == 0) {
			*(bool *)((char *)c + flags[i].offset) = flags[i].value;
			return true;
		}
	}
	return false;
}

static int set_name(char **at, const char *key, const char *value, struct config_error *reterr)
{
	return *value ? param_set_string(at, value) : param_refuse(reterr, "%s= needs a name", key);
}

static int set_pair(struct config *c, const char *key, const char *value,
		    struct config_error *reterr)
{
	if (strcmp(key, "fsname") == 0)
		return set_name(&c->fsname, key, value, reterr);
	if (strcmp(key, "subtype") == 0)
		return set_name(&c->subtype, key, value, reterr);
	return config_set(c, key, value, reterr);
}

/* The word of an order's spec (prefetch/order/order.h) that it is, or nearly is; or NULL. */
static const char *order_word(const char *word)
{
	static const char *const words[] = {
		"seed", "epoch", "epochs", "world", "ranks", "drop_last", "root", "piece",
		"reservoir",
	};

	for (size_t i = 0; i < DL_COUNT(words); i++)
		if (strcmp(word, words[i]) == 0)
			return words[i];
	for (size_t i = 0; i < DL_COUNT(words); i++)
		if (edits(word, words[i]) <= 1)
			return words[i];
	return NULL;
}

/* Its words begin after a colon, and have commas between them, which are not those of -o. */
static int refuse_order(const struct config *c, const char *word, const char *value,
			struct config_error *reterr)
{
	const char *order = strcmp(c->order, "auto") == 0 ? "..." : c->order;
	bool first = strcmp(order, "...") != 0 && !strchr(order, ':');

	if (strcmp(order, "...") == 0 && strcmp(word, "seed") == 0)
		return param_refuse(reterr, "\"seed\" belongs to order: write -o order=torch:seed="
				    "%.60s", value && *value ? value : "S");
	return param_refuse(reterr, "\"%s\" belongs to order: write %s -o 'order=%.80s%s%s%s%.60s'",
			    word, first ? "it after a colon:" :
			    "its comma as \\, and quote it:", order, first ? ":" : "\\,", word,
			    value ? "=" : "", value ? value : "");
}

/* A word that nothing here knows: 0 if it is none of an order either. */
static int refuse_if_of_order(const struct config *c, const char *given, const char *value,
			      struct config_error *reterr)
{
	const char *word = order_word(given);
	struct config_error unknown = { 0 };

	if (!word || param_find(given))
		return 0;
	/* One letter is wrong, and perhaps a setting was meant. */
	if (strcmp(word, given) != 0 && param_unknown(given, &unknown) == -EINVAL &&
	    strstr(unknown.text, "did you mean"))
		return 0;
	return refuse_order(c, word, value, reterr);
}

static int refuse_word(const char *word, struct config_error *reterr)
{
	const struct param *p = param_find(word);
	struct config_error unknown = { 0 };

	if (strcmp(word, "remount") == 0)
		return param_refuse(reterr, "remount is not possible: unmount, then mount again");
	if (p)
		return param_refuse(reterr, "%s needs a value: %s=%s", word, word,
				    p->kind == PARAM_CHOICE ? p->min : *p->def ? p->def : p->unit);
	if (param_unknown(word, &unknown) == -EINVAL && strstr(unknown.text, "did you mean"))
		return param_refuse(reterr, "%s", unknown.text);
	return param_refuse(reterr, "there is no option \"%.60s\"; `dlfs mount --help` lists them; "
			    "a comma inside a value is written \\,", word);
}

static int set_word(struct config *c, char *word, struct config_error *reterr)
{
	char *equals = strchr(word, '=');
	size_t len;
	int r;

	if (!*word || is_not_for_us(word) || set_flag(c, word))
		return 0;
	if (equals)
		*equals = '\0';
	r = refuse_if_of_order(c, word, equals ? equals + 1 : NULL, reterr);
	if (r < 0)
		return r;
	if (!equals)
		return refuse_word(word, reterr);
	r = set_pair(c, word, equals + 1, reterr);
	/* "keep=a,b=c": the comma was meant to belong to the value. */
	len = strlen(reterr->text);
	if (r == -EINVAL && !param_find(word) && !strstr(reterr->text, "did you mean") &&
	    strcmp(word, "fsname") != 0 && strcmp(word, "subtype") != 0)
		snprintf(reterr->text + len, sizeof(reterr->text) - len,
			 " (a comma inside a value is written \\,)");
	return r;
}

/* Copy the next option to word without its escapes; returns where it ends. */
static const char *next_word(const char *from, char *word)
{
	while (*from && *from != ',') {
		if (from[0] == '\\' && (from[1] == ',' || from[1] == '\\'))
			from++;
		*word++ = *from++;
	}
	*word = '\0';
	return from;
}

int config_parse_options(struct config *c, const char *options, struct config_error *reterr)
{
	dl_cleanup(config_freep) struct config *changed = NULL;
	dl_cleanup(dl_freep) char *word = malloc(strlen(options) + 1);
	int r;

	*reterr = (struct config_error){ 0 };
	if (!word)
		return -ENOMEM;
	r = config_copy(c, &changed);
	if (r < 0)
		return r;
	for (;;) {
		options = next_word(options, word);
		r = set_word(changed, word, reterr);
		if (r < 0)
			return r;
		if (!*options)
			break;
		options++;
	}
	config_swap(c, changed);
	return 0;
}
