/* What shall be kept, told again and again. */
#include "fs/serve.h"
#include "tests/lib/dataset.h"

Test(tier, a_pattern_is_remembered_once)
{
	struct serve s = { .options = NULL };
	size_t once;

	tree = tree_new();
	s.manifest = m = open_manifest(&tree);
	cr_assert_eq(manifest_scan(m, 1, NULL), 0);
	dl_lock_init(&s.tier.lock);
	cr_assert(tier_pin(&s, "train/dog") == 0 && tier_pin(&s, "train") == 0);
	once = s.tier.warmed.len;
	for (int i = 0; i < 3; i++)
		cr_assert(tier_pin(&s, "train") == 0 && tier_pin(&s, "train/dog") == 0);
	cr_expect_eq(s.tier.warmed.len, once);
	cr_assert_eq(tier_pin(&s, "train/do"), 0);
	cr_expect_gt(s.tier.warmed.len, once);
	for (int i = 0; i < 3; i++)    /* what was not asked for is not there */
		tier_unpin(&s, "train/do");
	cr_expect_eq(s.tier.warmed.len, once);
	tier_unpin(&s, "train/dog");
	cr_expect_str_eq((char *)s.tier.warmed.at, "train\n");
	tier_unpin(&s, "train");
	cr_expect(s.tier.warmed.len == 0 && tier_pin(&s, "train") == 0);
	tier_unpin(&s, "");
	cr_expect_eq(s.tier.warmed.len, 0);
	buf_free(&s.tier.warmed);
	dl_lock_fini(&s.tier.lock);
	dataset_drop();
}
