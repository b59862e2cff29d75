#include <criterion/criterion.h>
#include <string.h>

#include "prefetch/recode/recode.h"
#include "tests/lib/picture.h"

static const struct recode_want at_95 = { .quality_ratio = 0.95 };

Test(recode, a_photograph_becomes_smaller_and_keeps_its_size)
{
	dl_cleanup(buf_free) struct buf from = picture_make(
		(struct picture){ .width = 320, .height = 200, .quality = 95, .h = 2, .v = 2 });
	struct recoded r;

	cr_assert_eq(recode(&at_95, from.at, from.len, &r), RECODE_DONE);
	cr_assert_lt(r.size, from.len * 6 / 10);
	cr_assert(r.ssim >= 0.95 && r.ssim < 0.98);
	cr_assert(r.width == 320 && r.height == 200);
	cr_assert(memcmp(r.data, "\xff\xd8\xff", 3) == 0);
	cr_assert(memcmp((char *)r.data + r.size - 2, "\xff\xd9", 2) == 0);
	free(r.data);
}

Test(recode, what_is_no_image_is_left_as_it_is)
{
	struct recoded r;

	cr_assert_eq(recode(&at_95, "", 0, &r), RECODE_UNKNOWN);
	cr_assert_eq(recode(&at_95, "GIF89a", 6, &r), RECODE_UNKNOWN);
	cr_assert_eq(recode(&at_95, "\xff\xd8", 2, &r), RECODE_UNKNOWN);
	cr_assert_eq(recode(&at_95, "\xff\xd8\xff", 3, &r), RECODE_DAMAGED);
}
