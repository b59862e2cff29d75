/* The whole configuration, parsed and checked.  A struct config that exists is valid: no
 * code outside config/ ever checks a range again.
 *
 * Thread-safety: none while it is changed; read by all afterwards.
 */
#pragma once
#include "base/buf.h"

enum config_observe { OBSERVE_AUTO, OBSERVE_FANOTIFY, OBSERVE_INOTIFY, OBSERVE_OPEN, OBSERVE_OFF };
enum config_verify { VERIFY_MOUNT, VERIFY_TTL, VERIFY_NEVER };
enum config_zstd { CONFIG_ZSTD_AUTO, CONFIG_ZSTD_OFF, CONFIG_ZSTD_LEVEL };     /* 1, and so on */
enum config_png { PNG_OFF, PNG_FAST };
enum config_log { CONFIG_LOG_ERROR, CONFIG_LOG_WARNING, CONFIG_LOG_INFO, CONFIG_LOG_DEBUG };

struct config {
#define PARAM(field, ctype, ...) ctype field;
#include "config/params.def"
#undef PARAM
	/* Words of -o that are mount(8)'s or FUSE's, kept for the mount itself. */
	bool allow_other, allow_root, no_default_permissions, nonempty;
	char *fsname, *subtype;        /* or NULL; owned */
};

/* Where and why something was refused; line 0: not from a file.  The text says what would
 * be right. */
struct config_error {
	unsigned line, column;
	char text[256];
};

int config_new(struct config **ret) DL_MUST_CHECK;      /* all defaults */
void config_free(struct config *c);    /* NULL is fine */

/* Text, not a file: tests and fuzzers have no files.  Later settings win.  On failure *c is
 * unchanged.  -EINVAL, -ENOMEM. */
int config_parse_yaml(struct config *c, struct bytes yaml, struct config_error *reterr)
	DL_MUST_CHECK;
/* Reads the file.  As config_parse_yaml(), and the error of reading it (-ENOENT, …).  reterr->text
 * says all: "FILE:LINE:COLUMN: what would be right". */
int config_load(struct config *c, const char *path, struct config_error *reterr) DL_MUST_CHECK;
/* "memory=8MiB,order=list:a\,b,allow_other,_netdev": words of mount(8) and systemd that are
 * not for us (ro, rw, nofail, _netdev, noauto, user, defaults, x-…, comment=…, nosuid, …) are
 * dropped.  Line and column stay 0. */
int config_parse_options(struct config *c, const char *options, struct config_error *reterr)
	DL_MUST_CHECK;
/* Whether it is a setting, or a word such as allow_other. */
bool config_has(const char *key);
/* One setting; -EINVAL, -ENOMEM (without a text). */
int config_set(struct config *c, const char *key, const char *value, struct config_error *reterr)
	DL_MUST_CHECK;
/* What a setting that is auto comes to here and now, for people. */
struct config_note {
	const char *key;
	char text[64];                 /* one line */
};
/* What is in force, as a file that config_load() takes; notes are comments in it. */
int config_print_yaml(const struct config *c, const struct config_note *notes, size_t count,
		      struct buf *ret) DL_MUST_CHECK;

/* Generated pages: the option list of --help (plain text), REFERENCE.md, dlfs.yaml(5) (mdoc). */
int config_print_help(struct buf *ret) DL_MUST_CHECK;
int config_print_reference(struct buf *ret) DL_MUST_CHECK;
int config_print_man(struct buf *ret) DL_MUST_CHECK;
