/* What is served as it is, and why. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#include "base/random.h"
#include "tests/lib/picture.h"
#include "tests/lib/recode_try.h"

static const struct picture base = { .width = 37, .height = 29, .quality = 90, .h = 2, .v = 2 };

static enum recode_reason try_made(struct picture p)
{
	dl_cleanup(buf_free) struct buf b = picture_make(p);

	return try_it(&b);
}

static size_t find(const struct buf *b, const char *what, size_t len)
{
	uint8_t *at = memmem(b->at, b->len, what, len);

	cr_assert(at);
	return (size_t)(at - b->at);
}

/* `what` put in at `at`. */
static struct buf with(const struct buf *b, size_t at, const void *what, size_t len)
{
	struct buf r = BUF_EMPTY;

	cr_assert(buf_append(&r, b->at, at) == 0 && buf_append(&r, what, len) == 0
		  && buf_append(&r, b->at + at, b->len - at) == 0);
	return r;
}

static size_t in_scan(const struct buf *b)
{
	size_t at = find(b, "\xff\xda", 2);

	return at + 2 + (size_t)(b->at[at + 2] << 8 | b->at[at + 3]) + 40;
}

static void set_sides(struct buf *b, unsigned width, unsigned height)
{
	uint8_t *at = b->at + find(b, "\xff\xc0", 2);

	at[5] = (uint8_t)(height >> 8), at[6] = (uint8_t)height;
	at[7] = (uint8_t)(width >> 8), at[8] = (uint8_t)width;
}

/* P33 */
Test(recode_faults, what_is_no_image)
{
	struct recoded r;

	cr_assert_eq(recode(&at_95, "", 0, &r), RECODE_UNKNOWN);
	cr_assert_eq(recode(&at_95, NULL, 0, &r), RECODE_UNKNOWN);
	cr_assert_eq(recode(&at_95, "GIF89a", 6, &r), RECODE_UNKNOWN);
	cr_assert_eq(recode(&at_95, "just text", 9, &r), RECODE_UNKNOWN);
	cr_assert_eq(recode(&at_95, "\xff\xd8", 2, &r), RECODE_UNKNOWN);
	cr_assert_eq(recode(&at_95, "\xff\xd8\xff", 3, &r), RECODE_DAMAGED);
	cr_assert_eq(recode(&at_95, "\x89PNG\r\n\x1a\n", 8, &r), RECODE_OFF);
}

/* P32 */
Test(recode_faults, colours_without_luma_at_full_size)
{
	struct picture cmyk = base, rgb = base, small = base;

	cmyk.space = JCS_CMYK;
	rgb.space = JCS_RGB;
	cr_assert_eq(try_made(cmyk), RECODE_COLOUR);
	cr_assert_eq(try_made(rgb), RECODE_COLOUR);
	small.h = small.v = 1, small.colour_h = small.colour_v = 2;
	cr_assert_eq(try_made(small), RECODE_COLOUR);
}

/* P34 */
Test(recode_faults, truncated)
{
	dl_cleanup(buf_free) struct buf b = picture_make(base);

	for (size_t len = 3; len < b.len; len++) {
		struct buf part = { .at = b.at, .len = len };

		cr_assert_eq(try_it(&part), RECODE_DAMAGED, "%zu", len);
	}
}

/* A file whose end is cut off, and an EOI put where it stops. */
Test(recode_faults, truncated_and_closed)
{
	dl_cleanup(buf_free) struct buf b = picture_make(base);

	b.at[b.len * 2 / 3] = 0xff;
	b.at[b.len * 2 / 3 + 1] = 0xd9;
	b.len = b.len * 2 / 3 + 2;
	cr_assert_eq(try_it(&b), RECODE_DAMAGED);
}

/* P35 */
Test(recode_faults, warnings_and_late_errors)
{
	struct picture p = base;
	dl_cleanup(buf_free) struct buf b = picture_make(p);
	dl_cleanup(buf_free) struct buf late = with(&b, in_scan(&b), "\xff\x05\x11\x22", 4);

	p.restart = 1;
	dl_cleanup(buf_free) struct buf r = picture_make(p);
	dl_cleanup(buf_free) struct buf extra = with(&r, find(&r, "\xff\xd1", 2),
						     "UUUUUUUUUUUUUUUUUUUU", 20);

	cr_assert_eq(try_it(&late), RECODE_DAMAGED);
	cr_assert_eq(try_it(&extra), RECODE_DAMAGED);
}

/* P38, and pictures with something behind them */
Test(recode_faults, several_pictures)
{
	dl_cleanup(buf_free) struct buf b = picture_make(base);
	dl_cleanup(buf_free) struct buf mpo = with(&b, 2, "\xff\xe2\x00\x08MPF\0II", 10);
	dl_cleanup(buf_free) struct buf two = with(&b, b.len, b.at, b.len);

	cr_assert_eq(try_it(&mpo), RECODE_MPO);
	cr_assert_eq(try_it(&two), RECODE_TRAILER);
}

static long memory_kib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

/* P39 */
Test(recode_faults, huge_sides)
{
	dl_cleanup(buf_free) struct buf b = picture_make(base);
	long before = memory_kib();

	set_sides(&b, 65500, 65500);
	cr_assert_eq(try_it(&b), RECODE_LIMITS);
	set_sides(&b, 65535, 65535);
	cr_assert_eq(try_it(&b), RECODE_LIMITS);
	set_sides(&b, 37, 0);
	cr_assert_eq(try_it(&b), RECODE_LIMITS);
	set_sides(&b, 9000, 9000);
	cr_assert_eq(try_it(&b), RECODE_LIMITS, "memory");
	cr_assert_leq(memory_kib() - before, 10240);
}

/* P40: the last scan again and again */
Test(recode_faults, floods_of_scans)
{
	static const unsigned repeats[] = { 300, 20000 };
	struct picture p = { .width = 800, .height = 800, .quality = 75, .progressive = true };
	dl_cleanup(buf_free) struct buf b = picture_make(p);
	uint8_t *last = NULL;

	for (size_t i = 0; i + 1 < b.len; i++)
		if (b.at[i] == 0xff && b.at[i + 1] == 0xda)
			last = b.at + i;
	for (unsigned i = 0; i < DL_COUNT(repeats); i++) {
		dl_cleanup(buf_free) struct buf flood = BUF_EMPTY;
		size_t len = (size_t)(b.at + b.len - 2 - last);

		cr_assert_eq(buf_append(&flood, b.at, b.len - 2), 0);
		for (unsigned j = 0; j < repeats[i]; j++)
			cr_assert_eq(buf_append(&flood, last, len), 0);
		cr_assert_eq(buf_append(&flood, "\xff\xd9", 2), 0);
		cr_assert_eq(try_it(&flood), RECODE_LIMITS);
	}
	cr_assert_eq(try_it(&b), RECODE_DONE);
}

/* P41, and what else libjpeg does not decode to 8 bits */
Test(recode_faults, other_codings)
{
	struct picture p = base;
	dl_cleanup(buf_free) struct buf b = picture_make(p);
	size_t frame = find(&b, "\xff\xc0", 2);

	p.arithmetic = true;
	cr_assert_eq(try_made(p), RECODE_ARITHMETIC);
	b.at[frame + 1] = 0xc3;
	cr_assert_eq(try_it(&b), RECODE_LOSSLESS);
	b.at[frame + 1] = 0xc1;
	b.at[frame + 4] = 12;
	cr_assert_eq(try_it(&b), RECODE_12BIT);
}

Test(recode_faults, limits_can_be_set)
{
	dl_cleanup(buf_free) struct buf b = picture_make(
		(struct picture){ .width = 100, .height = 100, .quality = 98, .h = 1, .v = 1 });
	static const struct recode_limits limits[] = {
		{ .pixels = 9999 }, { .memory = 100000 }, { .work = 400 },
	};
	struct recoded r;

	for (unsigned i = 0; i < DL_COUNT(limits); i++) {
		struct recode_want want = { .quality_ratio = 0.95, .limits = limits[i] };

		cr_assert_eq(recode(&want, b.at, b.len, &r), RECODE_LIMITS, "%u", i);
	}
}

/* P44: nothing of a failed call stays, and threads do not meet. */
static void *hammer(void *context)
{
	const struct buf *bad = context;

	for (unsigned i = 0; i < 400; i++)
		for (unsigned j = 0; j < 4; j++)
			if (try_it(&bad[j]) == RECODE_DONE)
				return context;
	return NULL;
}

Test(recode_faults, bad_files_in_eight_threads)
{
	pthread_t threads[8];
	struct buf b = picture_make(base), bad[4];
	long before;

	bad[0] = with(&b, in_scan(&b), "\xff\x05\x11\x22", 4);
	bad[1] = (struct buf){ .at = b.at, .len = b.len * 2 / 3 };
	bad[2] = (struct buf){ .at = b.at, .len = 2 };
	bad[3] = with(&b, b.len - 2, "\xff\xd9", 2);
	cr_assert_null(hammer(bad));
	before = memory_kib();
	for (unsigned i = 0; i < 8; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, hammer, bad), 0);
	for (unsigned i = 0; i < 8; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		cr_assert_null(failed);
	}
	cr_assert_leq(memory_kib() - before, 16384);
	buf_free(&bad[0]);
	buf_free(&bad[3]);
	buf_free(&b);
}

Test(recode_faults, flipped_bytes)
{
	struct picture p = { .width = 60, .height = 50, .quality = 95, .h = 2, .v = 2 };
	struct random random = { 1 };

	for (unsigned i = 0; i < 2; i++) {
		p.progressive = i;
		dl_cleanup(buf_free) struct buf b = picture_make(p);
		for (unsigned j = 0; j < 2000; j++) {
			size_t at = random_below(&random, (uint32_t)b.len);
			uint8_t was = b.at[at];

			b.at[at] = (uint8_t)random_below(&random, 256);
			try_it(&b);
			b.at[at] = was;
		}
	}
}
