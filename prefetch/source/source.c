#include "prefetch/source/source.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "prefetch/source/layer.h"

static const struct source_ops *const bottoms[] = { &source_uring, &source_threads };
static const struct source_ops *const layers_known[] = { &source_slow, &source_fault };

static const struct source_ops *find(const struct source_ops *const *among, size_t count,
				     const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(among[i]->name, name) == 0)
			return among[i];
	return NULL;
}

/* next is taken on success only. */
static int open_one(const struct source_ops *ops, const struct source_options *o,
		    struct source *next, const char *args, struct source **ret)
{
	struct source *s = calloc(1, ops->size);
	int r;

	if (!s)
		return -ENOMEM;
	s->ops = ops;
	s->next = next;
	s->manifest = o->manifest;
	s->args = args;
	s->options = o;
	r = ops->open(s);
	if (r < 0) {
		free(s);
		return r;
	}
	s->args = NULL;
	s->options = NULL;
	*ret = s;
	return 0;
}

/* io_uring is often forbidden (containers, hardened kernels) or short of locked memory. */
static int open_any_bottom(const struct source_options *o, struct source **ret)
{
	int r = open_one(&source_uring, o, NULL, NULL, ret);

	if (r == -EPERM || r == -ENOSYS || r == -ENOMEM)
		r = open_one(&source_threads, o, NULL, NULL, ret);
	return r;
}

/* Open what `text` names, from its last layer to its first. */
static int open_named(const struct source_options *o, char *text, struct source **s)
{
	for (;;) {
		char *bar = strrchr(text, '|');
		char *name = bar ? bar + 1 : text, *args = strchr(name, ':');
		const struct source_ops *ops;
		int r;

		if (args)
			*args++ = 0;
		ops = *s ? NULL : find(bottoms, DL_COUNT(bottoms), name);
		if (!ops) {
			ops = find(layers_known, DL_COUNT(layers_known), name);
			if (!ops)
				return -EINVAL;
			r = *s ? 0 : open_any_bottom(o, s);
			if (r < 0)
				return r;
		}
		r = open_one(ops, o, *s, args, s);
		if (r < 0)
			return r;
		if (!bar)
			return 0;
		*bar = 0;
	}
}

static int open_layers(const struct source_options *o, struct source **s)
{
	dl_cleanup(dl_freep) char *text = NULL;

	if (!o->layers || !*o->layers)
		return open_any_bottom(o, s);
	text = strdup(o->layers);
	return text ? open_named(o, text, s) : -ENOMEM;
}

static int check_layer(const char *name, const char *args, bool last, char reterr[160])
{
	const struct source_ops *ops = last ? find(bottoms, DL_COUNT(bottoms), name) : NULL;

	if (!ops)
		ops = find(layers_known, DL_COUNT(layers_known), name);
	if (!ops)
		snprintf(reterr, 160, "\"%.40s\" is no layer; there are slow, fault and, as the "
			 "last one, threads or uring", name);
	else if (args && !ops->check)
		snprintf(reterr, 160, "the layer %s takes no arguments", name);
	else if (args && ops->check(args) < 0)
		snprintf(reterr, 160, "\"%.40s\" is nothing for the layer %s; it takes %s", args,
			 name, ops->takes);
	else
		return 0;
	return -EINVAL;
}

int source_check_layers(const char *layers, char reterr[160])
{
	dl_cleanup(dl_freep) char *text = strdup(layers);
	char *rest = text, *name;
	int r = text ? 0 : -ENOMEM;

	snprintf(reterr, 160, "out of memory");
	while (*layers && r == 0 && (name = strsep(&rest, "|")) != NULL) {
		char *args = strchr(name, ':');

		if (args)
			*args++ = 0;
		r = check_layer(name, args, !rest, reterr);
	}
	return r;
}

int source_open(const struct source_options *options, struct source **ret)
{
	struct source *s = NULL;
	int r = open_layers(options, &s);

	if (r == 0 && options->served)
		r = open_one(&source_recoding, options, s, NULL, &s);
	if (r == 0 && options->disk)
		r = open_one(&source_kept, options, s, NULL, &s);
	if (r < 0) {
		source_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

int source_submit(struct source *s, struct fetch *f)
{
	uint64_t size;
	int r;

	assert(f->done && !f->bytes.at);
	if (!manifest_sample(s->manifest, f->id, &size))
		return -EINVAL;
	if (f->whole) {                /* as the source has it; a layer may make less of it */
		f->offset = 0;
		f->len = size;
	}
	if (f->offset > size || f->len > size - f->offset)
		return -EINVAL;
	f->result = -EINPROGRESS;
	f->kept = f->stored = false;
	/* done() may have run, and f be gone, before submit returns: f is not touched again. */
	r = s->ops->submit(s, f);
	assert(r == 0 || r == -ESHUTDOWN || r == -ENOMEM);
	return r;
}

void source_hurry(struct source *s, sample_id id, uint64_t offset)
{
	for (; s; s = s->next)
		if (s->ops->hurry)
			s->ops->hurry(s, id, offset);
}

unsigned source_depth(const struct source *s)
{
	unsigned depth = s->ops->depth(s);

	assert(depth > 0);
	return depth;
}

static void stop(struct source *s)
{
	if (s->next)
		stop(s->next);
	s->ops->stop(s);
}

void source_close(struct source *s)
{
	if (s)
		stop(s);
	while (s) {
		struct source *next = s->next;

		s->ops->close(s);
		free(s);
		s = next;
	}
}

void layer_done(struct fetch *f, int result)
{
	assert(result <= 0);
	assert(result < 0 || f->bytes.len == f->len);
	if (result < 0)
		buf_free(&f->bytes);
	f->result = result;
	f->done(f);
}

int layer_next_arg(const char **at, struct layer_arg *ret)
{
	const char *key = *at, *equals, *end;

	if (!key || !*key)
		return 0;
	end = key + strcspn(key, ",");
	equals = memchr(key, '=', (size_t)(end - key));
	if (!equals || equals == key || (size_t)(equals - key) >= sizeof(ret->key) ||
	    (size_t)(end - equals - 1) >= sizeof(ret->value))
		return -EINVAL;
	*ret = (struct layer_arg){ 0 };
	memcpy(ret->key, key, (size_t)(equals - key));
	memcpy(ret->value, equals + 1, (size_t)(end - equals - 1));
	*at = *end ? end + 1 : end;
	return 1;
}

void layer_fetch_init(struct layer_fetch *l, struct fetch *outer, void (*done)(struct fetch *f))
{
	l->outer = outer;
	l->inner = (struct fetch){
		.id = outer->id, .offset = outer->offset, .len = outer->len, .whole = outer->whole,
		.due = outer->due, .in_turn = outer->in_turn, .hurried_ = outer->hurried_,
		.done = done,
	};
}

int layer_fetch_move(struct layer_fetch *l)
{
	l->outer->bytes = buf_take(&l->inner.bytes);
	l->outer->len = l->inner.len;
	return l->inner.result;
}
