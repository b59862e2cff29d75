/* Prints the pages that are made from params.def, and says whether a file is right:
 * config-doc help|reference|man, config-doc check FILE. */
#include <stdio.h>
#include <string.h>

#include "config/param.h"

static const struct {
	const char *name;
	int (*print)(struct buf *ret);
} pages[] = {
	{ "help", config_print_help },
	{ "reference", config_print_reference },
	{ "man", config_print_man },
};

static int print_page(const char *name, struct buf *ret)
{
	for (size_t i = 0; i < DL_COUNT(pages); i++)
		if (strcmp(pages[i].name, name) == 0)
			return pages[i].print(ret);
	fprintf(stderr, "usage: config-doc help|reference|man, or config-doc check FILE\n");
	return -EINVAL;
}

/* The file's settings over the defaults, as they would be in force. */
static int print_checked(const char *path, struct buf *ret)
{
	dl_cleanup(config_freep) struct config *c = NULL;
	struct config_error e;
	int r = config_new(&c);

	if (r < 0)
		return r;
	r = config_load(c, path, &e);
	if (r < 0) {
		fprintf(stderr, "%s\n", e.text);
		return r;
	}
	return config_print_yaml(c, NULL, 0, ret);
}

int main(int argc, char **argv)
{
	dl_cleanup(buf_free) struct buf page = BUF_EMPTY;
	int r;

	if (argc == 3 && strcmp(argv[1], "check") == 0)
		r = print_checked(argv[2], &page);
	else
		r = print_page(argc == 2 ? argv[1] : "", &page);
	if (r < 0)
		return 1;
	return fwrite(page.at, 1, page.len, stdout) == page.len && fflush(stdout) == 0 ? 0 : 1;
}
