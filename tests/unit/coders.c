/* The threads that code images anew: no reader waits for those of the least priority. */
#include <dlfcn.h>
#include <semaphore.h>
#include <zlib.h>

#include "tests/lib/recoding_stage.h"

TestSuite(coders, .init = set_up, .fini = tear_down, .timeout = 120);

/* What takes more than half of the memory would keep readers waiting for it. */
Test(coders, a_large_image_is_none_for_the_threads_of_least_priority)
{
	static const struct recode_want fast = { .png_fast = true };

	open_served(recode_need(&fast, photo.at, photo.len).coding * 12 / 5);
	over_folder();
	for (unsigned i = 0; i < 20; i++) {
		fetch("photo.png", 7, bytes_of(&coded));
		cr_assert_eq(niceness, getpriority(PRIO_PROCESS, 0), "the %uth", i);
	}
}

Test(coders, nor_is_a_large_file)
{
	struct ask a;

	tree_file(&tree, "large.png", 4 * photo.len);
	cr_assert_geq(manifest_refresh(m, 1, true, NULL, NULL), 0);
	open_served(4 * 6 * photo.len);
	over_fake();
	for (unsigned i = 0; i < 20; i++) {
		submit(&a, "large.png", 7);
		fake_source_end(&below, i, 0);
		wait_done(&a);
		cr_assert_eq(niceness, getpriority(PRIO_PROCESS, 0), "the %uth", i);
		buf_free(&a.fetch.bytes);
	}
}

static sem_t gate;
static _Atomic unsigned at_the_gate;

static void on_coded_at_the_gate(struct fetch *f)
{
	at_the_gate++;
	cr_assert_eq(sem_wait(&gate), 0);
	on_coded(f);
}

static void wait_until_at_the_gate(unsigned count)
{
	uint64_t deadline = clock_now() + PATIENCE;

	while (at_the_gate < count) {
		cr_assert(clock_now() < deadline, "%u of %u", at_the_gate, count);
		usleep(1000);
	}
}

static _Atomic bool hold_idle;

/* zlib's own, but the threads of least priority stop there for the test. */
int inflateInit_(z_streamp z, const char *version, int size)
{
	int (*real)(z_streamp, const char *, int);

	*(void **)&real = dlsym(RTLD_NEXT, "inflateInit_");
	if (hold_idle && getpriority(PRIO_PROCESS, 0) == 19) {
		at_the_gate++;
		cr_assert_eq(sem_wait(&gate), 0);
	}
	return real(z, version, size);
}

/* The threads of least priority come no further, and the memory is full of what they have, as far
 * as it may be; rest_queued: else the sources below have some of it. */
struct jam {
	unsigned idle, half;           /* threads; images that fill half of the memory */
	struct ask *a;                 /* twice as many */
};

static void jam_begin(struct jam *j, bool rest_queued)
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
		j->a[i].fetch.done = i < j->idle ? on_coded_at_the_gate : on_coded;
	}
	for (unsigned i = 0; i < (rest_queued ? j->half : j->idle); i++)
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
Test(coders, no_reader_waits_for_the_threads_of_least_priority)
{
	struct ask small, large;
	struct jam j;
	unsigned half;

	jam_begin(&j, true);
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

/* Also when they come after him, so that nothing else says that he waits. */
Test(coders, what_comes_while_a_reader_waits_for_room_is_coded_by_others)
{
	struct ask small, large;
	struct jam j;

	jam_begin(&j, false);
	submit(&small, "text.png", 0);
	fake_source_end(&below, j.half, 0);
	wait_done(&small);
	submit(&large, "large.png", 0);
	usleep(100000);                /* the others have looked, and sleep again */
	cr_assert_eq(asked_below(0), j.half + 1, "there is no room");
	for (unsigned i = j.idle; i < j.half; i++)
		fake_source_end(&below, i, 0);
	asked_below(j.half + 2);
	fake_source_end(&below, j.half + 1, 0);
	wait_done(&large);
	jam_end(&j, 2);
	buf_free(&small.fetch.bytes);
	buf_free(&large.fetch.bytes);
}

/* Nor in his turn, for longer than he is patient; though nothing else happens meanwhile. */
Test(coders, no_turn_waits_for_the_threads_of_least_priority)
{
	struct ask late = {
		.fetch = { .id = id_of("text.png"), .whole = true, .due = 1000, .in_turn = true,
			   .done = on_coded },
	};
	struct jam j;

	jam_begin(&j, true);
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

/* What they have in hand when a reader comes is coded once more. */
Test(coders, a_reader_does_not_wait_for_what_they_have_in_hand)
{
	struct ask a;

	cr_assert_eq(sem_init(&gate, 0, 0), 0);
	over_folder();
	hold_idle = true;
	submit(&a, "photo.png", 5);
	wait_until_at_the_gate(1);
	source_hurry(s, id_of("photo.png"), 0);
	wait_done(&a);
	cr_assert_eq(niceness, getpriority(PRIO_PROCESS, 0));
	cr_assert(a.fetch.result == 0 && a.fetch.len == coded.len &&
		  memcmp(a.fetch.bytes.at, coded.at, coded.len) == 0);
	hold_idle = false;
	sem_post(&gate);
	source_close(DL_TAKE(s));      /* what they make of it is delivered to nobody */
	buf_free(&a.fetch.bytes);
}

/* Nor does he wait for one of these to get a processor. */
Test(coders, what_a_reader_waits_for_is_coded_by_others)
{
	over_folder();
	for (unsigned i = 0; i < 50; i++) {
		fetch("photo.png", 0, bytes_of(&coded));
		cr_assert_eq(niceness, getpriority(PRIO_PROCESS, 0), "the %uth", i);
	}
	fetch("photo.png", 7, bytes_of(&coded));
	cr_assert_eq(niceness, 19);
}

/* All others are held up in done(). */
static struct ask *hold_others(unsigned *ret_count)
{
	unsigned count = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	struct ask *a = calloc(count, sizeof(*a));

	cr_assert(a);
	cr_assert_eq(sem_init(&gate, 0, 0), 0);
	for (unsigned i = 0; i < count; i++) {
		submit(&a[i], "photo.png", 0);
		a[i].fetch.done = on_coded_at_the_gate;
	}
	for (unsigned i = 0; i < count; i++)
		fake_source_end(&below, i, 0);
	wait_until_at_the_gate(count);
	*ret_count = count;
	return a;
}

/* They leave it alone as long as a reader waits, and are told when he does no more. */
Test(coders, what_lies_behind_a_reader_is_theirs_after_him)
{
	struct ask reader, later, *a;
	unsigned count;

	tree_file(&tree, "later.png", photo.len);
	cr_assert_geq(manifest_refresh(m, 1, true, NULL, NULL), 0);
	over_fake();
	a = hold_others(&count);
	submit(&reader, "text.png", 0);
	submit(&later, "later.png", 7);
	fake_source_end(&below, count, 0);
	fake_source_end(&below, count + 1, 0);
	usleep(100000);                /* they have looked, and sleep again */
	for (unsigned i = 0; i < count; i++)
		sem_post(&gate);
	for (unsigned i = 0; i < count; i++) {
		wait_done(&a[i]);
		buf_free(&a[i].fetch.bytes);
	}
	wait_done(&reader);
	wait_done(&later);
	buf_free(&reader.fetch.bytes);
	buf_free(&later.fetch.bytes);
	free(a);
}

static void end_with_photo(unsigned i)
{
	struct fetch *out = DL_TAKE(below.fetches[i].out);

	cr_assert_eq(buf_append(&out->bytes, photo.at, photo.len), 0);
	out->result = 0;
	out->done(out);
}

/* A thread is left for readers. */
Test(coders, of_large_ones_there_is_one_at_a_time)
{
	static const struct recode_want fast = { .png_fast = true };
	struct ask large[2], reader;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		cr_skip("there is one thread for readers");
	cr_assert_eq(sem_init(&gate, 0, 0), 0);
	open_served(recode_need(&fast, photo.at, photo.len).coding * 12 / 5);
	over_fake();
	for (unsigned i = 0; i < 2; i++) {
		submit(&large[i], "photo.png", 7);
		large[i].fetch.done = on_coded_at_the_gate;
		end_with_photo(i);
		wait_until_at_the_gate(1);
	}
	usleep(100000);                /* one that should not would have begun */
	cr_assert_eq(at_the_gate, 1);
	submit(&reader, "text.png", 0);
	fake_source_end(&below, 2, 0);
	wait_done(&reader);
	buf_free(&reader.fetch.bytes);
	for (unsigned i = 0; i < 2; i++)
		sem_post(&gate);
	for (unsigned i = 0; i < 2; i++) {
		wait_done(&large[i]);
		buf_free(&large[i].fetch.bytes);
	}
}
