/* The layer that codes images anew, over a folder and over a source that does what it is told. */
#pragma once
#include <sys/resource.h>

#include "prefetch/source/layer.h"
#include "prefetch/source/served.h"
#include "tests/lib/ask.h"
#include "tests/lib/dataset.h"
#include "tests/lib/fake_source.h"
#include "tests/lib/png_file.h"

#define TEXT "no image, whatever its name says"

static struct served *served;
static struct source *s;
static struct fake_source below;
static struct buf photo, coded;
static _Atomic int niceness;           /* of the thread that was done last */

static inline void make_files(void)
{
	static const struct recode_want fast = { .png_fast = true };
	struct recoded r;

	photo = drawing_file(&(struct drawing){ 200, 150, 8, PNG_COLOR_TYPE_RGB, false, 24 });
	cr_assert_eq(recode(&fast, photo.at, photo.len, &r), RECODE_DONE);
	coded = (struct buf){ r.data, r.size, r.size };
	tree_bytes(&tree, "photo.png", photo.at, photo.len);
	tree_bytes(&tree, "text.png", TEXT, strlen(TEXT));
	tree_bytes(&tree, "photo.dat", photo.at, photo.len);
}

/* memory: of all who code; 0: the usual. */
static inline void open_served(uint64_t memory)
{
	struct served_options o = {
		.manifest = m, .match = "",
		.want = { .png_fast = true, .limits.memory = memory },
	};

	served_close(served);
	cr_assert_eq(served_open(&o, &served), 0);
	served_limit(served, MiB);
}

static inline void set_up(void)
{
	asks_begin();
	tree = tree_new();
	make_files();
	m = open_manifest(&tree);
	cr_assert_eq(manifest_scan(m, 1, NULL), 0);
	open_served(0);
}

static inline void tear_down(void)
{
	source_close(s);
	s = NULL;
	served_close(served);
	buf_free(&photo);
	buf_free(&coded);
	dataset_drop();
}

static inline void over_folder(void)
{
	struct source_options o = { .manifest = m, .served = served };

	cr_assert_eq(source_open(&o, &s), 0);
}

static inline void over_fake(void)
{
	struct source_options o = { .manifest = m, .served = served };

	fake_source_init(&below, 8);
	s = fake_source_under(&below, &source_recoding, &o);
}

static inline void on_coded(struct fetch *f)
{
	niceness = getpriority(PRIO_PROCESS, 0);
	on_done(f);
}

static inline sample_id id_of(const char *name)
{
	return node_sample(node_at(name));
}

static inline void submit(struct ask *a, const char *name, uint64_t due)
{
	*a = (struct ask){ .fetch = { .id = id_of(name), .whole = true, .due = due,
				      .done = on_coded } };
	cr_assert_eq(source_submit(s, &a->fetch), 0);
}

/* Fetch a whole file; its bytes are `want`. */
static inline void fetch(const char *name, uint64_t due, struct bytes want)
{
	struct ask a;

	submit(&a, name, due);
	wait_done(&a);
	cr_assert_eq(a.fetch.result, 0, "%s: %d", name, a.fetch.result);
	cr_assert_eq(a.fetch.len, want.len);
	cr_assert_eq(memcmp(a.fetch.bytes.at, want.at, want.len), 0);
	buf_free(&a.fetch.bytes);
}

static inline int fail(const char *name)
{
	struct ask a;

	submit(&a, name, 0);
	wait_done(&a);
	return a.fetch.result;
}

static inline struct bytes bytes_of(const struct buf *b)
{
	return (struct bytes){ b->at, b->len };
}

static inline struct served_file known(const char *name)
{
	struct served_file f;

	cr_assert_eq(served_ask(served, id_of(name), &f), 0);
	return f;
}

static inline unsigned asked_below(unsigned least)
{
	uint64_t deadline = clock_now() + PATIENCE;
	unsigned count;

	while ((count = fake_source_count(&below)) < least)
		cr_assert(clock_now() < deadline, "%u of %u", count, least);
	return count;
}
