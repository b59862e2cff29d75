#include <ctype.h>
#include <string.h>

#include "config/param.h"

#define HELP_INDENT 8
#define HELP_WIDTH 78

/* A double-quoted YAML string has the escapes of C, and some for what YAML alone minds: the
 * quote, and three more characters that it takes for line ends. */
static const char *const yaml_escapes[][2] = {
	{ "\"", "\\\"" }, { "\xc2\x85", "\\N" }, { "\xe2\x80\xa8", "\\L" },
	{ "\xe2\x80\xa9", "\\P" },
};

/* Append the character at text; returns how many bytes it has there. */
static int print_character(const char *text, struct buf *ret)
{
	int r;

	for (size_t i = 0; i < DL_COUNT(yaml_escapes); i++) {
		size_t len = strlen(yaml_escapes[i][0]);

		if (strncmp(text, yaml_escapes[i][0], len) == 0) {
			r = buf_printf(ret, "%s", yaml_escapes[i][1]);
			return r < 0 ? r : (int)len;
		}
	}
	r = buf_escape(ret, (struct bytes){ text, 1 });
	return r < 0 ? r : 1;
}

static int print_quoted(const char *text, struct buf *ret)
{
	int r = buf_printf(ret, "\"");

	while (r >= 0 && *text) {
		r = print_character(text, ret);
		text += r > 0 ? r : 0;
	}
	return r < 0 ? r : buf_printf(ret, "\"");
}

static int print_list(char *members, struct buf *ret)
{
	int r = buf_printf(ret, "[");

	for (const char *separator = ""; *members && r == 0; separator = ", ") {
		size_t len = strcspn(members, "\n");

		members[len] = '\0';
		r = buf_printf(ret, "%s", separator);
		if (r == 0)
			r = print_quoted(members, ret);
		members += len + 1;
	}
	return r < 0 ? r : buf_printf(ret, "]");
}

static int print_value(const struct param *p, char *value, struct buf *ret)
{
	if (p->kind == PARAM_STRING)
		return print_quoted(value, ret);
	if (p->kind == PARAM_LIST)
		return print_list(value, ret);
	return buf_printf(ret, "%s", value);
}

static int print_setting(const struct config *c, const struct param *p, struct buf *ret)
{
	dl_cleanup(buf_free) struct buf value = BUF_EMPTY;
	int r = buf_printf(ret, "%s: ", p->key);

	if (r == 0)
		r = param_print(c, p, &value);
	return r < 0 ? r : print_value(p, (char *)value.at, ret);
}

int config_print_yaml(const struct config *c, const struct config_note *notes, size_t count,
		      struct buf *ret)
{
	int r = 0;

	for (size_t i = 0; i < param_count && r == 0; i++) {
		r = print_setting(c, &params[i], ret);
		for (size_t j = 0; j < count && r == 0; j++)
			if (strcmp(notes[j].key, params[i].key) == 0)
				r = buf_printf(ret, "  # %s", notes[j].text);
		if (r == 0)
			r = buf_printf(ret, "\n");
	}
	return r;
}

/* What may be written there, in words: "4MiB to 64TiB". */
static int print_values(const struct param *p, struct buf *ret)
{
	switch (p->kind) {
	case PARAM_STRING:
	case PARAM_LIST:
		return buf_printf(ret, "%s", p->unit);
	case PARAM_CHOICE:
		return buf_printf(ret, "%s", p->min);
	default:
		return buf_printf(ret, "%s to %s%s%s", p->min, p->max,
				  p->kind == PARAM_COUNT ? " " : "",
				  p->kind == PARAM_COUNT ? p->unit : "");
	}
}

static const char *or_auto(const struct param *p)
{
	return param_takes_auto(p) ? ", or auto" : "";
}

/* Append text in lines of at most HELP_WIDTH columns. */
static int print_wrapped(const char *text, struct buf *ret)
{
	int r = 0;

	while (*text && r == 0) {
		size_t room = HELP_WIDTH - HELP_INDENT, len = strlen(text);

		if (len > room) {
			len = room;
			while (len > 0 && text[len] != ' ')
				len--;
			if (len == 0)
				len = strcspn(text, " ");
		}
		r = buf_printf(ret, "%*s%.*s\n", HELP_INDENT, "", (int)len, text);
		text += len;
		text += strspn(text, " ");
	}
	return r;
}

static int print_help_of(const struct param *p, struct buf *ret)
{
	int r = buf_printf(ret, "    %s=", p->key);

	if (r == 0)
		r = print_values(p, ret);
	if (r == 0)
		r = buf_printf(ret, "%s%s%s%s\n", or_auto(p), *p->def ? "  (" : "", p->def,
			       *p->def ? ")" : "");
	return r < 0 ? r : print_wrapped(p->help, ret);
}

int config_print_help(struct buf *ret)
{
	int r = 0;

	for (size_t i = 0; i < param_count && r == 0; i++)
		r = print_help_of(&params[i], ret);
	return r;
}

static int print_reference_of(const struct param *p, struct buf *ret)
{
	int r = buf_printf(ret, "\n## `%s`\n\n%s\n\n- values: `", p->key, p->help);

	if (r == 0)
		r = print_values(p, ret);
	if (r == 0)
		r = buf_printf(ret, "`%s\n", or_auto(p));
	if (r == 0)
		r = *p->def ? buf_printf(ret, "- default: `%s`\n", p->def) :
			buf_printf(ret, "- default: none\n");
	return r;
}

int config_print_reference(struct buf *ret)
{
	int r = buf_printf(ret,
		"# Settings\n\n"
		"<!-- Made by `config-doc reference` from params.def; change that file. -->\n\n"
		"Each can stand in a YAML file (`key: value`) and after `-o` (`key=value,…`,\n"
		"where a comma in a value is written `\\,`). What stands later wins, and `-o`\n"
		"stands after the file. [example.yaml](example.yaml) is a file to begin with.\n\n"
		"Sizes: `8MiB` (1024²), `8MB` (1000²), `8M` (1024²), or bytes.\n"
		"Paths: `~/` at the beginning is `$HOME`.\n"
		"Times: `250ms`, `60s`, `10m`, `12h`, `7d`.\n");

	for (size_t i = 0; i < param_count && r == 0; i++)
		r = print_reference_of(&params[i], ret);
	return r;
}

/* Text of a manual page: a backslash, and a point or quote that begins a line, mean something
 * to mdoc; a sentence begins a new line there. */
static int print_man_text(const char *text, struct buf *ret)
{
	int r = 0;

	for (const char *at = text; *at && r == 0; at++) {
		bool starts = at == text || at[-1] == ' ';

		if (*at == '\\')
			r = buf_printf(ret, "\\e");
		else if (starts && (*at == '.' || *at == '\''))
			r = buf_printf(ret, "\\&%c", *at);
		else if (*at == ' ' && at > text && at[-1] == '.' && isalpha((uint8_t)at[1]))
			r = buf_printf(ret, "\n");
		else
			r = buf_append(ret, at, 1);
	}
	return r;
}

static int print_man_of(const struct param *p, struct buf *ret)
{
	int r = buf_printf(ret, ".It Ic %s : Ar %s\n", p->key,
			   p->kind == PARAM_CHOICE ? "word" : p->unit);

	if (r == 0)
		r = print_man_text(p->help, ret);
	if (r == 0)
		r = buf_printf(ret, "\n.br\nValues: ");
	if (r == 0)
		r = print_values(p, ret);
	if (r == 0)
		r = *p->def ? buf_printf(ret, "%s.\nDefault:\n.Ql %s .\n", or_auto(p), p->def) :
			buf_printf(ret, "%s.\nNo default.\n", or_auto(p));
	return r;
}

int config_print_man(struct buf *ret)
{
	int r = buf_printf(ret,
		".\\\" Made by `config-doc man` from config/params.def; change that file.\n"
		".Dd November 28, 2026\n.Dt DLFS.YAML 5\n.Os\n"
		".Sh NAME\n.Nm dlfs.yaml\n.Nd settings of dlfs\n"
		".Sh DESCRIPTION\n"
		"A file of lines\n.Ql \"key: value\" ,\nin YAML.\n"
		"The same settings can follow\n.Fl o\nas\n.Ql key=value ,\n"
		"separated by commas; a comma in a value is written\n.Ql \"\\e,\" .\n"
		"What stands later wins, and\n.Fl o\nstands after the file.\n"
		"Anchors, aliases, tags and second documents are refused.\n.Pp\n"
		"Sizes are written 8MiB (1024 times 1024), 8MB (1000 times 1000), 8M (as MiB) or\n"
		"in bytes, times 250ms, 60s, 10m, 12h or 7d.\n"
		"At the beginning of a path\n.Ql ~/\nis the home directory,\n.Ev HOME .\n"
		".Sh SETTINGS\n.Bl -tag -width Ds\n");

	for (size_t i = 0; i < param_count && r == 0; i++)
		r = print_man_of(&params[i], ret);
	return r < 0 ? r : buf_printf(
		ret, ".El\n.Sh EXAMPLES\n"
		"A dataset for detection: pictures with fewer bytes, of the size that boxes\n"
		"and masks were made for, and masks as they are.\n"
		".Bd -literal -offset indent\n"
		"source: /data/coco\n"
		"mountpoint: /mnt/fast\n"
		"quality_ratio: 0.95\n"
		"recode_match: [train/images, val/images]\n"
		".Ed\n"
		".Sh SEE ALSO\n.Xr dlfs 1\n");
}
