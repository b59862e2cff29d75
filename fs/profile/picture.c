#include "fs/profile/picture.h"

#include <math.h>

#include <png.h>

double picture_psnr(const struct picture *a, const struct picture *b)
{
	size_t count = (size_t)a->width * a->height;
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		int difference = a->at[i] - b->at[i];

		sum += difference * difference;
	}
	return sum > 0 ? 10 * log10(255.0 * 255.0 * (double)count / sum) : 99;
}

int picture_crop(const struct picture *p, unsigned side, struct buf *ret)
{
	png_image image = {
		.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB,
		.width = DL_MIN(p->width, side), .height = DL_MIN(p->height, side),
	};
	const uint8_t *from = p->at + 3 * ((size_t)(p->height - image.height) / 2 * p->width +
					   (p->width - image.width) / 2);
	png_alloc_size_t size = 0;
	int r;

	if (!png_image_write_to_memory(&image, NULL, &size, 0, from, (int)(3 * p->width), NULL))
		return -EINVAL;
	r = buf_reserve(ret, size);
	if (r < 0)
		return r;
	if (!png_image_write_to_memory(&image, ret->at + ret->len, &size, 0, from,
				       (int)(3 * p->width), NULL))
		return -EINVAL;
	ret->len += size;
	return 0;
}
