/* The layer that codes images anew, over a folder and over a source that does what it is told. */
#include <semaphore.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/lock.h"
#include "prefetch/source/layer.h"
#include "prefetch/source/served.h"
#include "tests/lib/dataset.h"
#include "tests/lib/fake_source.h"
#include "tests/lib/png_file.h"

#define PATIENCE (60 * CLOCK_S)
#define TEXT "no image, whatever its name says"

struct ask {
	struct fetch fetch;
	bool done;
};

static struct dl_lock lock;
static pthread_cond_t changed;
static struct served *served;
static struct source *s;
static struct fake_source below;
static struct buf photo, coded;
static int niceness;                   /* of the thread that was done last */

static void make_files(void)
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
static void open_served(uint64_t memory)
{
	struct served_options o = {
		.manifest = m, .match = "",
		.want = { .png_fast = true, .limits.memory = memory },
	};

	served_close(served);
	cr_assert_eq(served_open(&o, &served), 0);
	served_limit(served, MiB);
}

static void set_up(void)
{
	dl_lock_init(&lock);
	dl_cond_init(&changed);
	tree = tree_new();
	make_files();
	m = open_manifest(&tree);
	cr_assert_eq(manifest_scan(m, 1, NULL), 0);
	open_served(0);
}

static void tear_down(void)
{
	source_close(s);
	s = NULL;
	served_close(served);
	buf_free(&photo);
	buf_free(&coded);
	dataset_drop();
}

TestSuite(recoding, .init = set_up, .fini = tear_down, .timeout = 120);

static void over_folder(void)
{
	struct source_options o = { .manifest = m, .served = served };

	cr_assert_eq(source_open(&o, &s), 0);
}

static void over_fake(void)
{
	struct source_options o = { .manifest = m, .served = served };

	fake_source_init(&below, 8);
	s = calloc(1, source_recoding.size);
	cr_assert(s);
	s->ops = &source_recoding;
	s->manifest = m;
	s->next = fake_source_open(&below, m);
	s->options = &o;
	cr_assert_eq(source_recoding.open(s), 0);
	s->options = NULL;
}

static void on_done(struct fetch *f)
{
	DL_HOLD(&lock);
	niceness = getpriority(PRIO_PROCESS, 0);
	cr_assert(!dl_container_of(f, struct ask, fetch)->done, "done() ran twice");
	dl_container_of(f, struct ask, fetch)->done = true;
	pthread_cond_broadcast(&changed);
}

static void wait_done(struct ask *a)
{
	uint64_t deadline = clock_now() + PATIENCE;

	DL_HOLD(&lock);
	while (!a->done)
		cr_assert(dl_cond_wait_until(&changed, &lock, deadline), "done() did not run");
}

static sample_id id_of(const char *name)
{
	return node_sample(node_at(name));
}

static void submit(struct ask *a, const char *name, uint64_t due)
{
	*a = (struct ask){ .fetch = { .id = id_of(name), .whole = true, .due = due,
				      .done = on_done } };
	cr_assert_eq(source_submit(s, &a->fetch), 0);
}

/* Fetch a whole file; its bytes are `want`. */
static void fetch(const char *name, uint64_t due, struct bytes want)
{
	struct ask a;

	submit(&a, name, due);
	wait_done(&a);
	cr_assert_eq(a.fetch.result, 0, "%s: %d", name, a.fetch.result);
	cr_assert_eq(a.fetch.len, want.len);
	cr_assert_eq(memcmp(a.fetch.bytes.at, want.at, want.len), 0);
	buf_free(&a.fetch.bytes);
}

static int fail(const char *name)
{
	struct ask a;

	submit(&a, name, 0);
	wait_done(&a);
	return a.fetch.result;
}

static struct bytes bytes_of(const struct buf *b)
{
	return (struct bytes){ b->at, b->len };
}

static struct served_file known(const char *name)
{
	struct served_file f;

	cr_assert_eq(served_ask(served, id_of(name), &f), 0);
	return f;
}

Test(recoding, an_image_is_coded_and_its_size_is_known)
{
	over_folder();
	fetch("photo.png", 7, bytes_of(&coded));
	cr_assert(known("photo.png").state == SERVED_CODED);
	cr_assert_eq(known("photo.png").size, coded.len);
	fetch("photo.png", 0, bytes_of(&coded));
}

Test(recoding, what_is_none_comes_as_it_is)
{
	over_folder();
	fetch("text.png", 0, (struct bytes){ TEXT, strlen(TEXT) });
	cr_assert_eq(known("text.png").reason, RECODE_UNKNOWN);
	fetch("text.png", 3, (struct bytes){ TEXT, strlen(TEXT) });
	fetch("photo.dat", 0, bytes_of(&photo));
	cr_assert_eq(known("photo.dat").reason, RECODE_OFF);
}

Test(recoding, a_part_is_a_part_of_the_source)
{
	struct ask a = { .fetch = { .id = id_of("photo.png"), .offset = 1, .len = 3,
				    .done = on_done } };

	over_folder();
	cr_assert_eq(source_submit(s, &a.fetch), 0);
	wait_done(&a);
	cr_assert(a.fetch.result == 0 && memcmp(a.fetch.bytes.at, "PNG", 3) == 0);
	buf_free(&a.fetch.bytes);
	cr_assert_eq(known("photo.png").state, SERVED_UNKNOWN);
}

Test(recoding, another_size_than_was_told_is_not_served)
{
	struct recoded wrong = { .size = coded.len + 1 };

	over_folder();
	cr_assert_eq(served_tell(served, id_of("photo.png"), RECODE_DONE, &wrong), 0);
	cr_assert_eq(fail("photo.png"), -ESTALE);
	cr_assert_eq(fail("photo.png"), -ESTALE, "before the kernel was told");
	served_renew(served, id_of("photo.png"));
	fetch("photo.png", 0, bytes_of(&coded));
	cr_assert_eq(known("photo.png").size, coded.len);
}

Test(recoding, what_may_not_be_read_has_the_size_of_the_source)
{
	struct ask a;

	over_fake();
	submit(&a, "photo.png", 0);
	fake_source_end(&below, 0, -EACCES);
	wait_done(&a);
	cr_assert_eq(a.fetch.result, -EACCES);
	cr_assert(known("photo.png").state == SERVED_AS_IT_IS);
	cr_assert_eq(known("photo.png").size, photo.len);
}

Test(recoding, an_error_says_nothing_of_the_size)
{
	struct ask a;

	over_fake();
	submit(&a, "photo.png", 0);
	fake_source_end(&below, 0, -EIO);
	wait_done(&a);
	cr_assert_eq(a.fetch.result, -EIO);
	cr_assert_eq(known("photo.png").state, SERVED_UNKNOWN);
}

static unsigned asked_below(unsigned least)
{
	uint64_t deadline = clock_now() + PATIENCE;
	unsigned count;

	while ((count = fake_source_count(&below)) < least)
		cr_assert(clock_now() < deadline, "%u of %u", count, least);
	return count;
}

/* As many are under way as there is memory for; half of it is for those that readers wait for. */
Test(recoding, no_more_sources_than_memory_allows)
{
	struct ask a[10];

	open_served(4 * 6 * photo.len);
	over_fake();
	for (unsigned i = 0; i < DL_COUNT(a); i++)
		submit(&a[i], i == 8 ? "text.png" : "photo.png", 1 + i);
	cr_assert_eq(asked_below(0), 3);
	source_hurry(s, id_of("text.png"), 0);
	cr_assert_eq(asked_below(0), 4);
	cr_assert(fake_source_at(&below, 3).id == id_of("text.png"));
	fake_source_end(&below, 3, -EIO);
	cr_assert_eq(asked_below(0), 4, "the others' half is full");
	for (unsigned i = 0; i < DL_COUNT(a); i++) {
		asked_below(i + 1);
		if (i != 3)
			fake_source_end(&below, i, -EIO);
	}
	for (unsigned i = 0; i < DL_COUNT(a); i++)
		wait_done(&a[i]);
}

/* What takes more than half of the memory would keep readers waiting for it. */
Test(recoding, a_large_image_is_none_for_the_threads_of_least_priority)
{
	static const struct recode_want fast = { .png_fast = true };

	open_served(recode_need(&fast, photo.at, photo.len).coding * 12 / 5);
	over_folder();
	for (unsigned i = 0; i < 20; i++) {
		fetch("photo.png", 7, bytes_of(&coded));
		cr_assert_eq(niceness, getpriority(PRIO_PROCESS, 0), "the %uth", i);
	}
}

static sem_t gate;
static _Atomic unsigned at_the_gate;

static void on_done_at_the_gate(struct fetch *f)
{
	at_the_gate++;
	cr_assert_eq(sem_wait(&gate), 0);
	on_done(f);
}

static void wait_until_at_the_gate(unsigned count)
{
	uint64_t deadline = clock_now() + PATIENCE;

	while (at_the_gate < count) {
		cr_assert(clock_now() < deadline, "%u of %u", at_the_gate, count);
		usleep(1000);
	}
}

/* The threads of least priority come no further, and the memory is full of what they have, as far
 * as it may be. */
struct jam {
	unsigned idle, half;           /* threads; images that fill half of the memory */
	struct ask *a;                 /* twice as many */
};

static void jam_begin(struct jam *j)
{
	j->idle = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	j->half = j->idle + 2;
	j->a = calloc(2 * j->half, sizeof(*j->a));
	cr_assert_eq(sem_init(&gate, 0, 0), 0);
	tree_file(&tree, "large.png", (j->half + 1) * photo.len);
	cr_assert_geq(manifest_refresh(m, 1, true, NULL, NULL), 0);
	open_served(4 * 2 * j->half * photo.len);
	over_fake();
	for (unsigned i = 0; i < 2 * j->half; i++) {
		submit(&j->a[i], "photo.png", 1 + i);
		j->a[i].fetch.done = i < j->idle ? on_done_at_the_gate : on_done;
	}
	for (unsigned i = 0; i < j->half; i++)
		fake_source_end(&below, i, 0);
	wait_until_at_the_gate(j->idle);
}

/* others: that were asked for below meanwhile, and have ended. */
static void jam_end(struct jam *j, unsigned others)
{
	for (unsigned i = 0; i < j->idle; i++)
		sem_post(&gate);
	for (unsigned i = j->half + others; i < 2 * j->half + others; i++) {
		asked_below(i + 1);
		fake_source_end(&below, i, -EIO);
	}
	for (unsigned i = 0; i < 2 * j->half; i++) {
		wait_done(&j->a[i]);
		buf_free(&j->a[i].fetch.bytes);
	}
	free(j->a);
}

/* One finds room, another when what waits was coded by other threads. */
Test(recoding, no_reader_waits_for_the_threads_of_least_priority)
{
	struct ask small, large;
	struct jam j;
	unsigned half;

	jam_begin(&j);
	half = j.half;
	submit(&small, "text.png", 0);
	cr_assert_eq(asked_below(0), half + 1);
	fake_source_end(&below, half, 0);
	wait_done(&small);
	submit(&large, "large.png", 0);
	cr_assert_eq(asked_below(half + 2), half + 2);
	fake_source_end(&below, half + 1, 0);
	wait_done(&large);
	jam_end(&j, 2);
	buf_free(&small.fetch.bytes);
	buf_free(&large.fetch.bytes);
}

/* Nor in his turn, for longer than he is patient; though nothing else happens meanwhile. */
Test(recoding, no_turn_waits_for_the_threads_of_least_priority)
{
	struct ask late = {
		.fetch = { .id = id_of("text.png"), .whole = true, .due = 1000, .in_turn = true,
			   .done = on_done },
	};
	struct jam j;

	jam_begin(&j);
	cr_assert_eq(source_submit(s, &late.fetch), 0);
	source_hurry(s, id_of("text.png"), 0);
	cr_assert_eq(asked_below(0), j.half, "it has its turn");
	asked_below(j.half + 1);
	cr_assert(fake_source_at(&below, j.half).id == id_of("text.png"));
	fake_source_end(&below, j.half, 0);
	wait_done(&late);
	jam_end(&j, 1);
	buf_free(&late.fetch.bytes);
}

/* Nor does he wait for one of these to get a processor. */
Test(recoding, what_a_reader_waits_for_is_coded_by_others)
{
	over_folder();
	for (unsigned i = 0; i < 50; i++) {
		fetch("photo.png", 0, bytes_of(&coded));
		cr_assert_eq(niceness, getpriority(PRIO_PROCESS, 0), "the %uth", i);
	}
	fetch("photo.png", 7, bytes_of(&coded));
	cr_assert_eq(niceness, 19);
}

/* It is coded at once: what below has in hand is in no queue any more. */
Test(recoding, a_reader_who_comes_while_it_is_read_below_does_not_wait)
{
	struct ask a, b;

	over_fake();
	submit(&a, "photo.png", 5);
	submit(&b, "text.png", 5);
	source_hurry(s, id_of("photo.png"), photo.len - 1);
	fake_source_end(&below, 0, 0);
	fake_source_end(&below, 1, 0);
	wait_done(&a);
	wait_done(&b);
	cr_assert_eq(a.fetch.due, 0);
	cr_assert_eq(b.fetch.due, 5, "nobody waits for it");
	buf_free(&a.fetch.bytes);
	buf_free(&b.fetch.bytes);
}

static int submit_after_a_reader(struct source *low, struct fetch *f)
{
	source_hurry(s, f->id, 0);
	return fake_submit(low, f);
}

Test(recoding, a_reader_who_comes_before_it_is_asked_for_below_is_heard_there)
{
	struct source_ops ops;
	struct ask a;

	over_fake();
	ops = *s->next->ops;
	ops.submit = submit_after_a_reader;
	s->next->ops = &ops;
	submit(&a, "photo.png", 5);
	cr_assert(fake_source_at(&below, 0).hurried);
	fake_source_end(&below, 0, -EIO);
	wait_done(&a);
	source_close(DL_TAKE(s));      /* with ops */
}

/* One image that needs more than all of it is served as it is. */
Test(recoding, a_large_image_is_left_alone)
{
	open_served(photo.len);
	over_folder();
	fetch("photo.png", 0, bytes_of(&photo));
	cr_assert_eq(known("photo.png").reason, RECODE_LIMITS);
}

Test(recoding, the_end_comes_to_all)
{
	struct ask a[20];

	open_served(4 * DL_COUNT(a) * photo.len);
	over_fake();
	for (unsigned i = 0; i < DL_COUNT(a); i++)
		submit(&a[i], "photo.png", i);
	for (unsigned i = 0; i < DL_COUNT(a) / 2; i++)
		fake_source_end(&below, i, 0);
	source_close(DL_TAKE(s));
	for (unsigned i = 0; i < DL_COUNT(a); i++) {
		cr_assert(a[i].done);
		cr_assert(a[i].fetch.result == 0 || a[i].fetch.result == -ESHUTDOWN);
		buf_free(&a[i].fetch.bytes);
	}
}
