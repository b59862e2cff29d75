#include "fs/cli/view.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "fs/cli/cli.h"

struct view {
	struct buf text;
	struct json_object *root;
};

static int read_report(const char *mountpoint, struct view **ret)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	dl_cleanup(dl_freep) char *path = NULL;
	int r;

	if (asprintf(&path, "%s/.dlfs/stats.json", mountpoint) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	r = file_read(path, SIZE_MAX, &text);
	return r < 0 ? r : view_parse(&text, ret);
}

int view_parse(struct buf *text, struct view **ret)
{
	dl_cleanup(view_freep) struct view *v = calloc(1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	v->text = buf_take(text);
	v->root = json_tokener_parse((char *)v->text.at);
	if (!json_object_is_type(v->root, json_type_object))
		return -EINVAL;
	*ret = DL_TAKE(v);
	return 0;
}

int view_read(const char *mountpoint, struct view **ret)
{
	int r = read_report(mountpoint, ret);

	if (r == -ESTALE)              /* it was that of a server that was replaced meanwhile */
		r = read_report(mountpoint, ret);
	if (r == 0)
		return CLI_OK;
	if (r == -ENOENT && !cli_is_gone(mountpoint))
		return cli_fail(CLI_FAILED, "%s is not a dlfs mount; `findmnt -t fuse.dlfs` lists "
				"them", mountpoint);
	if (r == -EINVAL)
		return cli_fail(CLI_FAILED, "%s/.dlfs/stats.json is no report of dlfs", mountpoint);
	return cli_fail_call(mountpoint, "does not say how it is doing", -r);
}

void view_free(struct view *v)
{
	if (!v)
		return;
	json_object_put(v->root);
	buf_free(&v->text);
	free(v);
}

static struct json_object *find(const struct view *v, const char *key)
{
	struct json_object *at = v->root;
	char name[64];

	for (;;) {
		size_t len = strcspn(key, ".");

		snprintf(name, sizeof(name), "%.*s", (int)len, key);
		if (!json_object_object_get_ex(at, name, &at))
			return NULL;
		if (!key[len])
			return at;
		key += len + 1;
	}
}

double view_number(const struct view *v, const char *key)
{
	struct json_object *at = find(v, key);

	return at ? json_object_get_double(at) : 0;
}

const char *view_text(const struct view *v, const char *key)
{
	struct json_object *at = find(v, key);

	return at && json_object_is_type(at, json_type_string) ? json_object_get_string(at) : "";
}

struct bytes view_source(const struct view *v)
{
	return (struct bytes){ v->text.at, v->text.len };
}
