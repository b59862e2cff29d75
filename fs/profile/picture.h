/* What is measured of pixels, and shown of them.  Thread-safety: pure. */
#pragma once
#include "base/buf.h"
#include "prefetch/recode/decode.h"

/* Of two pictures of one size and one channel, in dB; 99 if they are equal. */
double picture_psnr(const struct picture *a, const struct picture *b);
/* The middle of it, `side` pixels at most each way, as a PNG. */
int picture_crop(const struct picture *p, unsigned side, struct buf *ret) DL_MUST_CHECK;
