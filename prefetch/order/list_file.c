#include "prefetch/order/list_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct reading {
	uint32_t n;
	int (*resolve)(void *context, const char *path);
	void *context;
	char *reterr;
	uint64_t line;
	enum { LINES_UNKNOWN, LINES_PATHS, LINES_INDICES } kind;
	struct buf indices;            /* uint32_t, of the epoch that is being read */
	struct buf epochs;             /* struct sequence * */
};

static int refuse(struct reading *r, const char *format, ...) DL_PRINTF(2, 3);
static int refuse(struct reading *r, const char *format, ...)
{
	va_list args;
	int len = snprintf(r->reterr, 160, "line %llu: ", (unsigned long long)r->line);

	va_start(args, format);
	vsnprintf(r->reterr + len, 160 - (size_t)len, format, args);
	va_end(args);
	return -EINVAL;
}

static int end_epoch(struct reading *r)
{
	uint32_t length = (uint32_t)(r->indices.len / sizeof(uint32_t));
	struct sequence *q;
	int error;

	if (length == 0)
		return 0;
	/* One takes more memory than the line that ends it. */
	if (r->epochs.len / sizeof(q) == ORDER_EPOCHS_MAX)
		return refuse(r, "more than %d epochs; an empty line ends one", ORDER_EPOCHS_MAX);
	q = sequence_new(length, r->n);
	if (!q)
		return -ENOMEM;
	memcpy(q->at, r->indices.at, r->indices.len);
	r->indices.len = 0;
	error = buf_append(&r->epochs, &q, sizeof(q));
	if (error < 0)
		sequence_unref(q);
	return error;
}

static bool all_digits(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < '0' || text[i] > '9')
			return false;
	return len > 0 && len < 19;
}

static int read_index(struct reading *r, const char *text, size_t len, uint32_t *ret)
{
	char number[20];
	unsigned long long value;

	if (!all_digits(text, len))
		return refuse(r, "\"%.*s\" is not an index, but the lines before are",
			      (int)DL_MIN(len, (size_t)60), text);
	memcpy(number, text, len);
	number[len] = 0;
	value = strtoull(number, NULL, 10);
	if (value >= r->n)
		return refuse(r, "index %llu, but there are %u samples", value, r->n);
	*ret = (uint32_t)value;
	return 0;
}

static int read_path(struct reading *r, const char *text, size_t len, uint32_t *ret)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
	int index;

	if (buf_unescape(&path, (struct bytes){ text, len }) < 0)
		return refuse(r, "\"%.*s\" is no name: a backslash in one is written \\\\",
			      (int)DL_MIN(len, (size_t)60), text);
	if (memchr(path.at, 0, path.len))
		return refuse(r, "a path with a zero byte");
	index = r->resolve(r->context, (char *)path.at);
	if (index < 0)
		return refuse(r, "no sample \"%.*s\" in this dataset%s",
			      (int)DL_MIN(len, (size_t)60), text,
			      *text == '/' ? "; paths are those below the mount" : "");
	*ret = (uint32_t)index;
	return 0;
}

static int read_line(struct reading *r, const char *text, size_t len)
{
	uint32_t index;
	int error;

	if (len == 0 || (len == 3 && memcmp(text, "---", 3) == 0))
		return end_epoch(r);
	if (text[0] == '#')
		return 0;
	if (r->kind == LINES_UNKNOWN)
		r->kind = all_digits(text, len) ? LINES_INDICES : LINES_PATHS;
	error = r->kind == LINES_INDICES ? read_index(r, text, len, &index)
					 : read_path(r, text, len, &index);
	if (error < 0)
		return error;
	if (r->indices.len / sizeof(index) >= UINT32_MAX - 1)
		return refuse(r, "more than 2^32 lines in one epoch");
	return buf_append(&r->indices, &index, sizeof(index));
}

static int read_all(struct reading *r, struct bytes text)
{
	const char *at = text.at, *end = at + text.len;
	int error = 0;

	while (error == 0 && at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((stop ? stop : end) - at);

		r->line++;
		if (len > 0 && at[len - 1] == '\r')
			error = read_line(r, at, len - 1);
		else
			error = read_line(r, at, len);
		at = stop ? stop + 1 : end;
	}
	return error < 0 ? error : end_epoch(r);
}

int list_file_parse(struct bytes text, uint32_t n,
		    int (*resolve)(void *context, const char *path), void *context,
		    struct list_epochs *ret, char reterr[160])
{
	struct reading r = { .n = n, .resolve = resolve, .context = context, .reterr = reterr };
	struct list_epochs all;
	int error;

	reterr[0] = 0;
	error = text.len ? read_all(&r, text) : 0;
	if (error == 0 && r.epochs.len == 0) {
		snprintf(reterr, 160, "the list has no entries");
		error = -EINVAL;
	}
	buf_free(&r.indices);
	all = (struct list_epochs){ (void *)r.epochs.at, r.epochs.len / sizeof(struct sequence *) };
	if (error < 0)
		list_epochs_fini(&all);
	else
		*ret = all;
	return error;
}

void list_epochs_fini(struct list_epochs *l)
{
	for (size_t i = 0; i < l->count; i++)
		sequence_unref(l->at[i]);
	free(l->at);
	*l = (struct list_epochs){ 0 };
}
