/* The layer that codes images anew: what comes of them, and in which order. */
#include "tests/lib/recoding_stage.h"

TestSuite(recoding, .init = set_up, .fini = tear_down, .timeout = 120);

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
		cr_assert(a[i].turn > 0);
		cr_assert(a[i].fetch.result == 0 || a[i].fetch.result == -ESHUTDOWN);
		buf_free(&a[i].fetch.bytes);
	}
}
