/* The store: one filler a block, waiters, pins, drops. */
#include <criterion/criterion.h>
#include <string.h>

#include "prefetch/store/store.h"

struct sleeper {
	struct waiter waiter;
	int woken, result;
	struct entry *entry;
};

static void on_wake(struct waiter *w, int result, struct entry *e)
{
	struct sleeper *s = dl_container_of(w, struct sleeper, waiter);

	s->woken++;
	s->result = result;
	s->entry = e;
}

static const struct block one = { 7, 0 }, other = { 7, 1 };

static struct buf text(const char *what)
{
	struct buf b = BUF_EMPTY;

	cr_assert_eq(buf_append(&b, what, strlen(what)), 0);
	return b;
}

Test(store, one_fills_and_the_others_wait)
{
	struct sleeper a = { .waiter.wake = on_wake }, b = { .waiter.wake = on_wake };
	struct entry *mine, *e;
	struct buf bytes = text("hello");
	struct store *s;

	cr_assert_eq(store_new(&s), 0);
	cr_assert_eq(store_begin(s, one, &a.waiter, &mine), STORE_MINE);
	cr_assert_eq(store_begin(s, one, &b.waiter, &e), STORE_BUSY);
	cr_assert_eq(store_begin(s, one, NULL, &e), STORE_BUSY);
	cr_assert_eq(store_begin(s, other, NULL, &e), STORE_MINE, "another block is another entry");
	store_abort(e, -EIO);
	cr_assert(!store_drop(s, one), "what is being filled cannot be dropped");
	store_commit(mine, &bytes);
	cr_assert(bytes.at == NULL, "the bytes were taken");
	cr_assert(a.woken == 1 && b.woken == 1 && a.result == 0 && b.result == 0);
	cr_assert(a.entry == mine && b.entry == mine);
	cr_assert_eq(store_bytes(s), 5);
	cr_assert_eq(memcmp(store_view(b.entry).at, "hello", 5), 0);
	store_unpin(a.entry);
	store_unpin(b.entry);
	store_unpin(mine);
	cr_assert(store_check(s));
	cr_assert(store_drop(s, one));
	cr_assert(!store_drop(s, one), "dropped twice");
	cr_assert_eq(store_bytes(s), 0);
	store_free(s);
}

Test(store, a_failed_fill_wakes_with_its_error_and_can_begin_again)
{
	struct sleeper a = { .waiter.wake = on_wake };
	struct entry *e;
	struct store *s;

	cr_assert_eq(store_new(&s), 0);
	cr_assert_eq(store_begin(s, one, &a.waiter, &e), STORE_MINE);
	store_abort(e, -ESTALE);
	cr_assert(a.woken == 1 && a.result == -ESTALE && a.entry == NULL);
	cr_assert_eq(store_peek(s, one, &e), STORE_ABSENT);
	cr_assert_eq(store_begin(s, one, NULL, &e), STORE_MINE);
	store_abort(e, -EIO);
	cr_assert(store_check(s));
	store_free(s);
}

Test(store, a_dropped_block_lives_until_its_last_reader_is_done)
{
	struct entry *old, *again;
	struct buf bytes = text("old"), more = text("newer");
	struct store *s;

	cr_assert_eq(store_new(&s), 0);
	cr_assert_eq(store_begin(s, one, NULL, &old), STORE_MINE);
	store_commit(old, &bytes);
	cr_assert(store_drop(s, one));
	cr_assert_eq(store_begin(s, one, NULL, &again), STORE_MINE, "it is absent for others");
	store_commit(again, &more);
	cr_assert_eq(memcmp(store_view(old).at, "old", 3), 0);
	cr_assert_eq(memcmp(store_view(again).at, "newer", 5), 0);
	store_unpin(old);
	store_unpin(again);
	cr_assert_eq(store_bytes(s), 5);
	store_empty(s);
	cr_assert_eq(store_bytes(s), 0);
	store_free(s);
}

Test(store, many_blocks_are_all_found)
{
	struct entry *e;
	struct store *s;

	cr_assert_eq(store_new(&s), 0);
	for (uint32_t i = 0; i < 5000; i++) {
		struct buf b = text("x");

		cr_assert_eq(store_begin(s, (struct block){ i / 7, i % 7 }, NULL, &e), STORE_MINE);
		store_commit(e, &b);
		store_unpin(e);
	}
	cr_assert(store_check(s));
	for (uint32_t i = 0; i < 5000; i++) {
		cr_assert_eq(store_peek(s, (struct block){ i / 7, i % 7 }, &e), STORE_READY);
		cr_assert(store_block(e).id == i / 7 && store_block(e).number == i % 7);
		store_unpin(e);
	}
	store_empty(s);
	store_free(s);
}

Test(store, all_of_a_block_was_read_once_each_byte_was)
{
	struct entry *e;
	struct store *s;
	struct buf b = text("12345");

	cr_assert_eq(store_new(&s), 0);
	cr_assert_eq(store_begin(s, (struct block){ 1, 0 }, NULL, &e), STORE_MINE);
	store_commit(e, &b);
	cr_assert(!store_add_read(e, 2), "its end, from which on others read backwards");
	cr_assert(!store_add_read(e, 2));
	cr_assert(store_add_read(e, 1));
	cr_assert(!store_add_read(e, 5), "that was said");
	store_unpin(e);
	store_empty(s);
	store_free(s);
}
