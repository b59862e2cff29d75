#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int buf_reserve(struct buf *b, size_t extra)
{
	size_t want, cap;
	uint8_t *at;

	if (__builtin_add_overflow(b->len, extra, &want))
		return -ENOMEM;
	if (want <= b->cap)
		return 0;
	cap = b->cap ? b->cap : 64;
	while (cap < want)
		cap = cap > SIZE_MAX / 2 ? want : cap * 2;
	at = realloc(b->at, cap);
	if (!at)
		return -ENOMEM;
	b->at = at;
	b->cap = cap;
	return 0;
}

int buf_append(struct buf *b, const void *at, size_t len)
{
	int r = buf_reserve(b, len + 1);

	if (r < 0)
		return r;
	if (len > 0)
		memcpy(b->at + b->len, at, len);
	b->len += len;
	b->at[b->len] = '\0';
	return 0;
}

int buf_printf(struct buf *b, const char *format, ...)
{
	va_list args, again;
	int len, r;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	r = len < 0 ? -EINVAL : buf_reserve(b, (size_t)len + 1);
	if (r == 0) {
		vsnprintf((char *)b->at + b->len, (size_t)len + 1, format, again);
		b->len += (size_t)len;
	}
	va_end(again);
	return r;
}

static const char short_escapes[][2] = {
	{ '\a', 'a' }, { '\b', 'b' }, { '\t', 't' }, { '\n', 'n' }, { '\v', 'v' },
	{ '\f', 'f' }, { '\r', 'r' }, { '\\', '\\' },
};

static size_t escape_one(uint8_t c, char out[5])
{
	if (c != '\\' && c >= 0x20 && c != 0x7f) {
		out[0] = (char)c;
		return 1;
	}
	for (size_t i = 0; i < DL_COUNT(short_escapes); i++) {
		if ((uint8_t)short_escapes[i][0] == c) {
			out[0] = '\\';
			out[1] = short_escapes[i][1];
			return 2;
		}
	}
	return (size_t)snprintf(out, 5, "\\x%02x", c);
}

int buf_escape(struct buf *b, struct bytes name)
{
	int r = buf_append(b, "", 0);
	const uint8_t *at = name.at;
	char out[5];

	for (size_t i = 0; r == 0 && i < name.len; i++)
		r = buf_append(b, out, escape_one(at[i], out));
	return r;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decode the escape after a backslash; returns how many bytes of text it took, or -EINVAL. */
static int unescape_one(const char *text, size_t len, uint8_t *ret)
{
	if (len == 0)
		return -EINVAL;
	for (size_t i = 0; i < DL_COUNT(short_escapes); i++) {
		if (short_escapes[i][1] == text[0]) {
			*ret = (uint8_t)short_escapes[i][0];
			return 1;
		}
	}
	if (text[0] != 'x' || len < 3 || hex_digit(text[1]) < 0 || hex_digit(text[2]) < 0)
		return -EINVAL;
	*ret = (uint8_t)(hex_digit(text[1]) << 4 | hex_digit(text[2]));
	return 3;
}

int buf_unescape(struct buf *b, struct bytes text)
{
	int r = buf_append(b, "", 0);
	const char *at = text.at;

	for (size_t i = 0; r == 0 && i < text.len; i++) {
		uint8_t c = (uint8_t)at[i];
		int used = c == '\\' ? unescape_one(at + i + 1, text.len - i - 1, &c) : 0;

		if (used < 0)
			return used;
		i += (size_t)used;
		r = buf_append(b, &c, 1);
	}
	return r;
}

void buf_free(struct buf *b)
{
	free(b->at);
	*b = BUF_EMPTY;
}

struct buf buf_take(struct buf *b)
{
	struct buf taken = *b;

	*b = BUF_EMPTY;
	return taken;
}
