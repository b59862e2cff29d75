/* A growable byte buffer with exactly one owner.  A NUL follows what was appended and is not
 * counted, so that a text is one for C as well.
 *
 * Thread-safety: none; one owner at a time.  Errors: -ENOMEM, unless something else is said; the
 * buffer may then end with a part of what was to be appended.
 */
#pragma once
#include "base/dl.h"

struct buf {
	uint8_t *at;
	size_t len, cap;
};
#define BUF_EMPTY ((struct buf){0})

int buf_reserve(struct buf *b, size_t extra) DL_MUST_CHECK;     /* room for len + extra */
int buf_append(struct buf *b, const void *at, size_t len) DL_MUST_CHECK;
/* -EINVAL: a format that printf refuses. */
int buf_printf(struct buf *b, const char *format, ...) DL_MUST_CHECK DL_PRINTF(2, 3);

/* Append name with control characters, backslash and DEL as C escapes (\n, \\, \x7f), and
 * back.  Bytes above 0x7f pass unchanged.  unescape: -EINVAL for a broken escape.
 */
int buf_escape(struct buf *b, struct bytes name) DL_MUST_CHECK;
int buf_unescape(struct buf *b, struct bytes text) DL_MUST_CHECK;

void buf_free(struct buf *b);          /* safe on BUF_EMPTY; leaves BUF_EMPTY */
struct buf buf_take(struct buf *b);    /* move out; leaves BUF_EMPTY */
