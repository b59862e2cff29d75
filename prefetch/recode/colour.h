/* Colour, which SSIM on luma does not see.  So there is a rule of its own: a colour plane's squared
 * error, at full size, is to be at most twice luma's.  Its step is twice luma's, or less if
 * the rule wants that, and luma's at least.  It is halved both ways (4:2:0) if what that loses is
 * within the rule; only 4:4:4 is, other factors are kept.
 *
 * Thread-safety: pure.
 */
#pragma once
#include "prefetch/recode/jpeg_image.h"

/* Levels of the planes 1 and 2 of `from`, of three components, into *to; also luma's
 * factors there.  luma_error: its mean squared error.  -ENOMEM
 */
int colour_code(const struct jpeg_image *from, float luma_step, double luma_error,
		struct jpeg_image *to) DL_MUST_CHECK;
