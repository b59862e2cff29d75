/* Many ask for images at once, in no hurry and in a hurry: each gets the same bytes, once. */
#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/lock.h"
#include "prefetch/source/served.h"
#include "prefetch/source/source.h"
#include "tests/lib/png_file.h"
#include "tests/lib/tree.h"

#define IMAGES 13u
#define LARGE 12u                      /* its coding takes a while */
#define ASKERS 4u
#define ASKS 60u
#define TWICE 10u
#define PATIENCE (120 * CLOCK_S)

static struct source *source;
static struct buf coded[IMAGES];
static sample_id ids[IMAGES];
static struct dl_lock lock;
static pthread_cond_t changed;
static unsigned left;

struct ask { struct fetch fetch; unsigned image; };

static void on_done(struct fetch *f)
{
	struct ask *a = dl_container_of(f, struct ask, fetch);
	const struct buf *want = &coded[a->image];

	assert(f->result == 0 || f->result == -ESHUTDOWN);
	assert(f->result < 0 ||
	       (f->len == want->len && memcmp(f->bytes.at, want->at, f->len) == 0));
	if (a->image == LARGE)
		usleep(50000);         /* another who codes the same may end meanwhile */
	buf_free(&f->bytes);
	free(a);
	DL_HOLD(&lock);
	left--;
	pthread_cond_broadcast(&changed);
}

static void ask(unsigned image, uint64_t due)
{
	struct ask *a = calloc(1, sizeof(*a));
	int r;

	assert(a);
	a->image = image;
	a->fetch = (struct fetch){ .id = ids[image], .whole = true, .done = on_done, .due = due };
	{
		DL_HOLD(&lock);
		left++;
	}
	r = source_submit(source, &a->fetch);
	assert(r == 0);
	(void)r;
}

static void *ask_on(void *arg)
{
	unsigned seed = *(unsigned *)arg;

	for (unsigned i = 0; i < ASKS; i++) {
		ask((unsigned)rand_r(&seed) % IMAGES, (unsigned)rand_r(&seed) % 3);
		if (rand_r(&seed) % 2)
			source_hurry(source, ids[rand_r(&seed) % (int)IMAGES], 0);
		usleep((unsigned)rand_r(&seed) % 2000);
	}
	return NULL;
}

static void make_images(const struct tree *t)
{
	static const struct recode_want fast = { .png_fast = true };

	for (unsigned i = 0; i < IMAGES; i++) {
		struct drawing d = { i == LARGE ? 200 : 60 + i * 5, i == LARGE ? 150 : 50, 8,
				     PNG_COLOR_TYPE_RGB, false, 24 };
		dl_cleanup(buf_free) struct buf file = drawing_file(&d);
		struct recoded r;
		char name[16];

		snprintf(name, sizeof(name), "%02u.png", i);
		tree_bytes(t, name, file.at, file.len);
		if (recode(&fast, file.at, file.len, &r) == RECODE_DONE)
			coded[i] = (struct buf){ r.data, r.size, r.size };
		else
			coded[i] = buf_take(&file);
	}
}

static void find_images(struct manifest *m)
{
	for (unsigned i = 0; i < IMAGES; i++) {
		node_id node;
		char name[16];
		int r;

		snprintf(name, sizeof(name), "%02u.png", i);
		r = manifest_resolve(m, name, &node);
		assert(r == 0);
		(void)r;
		ids[i] = node_sample(node);
	}
}

static void await_all(void)
{
	uint64_t deadline = clock_now() + PATIENCE;

	DL_HOLD(&lock);
	while (left > 0) {
		bool in_time = dl_cond_wait_until(&changed, &lock, deadline);

		assert(in_time);
		(void)in_time;
	}
}

/* A reader comes for what an idle thread has in hand: it has two users, who end in either order. */
static void run_twice(void)
{
	unsigned seed = 5;

	for (unsigned i = 0; i < TWICE; i++) {
		ask(LARGE, 2);
		usleep((unsigned)rand_r(&seed) % 20000);
		source_hurry(source, ids[LARGE], 0);
		await_all();
	}
}

static void run(bool wait)
{
	unsigned seeds[ASKERS] = { 1, 2, 3, 4 };
	pthread_t threads[ASKERS];

	for (unsigned i = 0; i < ASKERS; i++)
		pthread_create(&threads[i], NULL, ask_on, &seeds[i]);
	for (unsigned i = 0; i < ASKERS; i++)
		pthread_join(threads[i], NULL);
	if (wait)
		await_all();
}

int main(void)
{
	struct tree t = tree_new();
	struct manifest *m = NULL;
	struct served *served = NULL;
	int r;

	dl_lock_init(&lock);
	dl_cond_init(&changed);
	make_images(&t);
	r = manifest_open(&(struct manifest_options){ .source = t.root }, &m);
	assert(r == 0);
	r = manifest_scan(m, 1, NULL);
	assert(r == 0);
	find_images(m);
	for (int round = 0; round < 2; round++) {      /* sizes not known, and known */
		struct served_options o = { .manifest = m, .want.png_fast = true, .match = "" };

		if (!served) {
			r = served_open(&o, &served);
			assert(r == 0);
			served_limit(served, MiB);
		}
		r = source_open(&(struct source_options){ .manifest = m, .served = served },
				&source);
		assert(r == 0);
		run_twice();
		run(round == 0);
		source_close(source);
		assert(left == 0);
	}
	served_close(served);
	manifest_close(m);
	for (unsigned i = 0; i < IMAGES; i++)
		buf_free(&coded[i]);
	tree_drop(&t, "");
	(void)r;
	puts("all had the same");
	return 0;
}
