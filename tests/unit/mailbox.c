#include <criterion/criterion.h>

#include "base/clock.h"
#include "base/mailbox.h"

static struct mailbox *with(size_t limit)
{
	struct mailbox *m = NULL;

	cr_assert_eq(mailbox_new(sizeof(uint32_t), limit, &m), 0);
	return m;
}

static int post(struct mailbox *m, uint32_t n)
{
	return mailbox_post(m, &n, 0);
}

Test(mailbox, hands_out_in_order)
{
	struct mailbox *m = with(1000);
	uint32_t got[1000], next = 0, posted = 0;

	/* 70 in, 50 out, again and again: the ring grows and wraps. */
	for (int round = 0; round < 40; round++) {
		size_t n;

		for (int i = 0; i < 70 && posted - next < 1000; i++)
			cr_assert_eq(post(m, posted++), 0);
		n = mailbox_take(m, got, 50, 0);
		cr_assert_eq(n, 50u);
		for (size_t i = 0; i < n; i++)
			cr_assert_eq(got[i], next++);
	}
	cr_assert_eq(mailbox_take(m, got, 1000, 0), posted - next);
	cr_assert_eq(got[0], next);
	mailbox_free(m);
}

Test(mailbox, is_full_at_its_limit_and_not_before)
{
	struct mailbox *m = with(100);
	uint32_t got[100];

	for (uint32_t i = 0; i < 100; i++)
		cr_assert_eq(post(m, i), 0);
	cr_assert_eq(post(m, 100), -EAGAIN);
	cr_assert_eq(mailbox_take(m, got, 1, 0), 1u);
	cr_assert_eq(post(m, 100), 0);
	cr_assert_eq(mailbox_take(m, got, 100, 0), 100u);
	cr_assert_eq(got[0], 1u);
	cr_assert_eq(got[99], 100u, "what was refused is not there");
	mailbox_free(m);
}

Test(mailbox, keeps_room_for_what_must_not_be_lost)
{
	struct mailbox *m = with(100);
	uint32_t n = 0;

	for (; n < 75; n++)
		cr_assert_eq(mailbox_post(m, &n, 25), 0, "%u", n);
	cr_assert_eq(mailbox_post(m, &n, 25), -EAGAIN);
	for (; n < 100; n++)
		cr_assert_eq(mailbox_post(m, &n, 0), 0);
	cr_assert_eq(mailbox_post(m, &n, 0), -EAGAIN);
	mailbox_free(m);
}

/* Many at once, again and again: the ring grows and wraps within them. */
Test(mailbox, takes_many_at_once_or_none)
{
	struct mailbox *m = with(200);
	uint32_t many[70], got[200], next = 0, posted = 0;

	for (int round = 0; round < 40; round++) {
		for (uint32_t i = 0; i < 70; i++)
			many[i] = posted + i;
		if (mailbox_post_all(m, many, 70, 30) == 0)
			posted += 70;
		else
			cr_assert_gt(posted - next + 70 + 30, 200u, "there was room");
		cr_assert_leq(posted - next, 170u);
		cr_assert_eq(mailbox_waiting(m), posted - next);
		cr_assert_eq(mailbox_take(m, got, 50, 0), 50u);
		for (size_t i = 0; i < 50; i++)
			cr_assert_eq(got[i], next++);
	}
	cr_assert_eq(mailbox_post_all(m, many, 0, 0), 0);
	mailbox_free(m);
}

Test(mailbox, does_not_wait_when_told_so)
{
	struct mailbox *m = with(4);
	uint32_t got;

	cr_assert_eq(mailbox_take(m, &got, 1, 0), 0u);
	mailbox_free(m);
}

Test(mailbox, gives_up_at_the_deadline)
{
	struct mailbox *m = with(4);
	uint64_t deadline = clock_now() + 5 * CLOCK_MS;
	uint32_t got;

	cr_assert_eq(mailbox_take(m, &got, 1, deadline), 0u);
	cr_assert_geq(clock_now(), deadline);
	mailbox_free(m);
}

static void *post_one(void *m)
{
	return post(m, 42) == 0 ? m : NULL;
}

Test(mailbox, wakes_its_owner)
{
	struct mailbox *m = with(4);
	pthread_t other;
	uint32_t got = 0;
	void *posted;

	cr_assert_eq(pthread_create(&other, NULL, post_one, m), 0);
	cr_assert_eq(mailbox_take(m, &got, 1, UINT64_MAX), 1u);
	cr_assert_eq(got, 42u);
	cr_assert_eq(pthread_join(other, &posted), 0);
	cr_assert_eq(posted, m);
	mailbox_free(m);
}

static void *close_it(void *m)
{
	mailbox_close(m);
	return NULL;
}

Test(mailbox, wakes_its_owner_to_close)
{
	struct mailbox *m = with(4);
	pthread_t other;
	uint32_t got;

	cr_assert(!mailbox_closed(m));
	cr_assert_eq(pthread_create(&other, NULL, close_it, m), 0);
	cr_assert_eq(mailbox_take(m, &got, 1, UINT64_MAX), 0u);
	cr_assert_eq(pthread_join(other, NULL), 0);
	cr_assert(mailbox_closed(m));
	mailbox_free(m);
}

Test(mailbox, hands_out_what_was_posted_before_the_close)
{
	struct mailbox *m = with(4);
	uint32_t got = 0;

	cr_assert_eq(post(m, 7), 0);
	mailbox_close(m);
	cr_assert_eq(post(m, 8), -ESHUTDOWN);
	cr_assert_eq(mailbox_take(m, &got, 1, UINT64_MAX), 1u);
	cr_assert_eq(got, 7u);
	cr_assert_eq(mailbox_take(m, &got, 1, UINT64_MAX), 0u);
	mailbox_free(m);
	mailbox_free(NULL);
}
