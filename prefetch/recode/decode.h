/* An image as pixels, by libjpeg-turbo and libpng: as programs that read datasets decode it.
 * Thread-safety: pure. */
#pragma once
#include "base/dl.h"

struct picture {
	uint8_t *at;                   /* rows of width * channels bytes */
	unsigned width, height, channels;      /* 1: luma; 3: RGB */
};
void picture_fini(struct picture *p);

/* -EINVAL: neither a JPEG nor a PNG, or not one that can be decoded; -ENOMEM. */
int picture_decode(struct bytes file, unsigned channels, struct picture *ret) DL_MUST_CHECK;
