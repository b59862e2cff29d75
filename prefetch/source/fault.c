/* For tests: every Nth fetch ends with an error, although it reached the source. */
#include <stdatomic.h>
#include <string.h>

#include "config/units.h"
#include "prefetch/source/layer.h"

struct fault {
	struct source source;
	uint64_t every;
	int error;
	_Atomic uint64_t count;
};

struct fault_fetch {
	struct layer_fetch layer;
	int error;                     /* 0: this one passes */
};

static const struct { const char *name; int error; } errors[] = {
	{ "EIO", EIO }, { "ESTALE", ESTALE }, { "ENOENT", ENOENT }, { "EACCES", EACCES },
	{ "ENOMEM", ENOMEM }, { "EMFILE", EMFILE }, { "ETIMEDOUT", ETIMEDOUT },
};

static int error_of(const char *name, int *ret)
{
	for (size_t i = 0; i < DL_COUNT(errors); i++) {
		if (strcmp(errors[i].name, name) == 0) {
			*ret = errors[i].error;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse(struct fault *fa, const char *at)
{
	struct layer_arg arg;
	int r;

	fa->every = 1;
	fa->error = EIO;
	while ((r = layer_next_arg(&at, &arg)) > 0) {
		if (strcmp(arg.key, "every") == 0)
			r = units_count(arg.value, &fa->every);
		else if (strcmp(arg.key, "errno") == 0)
			r = error_of(arg.value, &fa->error);
		else
			r = -EINVAL;
		if (r < 0)
			return -EINVAL;
	}
	return r < 0 || fa->every == 0 ? -EINVAL : 0;
}

static int fault_check(const char *args)
{
	struct fault fa = { 0 };

	return parse(&fa, args);
}

static int fault_open(struct source *s)
{
	return parse(dl_container_of(s, struct fault, source), s->args);
}

static void on_inner(struct fetch *inner)
{
	struct fault_fetch *ff = dl_container_of(inner, struct fault_fetch, layer.inner);
	struct fetch *outer = ff->layer.outer;
	int result = layer_fetch_move(&ff->layer);

	if (ff->error)
		result = -ff->error;
	free(ff);
	layer_done(outer, result);
}

static int fault_submit(struct source *s, struct fetch *f)
{
	struct fault *fa = dl_container_of(s, struct fault, source);
	struct fault_fetch *ff = calloc(1, sizeof(*ff));
	int r;

	if (!ff)
		return -ENOMEM;
	layer_fetch_init(&ff->layer, f, on_inner);
	if ((atomic_fetch_add(&fa->count, 1) + 1) % fa->every == 0)
		ff->error = fa->error;
	r = source_submit(s->next, &ff->layer.inner);
	if (r < 0)
		free(ff);
	return r;
}

static unsigned fault_depth(const struct source *s)
{
	return source_depth(s->next);
}

static void nothing(struct source *s)
{
	(void)s;
}

const struct source_ops source_fault = {
	.name = "fault",
	.size = sizeof(struct fault),
	.takes = "errno=EIO,every=7",
	.check = fault_check,
	.open = fault_open,
	.submit = fault_submit,
	.depth = fault_depth,
	.stop = nothing,
	.close = nothing,
};
