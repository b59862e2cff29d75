/* Whatever is recoded, libjpeg reads without a warning, at the size that was said; and it is as
 * like the source as was said.
 */
#include <assert.h>
#include <stdio.h>
#include <jpeglib.h>

#include "prefetch/recode/recode.h"
#include "tests/lib/ssim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SMALL 4000                     /* pixels whose SSIM is reckoned here as well */
#define OFF 0.02                       /* decoders round in other ways; it counts in what is flat */

/* Its brightness. */
static uint8_t *decode(const void *at, size_t size, const struct recoded *r)
{
	uint8_t *to = malloc((size_t)r->width * r->height), *row = malloc((size_t)r->width * 3);
	struct jpeg_decompress_struct in;
	struct jpeg_error_mgr errors;

	in.err = jpeg_std_error(&errors);
	jpeg_create_decompress(&in);
	jpeg_mem_src(&in, at, size);
	jpeg_read_header(&in, TRUE);
	assert(in.image_width == r->width && in.image_height == r->height);
	assert(at != r->data || (in.data_precision == 8 && !in.progressive_mode && !in.arith_code));
	in.out_color_space = in.jpeg_color_space;
	jpeg_start_decompress(&in);
	for (unsigned y = 0; in.output_scanline < in.output_height; y++) {
		unsigned n = (unsigned)in.output_components;

		jpeg_read_scanlines(&in, &row, 1);
		for (unsigned x = 0; x < r->width; x++)
			to[(size_t)y * r->width + x] = row[(size_t)x * n];
	}
	jpeg_finish_decompress(&in);
	assert(errors.num_warnings == 0);
	jpeg_destroy_decompress(&in);
	free(row);
	return to;
}

/* The same for all who decode it: not only as recode() sees it. */
static void check_floor(const struct recode_want *want, const struct recoded *r,
			const uint8_t *result, const uint8_t *data, size_t size)
{
	uint8_t *source;

	if (want->max_short_side || r->width * r->height > SMALL)
		return;
	source = decode(data, size, r);
	assert(ssim_of(source, result, r->width, r->height, 1) >= r->ssim - OFF);
	free(source);
}

static void try_at(const struct recode_want *want, const uint8_t *data, size_t size)
{
	struct recode_need need = recode_need(want, data, size);
	struct recoded r, again;
	enum recode_reason reason = recode(want, data, size, &r);

	assert(reason < RECODE_REASONS && recode_reason_name(reason));
	assert(need.coding <= want->limits.memory && (reason != RECODE_DONE || need.coding > 0));
	if (reason != RECODE_DONE)
		return;
	if (r.quality > 0) {
		uint8_t *result = decode(r.data, r.size, &r);

		assert(want->quality_ratio == 1 || r.ssim >= want->quality_ratio);
		check_floor(want, &r, result, data, size);
		assert(recode(want, r.data, r.size, &again) == RECODE_NO_GAIN);
		free(result);
	}
	free(r.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct recode_limits limits = {
		.pixels = 300000, .memory = 16 * MiB, .scans = 20, .work = 30000,
	};

	try_at(&(struct recode_want){ .quality_ratio = 0.95, .limits = limits }, data, size);
	try_at(&(struct recode_want){ .quality_ratio = 0.4, .limits = limits }, data, size);
	try_at(&(struct recode_want){ .quality_ratio = size & 1 ? 1 : 0.9, .max_short_side = 16,
				      .max_long_side = 29, .limits = limits }, data, size);
	return 0;
}
