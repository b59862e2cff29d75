/* Whatever stands in a file or after -o: it is refused with a reason and changes nothing, or
 * what is then in force can be printed, read again, and is the same. */
#include <assert.h>
#include <string.h>

#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void freep(struct config **c)
{
	config_free(*c);
}

static struct buf print(const struct config *c)
{
	struct buf text = BUF_EMPTY;

	assert(config_print_yaml(c, NULL, 0, &text) == 0);
	return text;
}

static bool same(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && memcmp(a->at, b->at, a->len) == 0;
}

static void check(const struct config *c, int r, const struct config_error *e)
{
	dl_cleanup(freep) struct config *again = NULL;
	dl_cleanup(buf_free) struct buf defaults = BUF_EMPTY;
	dl_cleanup(buf_free) struct buf first = print(c);
	dl_cleanup(buf_free) struct buf second = BUF_EMPTY;
	struct config_error e2;

	assert(config_new(&again) == 0);
	defaults = print(again);
	if (r < 0) {
		assert(r == -EINVAL);
		assert(e->text[0] && memchr(e->text, '\0', sizeof(e->text)));
		assert(same(&first, &defaults));
		return;
	}
	/* Text from -o may be no UTF-8, which no YAML file can hold. */
	r = config_parse_yaml(again, (struct bytes){ first.at, first.len }, &e2);
	if (r == -EINVAL && strstr(e2.text, "UTF-8"))
		return;
	assert(r == 0);
	second = print(again);
	assert(same(&first, &second));
}

static void as_yaml(struct bytes text)
{
	dl_cleanup(freep) struct config *c = NULL;
	struct config_error e;
	int r;

	assert(config_new(&c) == 0);
	r = config_parse_yaml(c, text, &e);
	check(c, r, &e);
}

static void as_options(struct bytes text)
{
	dl_cleanup(freep) struct config *c = NULL;
	dl_cleanup(dl_freep) char *options = strndup(text.at, text.len);
	struct config_error e;
	int r;

	assert(options);
	assert(config_new(&c) == 0);
	r = config_parse_options(c, options, &e);
	check(c, r, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes text = { size ? (const void *)data : "", size };

	as_yaml(text);
	as_options(text);
	return 0;
}
