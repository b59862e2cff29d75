/* Whatever is recoded, libjpeg reads without a warning, at the size that was said. */
#include <assert.h>
#include <stdio.h>
#include <jpeglib.h>

#include "prefetch/recode/recode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode(const struct recoded *r)
{
	struct jpeg_decompress_struct in;
	struct jpeg_error_mgr errors;
	dl_cleanup(dl_freep) uint8_t *row = malloc((size_t)r->width * 3);

	in.err = jpeg_std_error(&errors);
	jpeg_create_decompress(&in);
	jpeg_mem_src(&in, r->data, r->size);
	jpeg_read_header(&in, TRUE);
	assert(in.image_width == r->width && in.image_height == r->height);
	assert(in.data_precision == 8 && !in.progressive_mode && !in.arith_code);
	jpeg_start_decompress(&in);
	while (in.output_scanline < in.output_height)
		jpeg_read_scanlines(&in, &row, 1);
	jpeg_finish_decompress(&in);
	assert(errors.num_warnings == 0);
	jpeg_destroy_decompress(&in);
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
		assert(want->quality_ratio == 1 || r.ssim >= want->quality_ratio);
		decode(&r);
		assert(recode(want, r.data, r.size, &again) == RECODE_NO_GAIN);
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
