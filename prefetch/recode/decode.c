#include "prefetch/recode/decode.h"

#include <string.h>

#include <png.h>
#include <turbojpeg.h>

#define PIXELS_MAX (UINT64_C(1) << 28)

void picture_fini(struct picture *p)
{
	free(p->at);
	*p = (struct picture){ 0 };
}

static int make(unsigned width, unsigned height, unsigned channels, struct picture *ret)
{
	if (width == 0 || height == 0 || (uint64_t)width * height > PIXELS_MAX)
		return -EINVAL;
	*ret = (struct picture){ malloc((size_t)width * height * channels), width, height,
				 channels };
	return ret->at ? 0 : -ENOMEM;
}

static int decode_jpeg(tjhandle tj, struct bytes file, unsigned channels, struct picture *ret)
{
	int width, height, subsampling, colours, r;

	if (tjDecompressHeader3(tj, file.at, file.len, &width, &height, &subsampling,
				&colours) < 0)
		return -EINVAL;
	r = make((unsigned)width, (unsigned)height, channels, ret);
	if (r < 0)
		return r;
	if (tjDecompress2(tj, file.at, file.len, ret->at, width, 0, height,
			  channels == 1 ? TJPF_GRAY : TJPF_RGB, 0) < 0 &&
	    tjGetErrorCode(tj) == TJERR_FATAL) {
		picture_fini(ret);
		return -EINVAL;
	}
	return 0;
}

static int decode_png(struct bytes file, unsigned channels, struct picture *ret)
{
	png_image image = { .version = PNG_IMAGE_VERSION };
	int r = -EINVAL;

	if (!png_image_begin_read_from_memory(&image, file.at, file.len))
		return -EINVAL;
	image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
	r = make(image.width, image.height, channels, ret);
	if (r == 0 && !png_image_finish_read(&image, &(png_color){ 0 }, ret->at, 0, NULL)) {
		picture_fini(ret);
		r = -EINVAL;
	}
	png_image_free(&image);
	return r;
}

int picture_decode(struct bytes file, unsigned channels, struct picture *ret)
{
	const uint8_t *at = file.at;
	tjhandle tj;
	int r;

	if (file.len >= 8 && memcmp(at, "\x89PNG\r\n\x1a\n", 8) == 0)
		return decode_png(file, channels, ret);
	if (file.len < 4 || at[0] != 0xff || at[1] != 0xd8)
		return -EINVAL;
	tj = tjInitDecompress();
	if (!tj)
		return -ENOMEM;
	r = decode_jpeg(tj, file, channels, ret);
	tjDestroy(tj);
	return r;
}
