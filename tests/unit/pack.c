/* What is stored smaller: that it comes back, what is not worth it, and what damage does. */
#include <criterion/criterion.h>
#include <string.h>

#include "prefetch/store/disk_effort.h"
#include "prefetch/store/disk_pack.h"
#include "tests/lib/disk_suite.h"

TestSuite(pack, .init = set_up, .fini = tear_down);

#define MOST (3 * MiB + 12345)

static uint8_t sound[MOST], noise[MOST];

/* Sound: slow waves and a little noise in 16 bits. */
static void fill(void)
{
	for (size_t i = 0; i + 1 < MOST; i += 2) {
		int level = (int)(i / 8 % 2000) + (int)(random_mix(i) % 16);

		memcpy(sound + i, &(int16_t){ (int16_t)level }, 2);
	}
	for (size_t i = 0; i < MOST; i++)
		noise[i] = (uint8_t)random_mix(i);
}

Test(pack, comes_back_at_every_length_and_level)
{
	static const size_t lengths[] = { 0, 1, 511, 512, 4096, 12288, 12289, MiB - 1, MiB, MiB + 1,
					  MOST };
	static uint8_t back[MOST];
	struct packer *p;

	fill();
	cr_assert_eq(packer_new(&p), 0);
	for (size_t i = 0; i < DL_COUNT(lengths); i++)
		for (int level = 1; level < 8; level += 3) {
			struct bytes packed = packer_pack(p, (struct bytes){ sound, lengths[i] },
							  level);

			cr_expect_eq(packed.at != NULL, lengths[i] >= 512, "%zu", lengths[i]);
			if (!packed.at)
				continue;
			cr_expect_leq(packed.len, lengths[i] - lengths[i] / 16);
			cr_assert_eq(unpack(packed, back, lengths[i]), 0);
			cr_assert_eq(memcmp(back, sound, lengths[i]), 0);
			cr_expect_eq(unpack(packed, back, lengths[i] - 1), -EBADMSG);
			packed.len--;
			cr_expect_eq(unpack(packed, back, lengths[i]), -EBADMSG);
		}
	packer_free(p);
}

Test(pack, what_does_not_shrink_is_left_as_it_is)
{
	struct packer *p;

	fill();
	cr_assert_eq(packer_new(&p), 0);
	for (size_t len = 512; len < MOST; len *= 3)
		cr_expect_null(packer_pack(p, (struct bytes){ noise, len }, 3).at, "%zu", len);
	/* Seen only in the whole: the looks are all into what shrinks. */
	memcpy(sound + 4096, noise, MiB);
	cr_expect_null(packer_pack(p, (struct bytes){ sound, MiB + 8192 }, 3).at);
	packer_free(p);
}

static void put_sound(uint64_t n, size_t len)
{
	struct disk_key key = key_at(SOURCE, n);
	struct disk_identity id = version_of(n, 1);

	disk_put(d, &key, &id, (struct bytes){ sound, len });
}

static int get_sound(uint64_t n, size_t len)
{
	dl_cleanup(buf_free) struct buf bytes = BUF_EMPTY;
	struct disk_key key = key_at(SOURCE, n);
	struct disk_identity id = version_of(n, 1);
	int r = disk_get(d, &key, &id, &bytes);

	cr_assert(r < 0 || (bytes.len == len && memcmp(bytes.at, sound, len) == 0));
	return r;
}

static void open_packing(void)
{
	disk_close(d);
	d = NULL;
	options.zstd = 3;
	cr_assert_eq(disk_open(&options, &d, &(int){ 0 }), 0);
}

Test(pack, the_store_has_room_for_more)
{
	struct disk_report r;

	fill();
	open_packing();
	for (uint64_t n = 0; n < 40; n++)
		put_sound(n, 100000 + 50000 * n);
	writer_drain(d);
	r = disk_report(d);
	cr_expect(r.records == 40 && r.lengths == 43000000, "%ju", (uintmax_t)r.lengths);
	cr_expect_lt(r.bytes, r.lengths * 3 / 4);
	cr_expect_gt(disk_room(d).bytes, options.size * 5 / 4);
	for (int i = 0; i < 2; i++) {
		for (uint64_t n = 0; n < 40; n++)
			cr_expect_eq(get_sound(n, 100000 + 50000 * n), 0);
		cr_expect_eq(disk_report(d).bytes, r.bytes);
		reopen();
	}
}

/* The segments are the writer's then, and he may be moving them. */
Test(pack, what_is_offline_is_not_looked_at)
{
	uint64_t all, room;

	fill();
	open_packing();
	all = disk_room(d).bytes;
	for (uint64_t n = 0; n < 40; n++)
		put_sound(n, 100000 + 50000 * n);
	writer_drain(d);
	room = disk_room(d).bytes;
	atomic_store(&d->online, false);
	cr_expect_eq(disk_room(d).bytes, all);
	atomic_store(&d->online, true);
	cr_expect_eq(disk_room(d).bytes, room);
	cr_expect_gt(room, all);
}

/* How many of the two records are good. */
static int good_ones(const struct record found[2], const struct place at[2])
{
	int good = 0;

	for (int i = 0; i < 2; i++) {
		struct buf bytes = BUF_EMPTY;

		good += segment_read(d->folder, at[i], &found[i], &bytes) == 0;
		buf_free(&bytes);
	}
	return good;
}

Test(pack, two_thousand_flipped_bits_are_all_noticed)
{
	enum { LEN = 40000, ROUNDS = 2000 };
	struct record found[2];
	struct place at[2];
	struct stat st;
	uint8_t byte;
	int fd;

	fill();
	open_packing();
	put_sound(0, LEN);
	put(d, SOURCE, 1, 1, 300);
	writer_drain(d);
	for (uint64_t n = 0; n < 2; n++) {
		struct disk_key key = key_at(SOURCE, n);

		cr_assert_eq(index_get(d->index, &key, &found[n], &at[n]), 0);
	}
	cr_assert(found[0].stored < LEN && found[1].stored == 300);
	fd = open(in_store("00000001.seg"), O_RDWR | O_CLOEXEC);
	cr_assert(fd >= 0 && fstat(fd, &st) == 0);
	cr_assert_eq(good_ones(found, at), 2);
	for (uint64_t round = 0; round < ROUNDS; round++) {
		uint64_t bit = random_mix(round + 1) % ((uint64_t)st.st_size * 8);

		cr_assert_eq(pread(fd, &byte, 1, (off_t)(bit / 8)), 1);
		byte ^= (uint8_t)(1u << bit % 8);
		cr_assert_eq(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
		cr_assert_eq(good_ones(found, at), 1, "bit %ju", (uintmax_t)bit);
		byte ^= (uint8_t)(1u << bit % 8);
		cr_assert_eq(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
	}
	close(fd);
}

Test(pack, the_effort_follows_idle_processors_and_the_queue)
{
	struct effort e = { 0 };
	uint64_t now = clock_now(), idle = 100 * CLOCK_S;
	unsigned last = 0;

	/* One processor is idle. */
	for (unsigned i = 0; i < 8; i++) {
		effort_look(&e, now += CLOCK_S, idle += CLOCK_S, 0.1);
		cr_expect(e.step > last || i > 3);
		last = e.step;
	}
	cr_expect_eq(last, 4);
	cr_expect_eq(effort_level(&e, 0.6), 0);
	/* Much waits. */
	last = e.step;
	effort_look(&e, now += CLOCK_S, idle += CLOCK_S, 0.4);
	cr_expect_eq(e.step, last - 1);
	/* Less than half of one is idle. */
	for (unsigned i = 0; i < 8; i++)
		effort_look(&e, now += CLOCK_S, idle += CLOCK_S / 3, 0);
	cr_expect_eq(e.step, 0);
	/* Nothing can be seen. */
	effort_look(&e, now += CLOCK_S, 0, 0);
	effort_look(&e, now += CLOCK_S, 0, 0);
	cr_expect_eq(e.step, 0);
}
