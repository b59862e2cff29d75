/* An image as pixels, for measuring and for showing; by libjpeg-turbo and libpng.
 * Thread-safety: pure. */
#pragma once
#include "base/buf.h"

struct picture {
	uint8_t *at;                   /* rows of width * channels bytes */
	unsigned width, height, channels;      /* 1: luma; 3: RGB */
};
void picture_fini(struct picture *p);

/* -EINVAL: neither a JPEG nor a PNG, or not one that can be decoded; -ENOMEM. */
int picture_decode(struct bytes file, unsigned channels, struct picture *ret) DL_MUST_CHECK;
/* Of two pictures of one size and one channel, in dB; 99 if they are equal. */
double picture_psnr(const struct picture *a, const struct picture *b);
/* The middle of it, `side` pixels at most each way, as a PNG. */
int picture_crop(const struct picture *p, unsigned side, struct buf *ret) DL_MUST_CHECK;
